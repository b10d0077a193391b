"""Which span is inside which on its track, and what encloses an instant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tb_memory_plugin.recording.arrays import IntArray

#: By how much (nanoseconds) the ends of spans are off where the file has whole microseconds: what
#: begins and what lasts are both rounded.
_ROUNDING = 2_000


@dataclass(frozen=True)
class Nested:
    """Spans sorted by track, begin and (the longer first) end; rows are places in that order.

    ``order`` are their places before, where these are kept; ``first`` is the first row of every
    track, and one past the last; ``parent`` the row of the innermost span that one begins in, -1
    for none.
    """

    order: IntArray
    first: IntArray
    begin: IntArray
    end: IntArray
    parent: IntArray

    def enclosing(self, track: IntArray, time: IntArray, *, ended: bool = False) -> IntArray:
        """The row of the innermost span of each track at each time, -1 for none.

        What ends right then is still around, unless it counts as ``ended``.
        """
        found = np.full(len(time), -1, dtype=np.int32)
        for one in np.flatnonzero(np.bincount(track, minlength=1)).tolist():
            if one + 1 >= len(self.first):
                continue
            start, stop = self.first[one], self.first[one + 1]
            here = np.flatnonzero(track == one)
            place = np.searchsorted(self.begin[start:stop], time[here], side="right") - 1
            found[here] = np.where(place >= 0, place + start, -1)
        over = np.flatnonzero(found >= 0)
        while len(over):
            end = self.end[found[over]]
            over = over[end <= time[over] if ended else end < time[over]]
            found[over] = self.parent[found[over]]
            over = over[found[over] >= 0]
        return found


def in_order(track: IntArray, begin: IntArray, end: IntArray) -> IntArray:
    """The order of :class:`Nested`: by track, begin and (the longer first) end."""
    return np.lexsort((-end, begin, track)).astype(np.int32)


def nested(track: IntArray, begin: IntArray, end: IntArray) -> Nested:
    """The spans' nesting, in any order."""
    order = in_order(track, begin, end)
    return replace(nested_in_order(track[order], begin[order], end[order]), order=order)


def nested_in_order(track: IntArray, begin: IntArray, end: IntArray) -> Nested:
    """The nesting of spans that are :func:`in_order`.

    One that outlasts what it begins in is inside it all the same: the file has rounded their ends.
    """
    tracks = int(track[-1]) + 1 if len(track) else 0
    first = np.searchsorted(track, np.arange(tracks + 1, dtype=track.dtype))
    return Nested(np.zeros(0, dtype=np.int32), first, begin, end, _parents(first, begin, end))


def parents(begin: IntArray, end: IntArray) -> IntArray:
    """Of spans of one track, in order, the innermost that each begins in, -1 for none."""
    return _parents(np.array([0, len(begin)]), begin, end)


def _parents(first: IntArray, begin: IntArray, end: IntArray) -> IntArray:
    """Of every row the nearest one before it on its track that has not ended when it begins."""
    parent = np.arange(-1, len(begin) - 1, dtype=np.int32)
    parent[first[:-1][first[:-1] < len(begin)]] = -1
    row = np.flatnonzero((parent >= 0) & np.append(False, end[:-1] <= begin[1:])[: len(begin)])
    row = row.astype(np.int32)
    while len(row):
        # What lies between a row and the one it looks at has ended, and so on from there.
        parent[row] = parent[parent[row]]
        row = row[parent[row] >= 0]
        row = row[end[parent[row]] <= begin[row]]
    return parent


def lasting(parent: IntArray, end: IntArray) -> IntArray:
    """Of every row the innermost span that it begins in and that does not end before it; -1: none.

    An annotation begins in the call that enters it and outlasts that call: what is done under the
    annotation is not done by the call. ``parent`` itself where no span outlasts another.
    """
    row = np.flatnonzero(parent >= 0).astype(np.int32)
    row = row[end[parent[row]] < end[row] - _ROUNDING]
    outer = parent.copy() if len(row) else parent
    while len(row):
        # What a row outlasts has itself outlasted all between it and the one it looks at.
        outer[row] = outer[outer[row]]
        row = row[outer[row] >= 0]
        row = row[end[outer[row]] < end[row] - _ROUNDING]
    return outer


def nearest(parent: IntArray, wanted: IntArray) -> IntArray:
    """Of every row the innermost span around it, itself included, that is ``wanted``; -1 for none.

    ``parent`` is of every row the row that it is inside of. What is returned has one value more,
    -1, so that it can be asked for row -1 too.
    """
    rows = np.arange(len(parent), dtype=np.int32)
    found = np.append(np.where(wanted, rows, parent), np.int32(-1)).astype(np.int32, copy=False)
    del rows
    while True:  # twice as far each time
        further = found[found]
        if (further == found).all():
            return found
        found = further


def depths_of_kind(track: IntArray, begin: IntArray, end: IntArray, kind: IntArray) -> IntArray:
    """Of every row, which are :func:`in_order`, how many of its own kind it begins in."""
    depth = np.empty(len(kind), dtype=np.int32)
    for one in np.flatnonzero(np.bincount(kind, minlength=1)).tolist():
        rows = np.flatnonzero(kind == one)
        depth[rows] = depths(nested_in_order(track[rows], begin[rows], end[rows]).parent)
    return depth


def depths(parent: IntArray) -> IntArray:
    """Of every row how many it is inside of."""
    outer = np.append(parent, np.int32(-1))
    depth = (outer >= 0).astype(np.int32)
    while (outer >= 0).any():
        depth += depth[outer]
        outer = outer[outer]
    return depth[:-1]
