"""Two hosts that have plans: going to the other one, its plan of the same module is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.fixtures.hlo import heap, profile
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

SESSION = "plugins/profile/2026_11_30_12_00_00"
#: MiB of each module's two buffers, by host, in the order in which the host has them.
HOSTS = {
    "node-0": {"jit_step": (8, 4), "jit_eval": (2, 1)},
    "node-1": {"jit_init": (1, 1), "jit_eval": (3, 2), "jit_step": (16, 4)},
}
MIB = 1 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("hosts-of-plans")
    (folder / "job" / SESSION).mkdir(parents=True)
    for host, modules in HOSTS.items():
        made = {}
        for number, (name, sizes) in enumerate(modules.items(), 1):
            module = heap([size * MIB for size in sizes], "+1 +2 -1 -2")
            module.name, module.id = name, number
            made[f"{name}({number})"] = module.bytes()
        (folder / "job" / SESSION / f"{host}.xplane.pb").write_bytes(profile(made))
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("hosts-of-plans-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def peak(frame: FrameLocator) -> int:
    return int(frame.locator("[data-exact=Peak]").get_attribute("data-bytes") or 0)


def test_the_other_host_shows_its_plan_of_the_module(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = open_page(
        watched.page, server.url + link("job", f"{SESSION}/node-0.xplane.pb", device="plan:1")
    )
    frame.get_by_role("heading", name="jit_eval").wait_for()
    settle(watched.page)
    assert peak(frame) == 3 * MIB
    for host, module, mib in (("node-1", "jit_eval", 5), ("node-0", "jit_eval", 3)):
        frame.locator(".host", has_text=host).click()
        frame.locator(".host[aria-current=true]", has_text=host).wait_for()
        frame.get_by_role("heading", name=module).wait_for()
        settle(watched.page)
        assert peak(frame) == mib * MIB
    # Every host's bar is of its highest plan.
    bars = frame.locator(".host").all_inner_texts()
    assert ["12.0" in bars[0], "20.0" in bars[1]] == [True, True], bars
    listed = frame.get_by_role("navigation", name="HLO modules")
    listed.get_by_role("button", name="jit_step").click()
    settle(watched.page)
    frame.locator(".host", has_text="node-1").click()
    frame.get_by_role("heading", name="jit_step").wait_for()
    settle(watched.page)
    assert peak(frame) == 20 * MIB
    words = words_of(settled_address(watched.page, "node-1"))
    assert unquote(words["device"]) == "plan:2"
