"""Operators of a real XPlane, cell by cell, and both lists after a drag, against a plain walk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tests.browser.charting import Chart
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.test_lists import shown
from tests.browser.test_lists_cells import births, lives, plain, rows
from tests.browser.xplanes import FILES, opened
from tests.formats.test_xplane_operators import named, within
from tests.formats.xplane_reading import Walked, operations, walk

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

GPU = "GPU_4_bfc"
UNKNOWN = "no operator known"
HEADS = {
    "Self count": "self_count",
    "Count": "count",
    "Self bytes": "self_bytes",
    "Bytes": "bytes",
    "Self increase": "self_increase",
    "Increase": "increase",
    "Peak": "peak",
}
Numbers = dict[str, dict[str, int]]


def walked(
    events: list[Walked], inside: list[set[str]], first: int = 0, stop: int | None = None
) -> Numbers:
    """The numbers of all operators that allocate or free in events ``first`` … ``stop`` - 1.

    ``inside`` are the operators around every allocation; a free is of those that it was made in.
    """
    began = events[0].number("allocation_bytes") * (1 if events[0].born else -1)
    levels = Counter({UNKNOWN: events[0].number("bytes_allocated") - began})
    peaks = Counter(levels) if first == 0 else Counter[str]()
    found: Numbers = defaultdict(lambda: dict.fromkeys(HEADS.values(), 0))
    living: dict[int, tuple[str, set[str]]] = {}
    around = iter(inside)
    for place, event in enumerate(events[:stop]):
        size = event.number("allocation_bytes")
        if event.born:
            own = str(event.stats["tf_op"] or UNKNOWN)
            names = {own, *next(around)}
            living[event.number("addr")] = own, names
        else:
            own, names = living.pop(event.number("addr"), (UNKNOWN, {UNKNOWN}))
        levels[own] += size if event.born else -size
        if place < first:
            continue
        peaks |= levels  # the higher of both
        found[own]["self_increase"] += size if event.born else -size
        for name in names:
            found[name]["increase"] += size if event.born else -size
        if event.born:
            found[own]["self_count"] += 1
            found[own]["self_bytes"] += size
            for name in names:
                found[name]["count"] += 1
                found[name]["bytes"] += size
    for name, numbers in found.items():
        numbers["peak"] = peaks[name]
    return found


def whole(text: str) -> int:
    digits = int("".join(filter(str.isdigit, text)))
    return -digits if text.startswith("−") else digits


def pages(watched: Watched, frame: FrameLocator) -> Iterator[None]:
    """Turns the pages of a list, from the first to the last."""
    further = frame.get_by_role("button", name="Next page")
    yield
    while further.count() and further.is_enabled():
        further.click()
        settle(watched.page)
        yield


def agree(found: list[dict[str, str]], expected: Numbers, calls: Counter[str]) -> None:
    """That the rows are all operators, in order of their bytes, with these numbers."""
    names = [row["Operator"] for row in found]
    assert sorted(names) == sorted(expected)
    order = [expected[name]["bytes"] for name in names]
    assert order == sorted(order, reverse=True)
    known = set(calls)
    for row, name in zip(found, names, strict=True):
        assert {field: whole(row[head]) for head, field in HEADS.items()} == expected[name], name
        assert row["Calls"] == (str(calls[name]) if name in known else ""), name


def called(path: Path, begin: int | None = None, end: int | None = None) -> Counter[str]:
    """How often what is not a step ran, by name, of all that ran at any time."""
    found: Counter[str] = Counter()
    for one in operations(path):
        if not one.is_step:
            is_there = begin is None or end is None or begin <= one.begin < end
            found[named(one.name)] += is_there
    return found


def test_every_cell(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, everywhere: Any
) -> None:
    path = shared_data / FILES["gpus"]
    expected = walked(walk(path)[GPU], within(path, load(path).recording)[GPU])
    frame = opened(watched, profiled, "gpus", device=GPU, table="operators", operators="-bytes")
    everywhere(watched.page, "operators")
    watched.page.set_viewport_size({"width": 1400, "height": 900})
    settle(watched.page)
    found = [row for _ in pages(watched, frame) for row in rows(frame, ["Calls", *HEADS])]
    agree(found, expected, called(path))
    assert len(found) > 10
    assert sum(each["count"] > each["self_count"] for each in expected.values()) > 3


def test_a_drag_on_the_chart_asks_for_both_lists_again(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    path = shared_data / FILES["gpus"]
    events, inside = walk(path)[GPU], within(path, load(path).recording)[GPU]
    known = lives(events)
    asked = {"axis": "event", "lives": "birth", "operators": "-bytes"}
    frame = opened(watched, profiled, "gpus", device=GPU, table="allocations", **asked)
    chart = Chart(watched.page, frame)
    recording = load(path).recording

    def window() -> tuple[int, int]:
        words = words_of(settled_address(watched.page, "p.memory.window"))
        first, stop = map(int, words["window"].split(".."))
        return first, stop

    def allocations(first: int, stop: int) -> None:
        ids = [id for _ in pages(watched, frame) for id in shown(frame)]
        alive = [
            life.birth
            for life in known.values()
            if life.birth < stop and (life.death is None or life.death >= first)
        ]
        assert births(recording, ids) == [None, *sorted(alive)]  # first the sum from before
        assert f"{len(alive)} allocations and a sum" in plain(
            frame.get_by_test_id("lives-total").inner_text()
        )

    def operators(first: int, stop: int) -> None:
        found = [row for _ in pages(watched, frame) for row in rows(frame, ["Calls", *HEADS])]
        begin, end = (events[at].time_ps // 1000 for at in (first, stop))
        agree(found, walked(events, inside, first, stop), called(path, begin, end))

    def drag(begin: float, end: float) -> None:
        chart.canvas.scroll_into_view_if_needed()
        chart.drag(begin, end)
        chart.wait()

    allocations(0, len(events))
    drag(0.3, 0.7)
    first, stop = window()
    assert 0.25 * len(events) < first < stop < 0.75 * len(events)
    allocations(first, stop)
    frame.get_by_role("radio", name="Operators").click()
    settle(watched.page)
    operators(first, stop)
    drag(0.2, 0.6)
    inner = window()
    assert first < inner[0] < inner[1] < stop
    operators(*inner)
    frame.get_by_role("radio", name="Allocations").click()
    settle(watched.page)
    allocations(*inner)
