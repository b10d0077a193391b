"""Stack, heap and free, and the fragmentation that allocators report, to the pixel of the chart."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.browser.charting import ABOVE, BELOW, HEADROOM, LEFT, Chart
from tests.browser.looking import settle, wear
from tests.browser.xplanes import FILES, opened
from tests.formats.xplane_reading import Walked, walk

if TYPE_CHECKING:
    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

AREAS = {"stack": "bytes_reserved", "heap": "bytes_allocated", "free": "bytes_available"}
#: As each theme paints the areas, from the stack up.
COLOURS = {
    "light": ("#ee8866", "#4477aa", "#d6e9c8"),
    "dark": ("#ee8866", "#5b8fc4", "#41553a"),
}
ACCENT = {"light": "#f57c00", "dark": "#ffa726"}
GPUS = (("mi300", "GPU_0_bfc"), ("gpus", "GPU_6_bfc"))
#: Events in view: each is wide enough for a whole dash and the gap after it.
EVENTS = 24
DASH, GAP = 5, 3
#: Pixels right of the plot while fragmentation has its axis there.
AXIS = 48

_COLUMN = """(canvas, [x, y, width, height]) => {
  const { data } = canvas.getContext("2d").getImageData(x, y, width, height);
  return Array.from({ length: width * height }, (_, at) => "#" + [...data.slice(4 * at, 4 * at + 3)]
    .map((value) => value.toString(16).padStart(2, "0")).join(""));
}"""


class Plot:
    """The plot of an open chart, by event of the window shown."""

    def __init__(self, chart: Chart, right: int) -> None:
        assert chart.canvas.evaluate("canvas => canvas.width / canvas.clientWidth") == 1
        box: Any = chart.canvas.bounding_box()
        self.canvas = chart.canvas
        self.width = box["width"] - LEFT - right
        self.height = box["height"] - ABOVE - BELOW

    def column(self, x: int, width: int = 1) -> list[list[str]]:
        """The colours of ``width`` columns from the base of the plot up."""
        area = [x, ABOVE, width, int(self.height)]
        found = cast("list[str]", self.canvas.evaluate(_COLUMN, area))
        return [found[place::width][::-1] for place in range(width)]

    def begin(self, place: int) -> int:
        """Where the event ``place`` of the window begins."""
        return round(LEFT + place * self.width / EVENTS)


def richest(events: list[Walked]) -> int:
    """The first event of a window in which most is seen to change."""
    most = max(each.number("bytes_reserved") + each.number("bytes_allocated") for each in events)
    said = [
        (
            round(40 * each.number("bytes_reserved") / most),
            round(40 * each.number("bytes_allocated") / most),
            round(40 * float(each.stats["fragmentation"])),
        )
        for each in events
    ]
    starts = range(1, len(said) - EVENTS)
    return max(starts, key=lambda start: len(set(said[start : start + EVENTS])))


def show(
    watched: Watched, server: TensorBoardServer, shared_data: Path, run: str, key: str
) -> tuple[Chart, list[Walked]]:
    """A window of single events, by area, and those events."""
    events = walk(shared_data / FILES[run])[key]
    start = richest(events)
    window = f"{start}..{start + EVENTS}"
    asked = {"device": key, "axis": "event", "areas": "allocator", "window": window}
    chart = Chart(watched.page, opened(watched, server, run, **asked))
    return chart, events[start : start + EVENTS]


def press(chart: Chart, name: str, pressed: bool) -> None:
    """Shows or hides what an entry of the legend stands for."""
    entry = chart.frame.get_by_role("button", name=name, exact=True)
    if (entry.get_attribute("aria-pressed") == "true") != pressed:
        entry.click()
    settle(chart.page)
    assert entry.get_attribute("aria-pressed") == str(pressed).lower()


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize(("run", "key"), [("tpu", "0"), *GPUS])
def test_areas_are_as_high_as_the_allocator_says(
    watched: Watched,
    profiled: TensorBoardServer,
    shared_data: Path,
    pictures: Any,
    run: str,
    key: str,
    free: bool,
) -> None:
    chart, events = show(watched, profiled, shared_data, run, key)
    press(chart, "fragmentation", pressed=False)
    chart.frame.locator(".timeline-lines button", has_text="capacity").click()
    press(chart, "free", pressed=free)
    names = list(AREAS)[: 3 if free else 2]
    sizes = [[each.number(AREAS[name]) for name in names] for each in events]
    top = max(map(sum, sizes)) * HEADROOM
    heights, written = set(), 0
    for theme in ("light", "dark"):
        wear(chart.page, theme)
        plot = Plot(chart, right=16)
        for place, parts in enumerate(sizes):
            (column,) = plot.column((plot.begin(place) + plot.begin(place + 1)) // 2)
            tops = [part / top * plot.height for part in accumulate(parts)]
            # One pixel is of both where two areas meet; more are where the peak is written.
            others = set(column[: round(tops[-1]) + 1]) - set(COLOURS[theme])
            if len(others) > len(tops):
                written += 1
                continue
            for below, above, colour in zip([0, *tops], tops, COLOURS[theme], strict=False):
                inside = column[round(below + 1) : max(round(above - 1), 0)]
                assert set(inside) <= {colour}, (place, colour)
                assert -2 < column.count(colour) - (above - below) <= 1, (place, colour)
            heights.add(tuple(parts))
    assert len(heights) > 5 and written <= 2 * EVENTS // 3
    pictures(chart.page, f"free-{free}")


@pytest.mark.parametrize(("run", "key"), [("tpu", "1"), GPUS[0]])
def test_fragmentation_is_dashed_where_the_allocator_says(
    watched: Watched,
    profiled: TensorBoardServer,
    shared_data: Path,
    pictures: Any,
    run: str,
    key: str,
) -> None:
    chart, events = show(watched, profiled, shared_data, run, key)
    press(chart, "fragmentation", pressed=True)
    press(chart, "free", pressed=False)
    parts = [float(each.stats["fragmentation"]) for each in events]
    for theme in ("light", "dark"):
        wear(chart.page, theme)
        plot = Plot(chart, right=AXIS)
        told = dashes = 0
        for place, part in enumerate(parts):
            begin, end = plot.begin(place) + 3, plot.begin(place + 1) - 3
            expected = part * plot.height
            if round(expected) < 2:  # on the axis itself, which is painted over it
                continue
            for column in plot.column(begin, end - begin):
                found = [y for y, colour in enumerate(column) if colour == ACCENT[theme]]
                assert all(abs(y - expected) <= 1.5 for y in found), (place, part, found)
                dashes += bool(found)
            told += end - begin
        share = DASH / (DASH + GAP)
        assert abs(dashes / told - share) < 0.15, (dashes, told)
    assert len(set(parts)) > 2
    pictures(chart.page, "fragmentation")
