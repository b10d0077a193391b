"""The spans of a window as what is drawn: one by one where they are wide, else those of a pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording.recording import Device, Recording

#: Spans a pixel, up to which a lane's spans are looked at one by one.
DENSE = 4
_ROW = (1 << 32) - 1


@dataclass(frozen=True)
class Items:
    """What is drawn in each of some lanes, in order of time.

    An item is the rows ``first`` … ``stop`` - 1 of ``span_order``: one span, or several that each
    last less than a pixel and begin in the same one. ``lane`` is a row of ``span_lanes``, ``span``
    that of the longest of them.
    """

    lane: IntArray
    first: IntArray
    stop: IntArray
    span: IntArray

    @property
    def count(self) -> IntArray:
        """How many spans each is."""
        return self.stop - self.first


def items(recording: Recording, lanes: IntArray, begin: int, end: int, level: int) -> Items:
    """The items of ``lanes`` in the window from ``begin`` to ``end``, ns.

    A pixel is 2^``level`` ns, and pixels begin at its multiples, so that a span is in the same item
    whatever the window.
    """
    firsts, stops = (recording.values("span_lanes", name) for name in ("first", "stop"))
    begins, ends, longest = (
        recording.values("span_order", name) for name in ("begin", "end", "longest")
    )
    edges = np.arange(begin >> level, (end >> level) + 2) << level
    lane, first, stop, span = [], [], [], []
    for one in lanes.tolist():
        a, b = int(firsts[one]), int(stops[one])
        low = a + int(np.searchsorted(ends[a:b], begin))
        high = a + int(np.searchsorted(begins[a:b], end))
        if low >= high:
            continue
        starts = low + _starts(begins[low:high], ends[low:high], edges, level)
        lane.append(np.full(len(starts), one))
        first.append(starts)
        stop.append(np.append(starts[1:], high))
        span.append(np.maximum.reduceat(longest[low:high], starts - low) & _ROW)
    none = [np.zeros(0, dtype=np.int64)]
    return Items(*(np.concatenate(none + parts) for parts in (lane, first, stop, span)))


def _starts(begin: IntArray, end: IntArray, edges: IntArray, level: int) -> IntArray:
    """Where the items of one lane's spans start."""
    if len(begin) <= DENSE * len(edges):
        column = begin >> level
        new = np.append(True, column[1:] != column[:-1])
        new |= end - begin >= 1 << level
        found: IntArray = np.flatnonzero(new)
        return found
    # What began before the window is at most one span of a lane.
    inside = np.searchsorted(begin, edges)
    bounds = np.append(0 if inside[0] else inside[:0], inside)
    start = bounds[:-1][bounds[1:] > bounds[:-1]]
    last = np.append(start[1:], len(begin)) - 1
    # A wide span is the last that begins in its pixel.
    apart = last[(end[last] - begin[last] >= 1 << level) & (last > start)]
    merged: IntArray = np.append(start, apart)
    merged.sort()
    return merged


def nets(recording: Recording, device: Device, of: Items) -> IntArray:
    """Bytes that the spans of every item allocated on the device less those that they freed."""
    place = recording.values("span_nets", "place", device)
    upto = np.append(0, recording.values("span_nets", "net", device))
    found: IntArray = upto[np.searchsorted(place, of.stop)] - upto[np.searchsorted(place, of.first)]
    return found


def busy(recording: Recording, of: Items) -> IntArray:
    """How long (ns) the spans of every item last together."""
    before = recording.values("span_order", "busy")
    begin, end = (recording.values("span_order", name) for name in ("begin", "end"))
    last = of.stop - 1
    found: IntArray = before[last] + (end[last] - begin[last]) - before[of.first]
    return found
