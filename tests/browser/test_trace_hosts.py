"""The Trace view of a session of two hosts: the tracks of each, at the same time of their clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.fixtures.xplane import Plane, space
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

MS = 1_000_000
SESSION = "plugins/profile/2026_11_30_10_00_00"
#: Operations of each, and when it began.
HOSTS = {"node-1": (3, 1_700_000_000_000_000_000), "node-2": (5, 1_700_000_000_001_000_000)}


def _name(host: str) -> str:
    return f"{SESSION}/{host}.xplane.pb"


def _written(host: str) -> bytes:
    """Operations of a millisecond one after the other, each with an allocation that stays."""
    count, begin_ns = HOSTS[host]
    plane = Plane()
    line = plane.line("python", begin_ns)
    for place in range(count):
        begin, size = place * MS * 1_000, 1 << 20
        line.event(f"{host}/MatMul:MatMul", begin, MS * 1_000)
        told = {"allocator_name": "GPU_0_bfc", "bytes_available": 1 << 30}
        line.alloc(begin + MS * 500, 0x1000 * (place + 1), size, size * (place + 1), **told)
    return space(plane, host=host)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("trace-hosts")
    (folder / "job" / SESSION).mkdir(parents=True)
    for host in HOSTS:
        (folder / "job" / _name(host)).write_bytes(_written(host))
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("trace-hosts-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def test_another_host_shows_its_own_tracks_at_the_same_time(
    watched: Watched, server: TensorBoardServer
) -> None:
    words = {"axis": "time", "panels": "host.usage.steps.device-.allocations"}
    where = link("job", _name("node-1"), view="trace", window=f"{2 * MS}..{3 * MS}", **words)
    frame = open_page(watched.page, server.url + where)
    head = frame.locator("[data-panel=host] .trace-track")
    shown = {"node-1": f"{2 * MS}..{3 * MS}", "node-2": f"{MS}..{2 * MS}"}
    for host, window in shown.items():
        if host != "node-1":
            frame.locator(".host", has_text=host).click()
            settled_address(watched.page, host)
        count, _ = HOSTS[host]
        head.filter(has_text=f"{count} spans").wait_for()
        settle(watched.page)
        said = words_of(watched.page.url)
        assert (said["view"], said["panels"]) == ("trace", words["panels"])
        assert said["window"] == window
        names = frame.get_by_role("region", name="Memory by span").locator("tbody td.name")
        assert host in names.first.inner_text()
