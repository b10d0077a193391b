"""Pictures of real snapshots at every zoom, on both axes, beside a replay event by event."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.views.tile.window import BINS, tile
from tests.formats.test_snapshot_facts import FACTS, recorded
from tests.formats.test_snapshot_pictures import DRAWN, sums
from tests.unit.views.tiles import decoded

#: Tiles of one zoom up to which all are looked at.
FEW = 3
#: Pixels of the pictures.
HEIGHT = 500

CURVES = [
    pytest.param(name, device, axis, id=f"{name}-{device}-{axis}")
    for name in DRAWN
    for device, facts in FACTS[name]["devices"].items()
    for axis in ("event", "time")
    if axis == "event" or facts["time_span_us"]
] or [pytest.param("none", "0", "event")]

pytestmark = pytest.mark.skipif(not FACTS, reason="the shared real files are not here")


@dataclass(frozen=True)
class Curve:
    """The states that a device was in: after which event, where that is on the axis, the bytes.

    The first state is that before all events.
    """

    events: list[int]
    places: list[int]
    bytes: list[int]

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last place of the axis that something happens at."""
        return self.places[0], self.places[-1]

    @property
    def levels(self) -> range:
        """From a unit of the axis a bin to the whole axis in one."""
        first, last = self.ends
        return range((last - first + 1).bit_length() + 1)

    @property
    def peak(self) -> int:
        """The first state of the highest."""
        return self.bytes.index(max(self.bytes))

    def tiles(self, level: int) -> list[int]:
        """Tiles of a zoom: of many the peak's, and one that is another at every zoom."""
        first, last = ((place >> level) // BINS for place in self.ends)
        if last - first < FEW:
            return list(range(first, last + 1))
        peak = (self.places[self.peak] >> level) // BINS
        other = (first, peak - 1, (first + last) // 2, peak + 1, last)[level % 5]
        return sorted({peak, min(max(other, first), last)})

    def highest(self, begin: int, end: int) -> int:
        """The highest state that is seen in a bin, the earliest of equals.

        What was before is seen too, unless the bin begins with a change.
        """
        start, stop = (bisect_left(self.places, place, lo=1) for place in (begin, end))
        is_cut = start == stop or self.places[start] > begin or begin <= self.places[0]
        states = range(start - is_cut, stop)
        return max(states, key=lambda state: (self.bytes[state], -state))


def curve_of(recording: Recording, device: Device, axis: str, start: int) -> Curve:
    """The rows of the usage table, in plain sums over the events as they were read."""
    rows = recording.rows("events", device)
    events = recording.table("events").slice(rows.start, rows.stop - rows.start)
    action, size = (events.column(name).to_pylist() for name in ("action", "size"))
    signs = {Action.ALLOC: 1, Action.FREE_COMPLETED: -1}
    moves = [signs.get(Action(code), 0) * n for code, n in zip(action, size, strict=True)]
    after = [*accumulate(moves, initial=start)]
    times = events.column("time").to_pylist()
    # A clock that goes back stands still until it has caught up.
    places = list(accumulate(times, max)) if axis == "time" else list(range(len(moves)))
    changes = recording.values("usage", "event", device).tolist()
    assert changes[0] == -1
    return Curve(
        changes,
        [places[max(event, 0)] for event in changes],
        [after[event + 1] for event in changes],
    )


@cache
def zooms(name: str, key: str, axis: str) -> list[Any]:
    """The tiles to look at: a level, the states that each column must show, how to ask for it."""
    recording, facts = recorded(name), FACTS[name]["devices"][key]
    device = recording.device(key)
    curve = curve_of(recording, device, axis, facts["allocated_start"])
    assert recording.values("usage", "allocated", device).tolist() == curve.bytes
    assert curve.events[curve.peak] == facts["allocated_peak_event"]
    found = []
    for level in curve.levels:
        peak = 0
        bin_ = 1 << level
        for index in curve.tiles(level):
            first, last = (place >> level << level for place in curve.ends)
            width = BINS * bin_
            begins = range(max(first, index * width), min(last + 1, (index + 1) * width), bin_)
            states = [curve.highest(begin, begin + bin_) for begin in begins]
            totals = [curve.bytes[state] for state in states]
            peak = max(peak, *totals)
            ask = partial(
                tile,
                recording,
                device,
                axis=axis,
                level=level,
                index=index,
                by="stack",
                height=HEIGHT,
            )
            found.append((level, [curve.events[state] for state in states], totals, ask))
        assert peak == facts["allocated_peak"]
    return found


@pytest.mark.parametrize(("name", "key", "axis"), CURVES)
def test_what_is_drawn_and_the_rest_are_the_total_at_every_zoom(
    name: str, key: str, axis: str
) -> None:
    peak = FACTS[name]["devices"][key]["allocated_peak"]
    for level, events, totals, ask in zooms(name, key, axis):
        # Of all bytes, and of some in the middle or at the very top.
        part = ((peak // 3, peak // 2), (peak - peak // 50, peak))[level % 2]
        for low, high in ((0, peak), part):
            about, tables = decoded(ask(low=low, high=high))
            assert about["extent"] == peak
            assert tables[0].column("event").to_pylist() == events
            assert tables[0].column("total").to_pylist() == totals
            assert sums(tables).tolist() == totals


@pytest.mark.parametrize(("name", "key", "axis"), CURVES)
@pytest.mark.parametrize("layout", ["address", "lane"])
def test_what_keeps_its_place_adds_up_at_every_zoom(
    name: str, key: str, axis: str, layout: str
) -> None:
    for _, events, totals, ask in zooms(name, key, axis):
        about, tables = decoded(ask(layout=layout))
        assert tables[0].column("event").to_pylist() == events
        assert tables[0].column("total").to_pylist() == totals
        assert about["hidden"]["rows"] == 0
        assert sums(tables).tolist() == totals
