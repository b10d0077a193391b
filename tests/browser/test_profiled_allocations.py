"""Allocations and flame graphs of real XPlanes, traces and timelines: drawn, clicked, explained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tests.browser.charting import HEADROOM
from tests.browser.looking import settled_address, words_of
from tests.browser.picturing import Picture
from tests.browser.xplanes import FILES, opened

if TYPE_CHECKING:
    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

#: A run and one of its devices.
DEVICES = (
    ("mi300", "GPU_0_bfc"),
    ("gpus", "GPU_6_bfc"),
    ("tpu", "0"),
    ("bfc", "bfc_cpu_allocator_for_gpu"),
    ("bert", "1:0"),
    ("timeline", "device"),
)
_AROUND = 20


@dataclass(frozen=True)
class Life:
    """Row ``id`` of the table; ``birth`` -1 and ``death`` None are outside of the window."""

    id: int
    birth: int
    death: int | None
    size: int
    op: str | None

    def at(self, event: int) -> bool:
        return self.birth <= event and (self.death is None or event < self.death)


def lives(path: Path, key: str) -> tuple[list[Life], dict[str, Any]]:
    """The lives of a device, in order of birth, and its facts."""
    found = load(path)
    device = found.recording.device(key)
    rows = found.recording.rows("allocations", device)
    table = found.recording.table("allocations").slice(rows.start, rows.stop - rows.start)
    return [
        Life(
            rows.start + at,
            -1 if row["birth"] is None else row["birth"],
            row["death"],
            row["size"],
            row["op"],
        )
        for at, row in enumerate(table.to_pylist())
    ], found.devices[device.key]


@pytest.mark.parametrize(("run", "key"), DEVICES)
def test_the_largest_is_drawn_where_it_is_and_explained(
    watched: Watched,
    profiled: TensorBoardServer,
    shared_data: Path,
    pictures: Any,
    run: str,
    key: str,
) -> None:
    found, facts = lives(shared_data / FILES[run], key)
    asked = {"view": "allocations", "axis": "event", "device": key}
    whole = Picture(watched.page, opened(watched, profiled, run, **asked))
    at_peak = [life for life in found if life.at(facts["allocated_peak_event"])]
    assert whole.highest()[0] == sum(life.size for life in at_peak) == facts["allocated_peak"]
    pictures(watched.page, "allocations")

    last = facts["events"]
    born = [life for life in found if life.birth >= 0]
    lasting = [life for life in born if life.death is None or life.death - life.birth > 2]
    chosen = max(lasting, key=lambda life: life.size)
    window = max(chosen.birth - _AROUND, 0), min(chosen.birth + _AROUND + 1, last)
    shown = Picture(
        watched.page,
        opened(watched, profiled, run, **asked, window=f"{window[0]}..{window[1]}"),
    )
    moments = range(window[0], window[1])
    highest = max(sum(life.size for life in found if life.at(each)) for each in moments)
    assert shown.highest()[0] == highest
    # On top stands what lives at that one event only.
    below = sum(
        life.size
        for life in found
        if life.at(chosen.birth) and life.id < chosen.id and (life.death or last) - life.birth > 1
    )
    across = (chosen.birth + 0.5 - window[0]) / (window[1] - window[0])
    shown.click(across, (below + chosen.size / 2) / (facts["allocated_peak"] * HEADROOM))
    address = words_of(settled_address(watched.page, "p.memory.allocation="))
    assert address["allocation"] == str(chosen.id)
    card = shown.frame.locator(".inspector")
    card.locator(".ways").first.wait_for()
    told = card.inner_text().replace("\u202f", "").replace("\u00a0", " ")
    assert f"{chosen.size} bytes" in told
    assert chosen.op is None or chosen.op in told

    frame = opened(watched, profiled, run, view="flame", device=key)
    total = frame.get_by_test_id("weighed-heading").locator(".quiet").get_attribute("title") or ""
    assert int("".join(filter(str.isdigit, total))) == facts["allocated_peak"]
