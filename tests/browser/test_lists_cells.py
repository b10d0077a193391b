"""Cells of the list of allocations against a plain walk, and where a row is marked on the curve."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from tb_memory_plugin.api import load
from tb_memory_plugin.recording.recording import Recording
from tests.browser.charting import ABOVE, BELOW, LEFT, RIGHT
from tests.browser.looking import settle
from tests.browser.xplanes import FILES, opened
from tests.formats.xplane_reading import Walked, walk

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator

    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

GPU = "GPU_4_bfc"
ACCENT = "#f57c00"
UNITS = {"s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}
#: Of a life's bar above the plot: how far up it begins, and how tall it is.
UP, TALL = 5, 3

#: Which pixels are of that colour, up to what edges between pixels leave of it.
_PAINTED = """(canvas, [x, y, width, height, colour]) => {
  const { data } = canvas.getContext("2d").getImageData(x, y, width, height);
  const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return Array.from({ length: width * height }, (_, at) => data[4 * at + 3] > 100 &&
    wanted.every((value, part) => Math.abs(data[4 * at + part] - value) < 8));
}"""


@dataclass(frozen=True)
class Life:
    """Events of birth and death; None for a block that is not freed."""

    size: int
    birth: int
    death: int | None


def lives(events: list[Walked]) -> dict[int, Life]:
    """What a walk of the events sees born, by the event of its birth."""
    living: dict[int, int] = {}
    deaths: dict[int, int] = {}
    for at, event in enumerate(events):
        if event.born:
            living[event.number("addr")] = at
        elif (birth := living.pop(event.number("addr"), None)) is not None:
            deaths[birth] = at
    return {
        at: Life(event.number("allocation_bytes"), at, deaths.get(at))
        for at, event in enumerate(events)
        if event.born
    }


def rows(frame: FrameLocator, heads: list[str]) -> list[dict[str, str]]:
    """The rows in view by the head of each column; of sizes what a closer look tells."""
    names = [name.strip("▾▴ \n") for name in frame.locator("table.list th").all_inner_texts()]
    assert set(heads) <= set(names), names
    read = "all => all.map(row => [...row.cells].map(cell => cell.title || cell.textContent))"
    found = frame.locator("table.list tr[data-row]").evaluate_all(read)
    return [dict(zip(names, map(plain, cells), strict=True)) for cells in found]


def plain(text: str) -> str:
    return text.replace("\u202f", "").replace("\u00a0", " ").strip()


def tells(text: str, ns: int) -> bool:
    """Whether a time in words is that of so many ns, to the last digit written."""
    found = re.fullmatch(r"\+?(\d+)(\.\d+)? (s|ms|µs|ns)", text)
    assert found, text
    unit = UNITS[found[3]]
    digits = len(found[2] or ".") - 1
    return abs(float(found[1] + (found[2] or "")) * unit - ns) <= unit / 10**digits / 2 + 1


def births(recording: Recording, ids: list[int]) -> list[int | None]:
    """The events that rows of the table say they were born at."""
    return cast("list[int | None]", recording.table("allocations")["birth"].take(ids).to_pylist())


@pytest.mark.parametrize("order", ["duration", "-bytes", "death"])
def test_births_deaths_and_durations(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, order: str
) -> None:
    recording = load(shared_data / FILES["gpus"]).recording
    events = walk(shared_data / FILES["gpus"])[GPU]
    known, start = lives(events), int(recording.meta["time_origin_ns"])
    asked = {"device": GPU, "axis": "event", "table": "allocations", "lives": order}
    frame = opened(watched, profiled, "gpus", **asked)
    told = rows(frame, ["Size", "Allocated", "Released", "Lived"])
    places = frame.locator("table.list tr[data-row]")
    ids = places.evaluate_all("all => all.map(row => Number(row.dataset.id))")
    assert len(told) == len(ids) == 100
    freed = 0
    for row, birth in zip(told, births(recording, ids), strict=True):
        if birth is None:  # what was there before: a sum
            assert (row["Allocated"], row["Released"], row["Lived"]) == ("before", "not freed", "")
            continue
        life = known[birth]
        assert row["Size"] == f"{life.size} bytes"
        born = events[life.birth].time_ps // 1000
        assert tells(row["Allocated"], born - start)
        if life.death is None:
            assert row["Released"] == "not freed"
            continue
        died = events[life.death].time_ps // 1000
        assert tells(row["Released"], died - start)
        assert tells(row["Lived"], died - born)
        freed += 1
    assert freed == 100 if order != "-bytes" else 0 < freed < 100


def test_a_row_is_marked_where_it_lives(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    recording = load(shared_data / FILES["gpus"]).recording
    events = walk(shared_data / FILES["gpus"])[GPU]
    known = lives(events)
    asked = {"device": GPU, "axis": "event", "table": "allocations", "lives": "-duration"}
    frame = opened(watched, profiled, "gpus", **asked)
    overlay = frame.get_by_test_id("timeline-overlay")
    box: Any = overlay.bounding_box()
    width, height = box["width"] - LEFT - RIGHT, box["height"] - ABOVE - BELOW
    chosen = frame.locator("table.list tr[data-row]")
    seen = set()
    for place in (0, 40, 99):
        row = chosen.nth(place)
        (birth,) = births(recording, [int(row.get_attribute("data-id") or "")])
        assert birth is not None
        row.click()
        settle(watched.page)
        life = known[birth]
        assert life.death is not None
        seen.add(ends := (life.birth, life.death))
        left, right = (LEFT + at / len(events) * width for at in ends)
        # A bar over the whole life, above the plot.
        line = painted(overlay, [0, ABOVE - UP + TALL // 2, int(box["width"]), 1])
        bar = [x for x, is_bar in enumerate(line) if is_bar]
        assert bar == list(range(bar[0], bar[-1] + 1))
        assert abs(bar[0] - left) <= 1 and abs(bar[-1] + 1 - right) <= 1
        # A dashed line through it at each end, and none elsewhere.
        area = painted(overlay, [0, ABOVE, int(box["width"]), int(height)])
        columns = [sum(area[x :: int(box["width"])]) for x in range(int(box["width"]))]
        lines = [x for x, count in enumerate(columns) if count > height / 4]
        assert len(lines) == 2
        assert abs(lines[0] - left) <= 1 and abs(lines[1] - right) <= 1
        assert all(count <= height * 2 / 3 for count in columns)
    assert len(seen) == 3
    pictures(watched.page)


def painted(canvas: Locator, area: list[int]) -> list[bool]:
    return cast("list[bool]", canvas.evaluate(_PAINTED, [*area, ACCENT]))
