"""The spans of a window as what is drawn: one by one where they are wide, else those of a pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording.recording import Device, Recording

#: Spans a pixel, up to which a lane's spans are looked at one by one.
DENSE = 4
#: Spans that are looked at at a time for the longest, which may last so long (ns), 39 hours.
_BITS = 16
_BLOCK = 1 << _BITS
_LONGEST = (1 << (62 - _BITS)) - 1


@dataclass(frozen=True)
class Items:
    """What is drawn in each of some lanes, in order of time.

    An item is the rows ``first`` … ``stop`` - 1 of ``span_order``: one span, or several that each
    last less than a pixel and begin in the same one. ``lane`` is a row of ``span_lanes``, ``span``
    that of the longest of them, ``busy`` how long they last together, ns.
    """

    lane: IntArray
    first: IntArray
    stop: IntArray
    span: IntArray
    busy: IntArray

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
    begins, ends, spans = (
        recording.values("span_order", name) for name in ("begin", "end", "span")
    )
    edges = np.arange(begin >> level, (end >> level) + 2) << level
    none = np.zeros(0, dtype=np.int64)
    found = [(none, none, none, none, none)]
    for lane in lanes.tolist():
        a, b = int(firsts[lane]), int(stops[lane])
        low = a + int(np.searchsorted(ends[a:b], begin))
        high = a + int(np.searchsorted(begins[a:b], end))
        if low >= high:
            continue
        first = low + _starts(begins[low:high], ends[low:high], edges, level)
        longest, busy = _lasting(begins, ends, first, high)
        stop = np.append(first[1:], high)
        found.append((np.full(len(first), lane), first, stop, spans[longest], busy))
    return Items(*map(np.concatenate, zip(*found, strict=True)))


def _lasting(
    begin: IntArray, end: IntArray, start: IntArray, stop: int
) -> tuple[IntArray, IntArray]:
    """The row of the longest span of every item of a lane, and how long its spans last together.

    Items go up to the next, the last to ``stop``. Of spans that last as long it is the last.
    """
    if len(start) == stop - start[0]:
        return start, end[start] - begin[start]
    item, row, length = [start[:0]], [start[:0]], [start[:0]]
    busy = np.zeros(len(start), dtype=np.int64)
    for low in range(int(start[0]), stop, _BLOCK):
        high = min(low + _BLOCK, stop)
        # The items that have spans in this block, the first of them from before it perhaps.
        first, last = np.searchsorted(start, (low, high - 1), side="right") - 1
        edges = np.maximum(start[first : last + 1], low) - low
        lasts = end[low:high] - begin[low:high]
        busy[first : last + 1] += np.add.reduceat(lasts, edges)
        keys = np.minimum(lasts, _LONGEST, out=lasts)
        keys <<= _BITS
        keys |= np.arange(high - low)
        best = np.maximum.reduceat(keys, edges)
        item.append(np.arange(first, last + 1))
        row.append(low + (best & (_BLOCK - 1)))
        length.append(best >> _BITS)
    items, rows, lengths = (np.concatenate(parts) for parts in (item, row, length))
    order = np.lexsort((rows, lengths, items))
    found: IntArray = rows[order[np.append(np.diff(items[order]) != 0, True)]]
    return found, busy


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
