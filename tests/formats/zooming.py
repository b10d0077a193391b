"""What tests of pictures at every zoom share: the states of a device in plain sums, the tiles."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.views.tile.window import BINS, tile

#: Pixels of the pictures.
HEIGHT = 500


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

    def tiles(self, level: int, few: int) -> list[int]:
        """Tiles of a zoom, all up to ``few``: of more the peak's, and one that is ever another."""
        first, last = ((place >> level) // BINS for place in self.ends)
        if last - first < few:
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
        seen = self.bytes[start - is_cut : stop]
        return start - is_cut + seen.index(max(seen))


@dataclass(frozen=True)
class Zoom:
    """A tile to look at: what each of its columns must show, and how to ask for it."""

    level: int
    events: list[int]
    totals: list[int]
    ask: Callable[..., bytes]


def curve_of(recording: Recording, device: Device, axis: str, start: int) -> Curve:
    """The rows of the usage table, in plain sums over the events as they were read."""
    rows = recording.rows("events", device)
    events = recording.table("events").slice(rows.start, rows.stop - rows.start)
    action, size, address, times = (
        events.column(name).to_pylist() for name in ("action", "size", "address", "time")
    )
    now, living = start, dict[int, int]()
    after: list[list[int]] = []
    for code, amount, at in zip(action, size, address, strict=True):
        states = []
        if code == Action.ALLOC:
            if at in living:  # allocated again: it had been freed, unseen
                now -= living[at]
                states.append(now)
            now += amount
            if at is not None:
                living[at] = amount
        elif code == Action.FREE_COMPLETED:
            now -= amount
            living.pop(at, None)
        after.append([*states, now])
    # A clock that goes back stands still until it has caught up.
    places = list(accumulate(times, max)) if axis == "time" else list(range(len(after)))
    changes = recording.values("usage", "event", device).tolist()
    assert changes[0] == -1
    moved = {
        event for event, code in enumerate(action) if code in (Action.ALLOC, Action.FREE_COMPLETED)
    }
    rows_of = [event for event in changes[1:] if event in moved]
    assert rows_of == [event for event in sorted(moved) for _ in after[event]]
    return Curve(
        changes,
        [places[max(event, 0)] for event in changes],
        [start] + [after[e][n - bisect_left(changes, e)] for n, e in enumerate(changes) if n],
    )


def zooms(recording: Recording, device: Device, axis: str, curve: Curve, few: int) -> list[Zoom]:
    """Tiles of every zoom, up to ``few`` of one; the peak is in one of each zoom."""
    found = []
    until = _known_until(recording, curve) if axis == "time" else curve.ends[1] + 1
    for level in curve.levels:
        peak = 0
        bin_ = 1 << level
        for index in curve.tiles(level, few):
            first = curve.ends[0] >> level << level
            width = BINS * bin_
            begins = range(max(first, index * width), min(until, (index + 1) * width), bin_)
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
            found.append(Zoom(level, [curve.events[state] for state in states], totals, ask))
        assert peak == max(curve.bytes)
    return found


def _known_until(recording: Recording, curve: Curve) -> int:
    """One past the last place that anything is known of: events, and spans of the program."""
    ends = recording.table("spans").column("end").to_pylist()
    last = max([curve.ends[1] + 1, *(end for end in ends if end is not None)])
    return last + 1 if None in ends and last > curve.ends[1] + 1 else last


def part_of(peak: int, level: int) -> tuple[int, int]:
    """Some of the bytes: in the middle, or at the very top."""
    return ((peak // 3, peak // 2), (peak - peak // 50, peak))[level % 2]
