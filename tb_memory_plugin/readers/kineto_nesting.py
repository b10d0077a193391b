"""Which span is inside which on its track, and what encloses an instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.recording.arrays import IntArray


@dataclass(frozen=True)
class Nested:
    """Spans sorted by track, begin and (the longer first) end; rows are places in that order.

    ``order`` are their places before; ``first`` is the first row of every track, and one past the
    last; ``parent`` the row of the innermost span that one begins in, -1 for none.
    """

    order: IntArray
    first: IntArray
    begin: IntArray
    end: IntArray
    parent: IntArray

    def enclosing(self, track: IntArray, time: IntArray) -> IntArray:
        """The row of the innermost span of each track at each time, -1 for none."""
        found = np.full(len(time), -1, dtype=np.int64)
        for one in np.flatnonzero(np.bincount(track, minlength=1)).tolist():
            if one + 1 >= len(self.first):
                continue
            start, stop = self.first[one], self.first[one + 1]
            here = np.flatnonzero(track == one)
            place = np.searchsorted(self.begin[start:stop], time[here], side="right") - 1
            found[here] = np.where(place >= 0, place + start, -1)
        while True:
            over = np.flatnonzero(found >= 0)
            over = over[self.end[found[over]] < time[over]]
            if not len(over):
                return found
            found[over] = self.parent[found[over]]


def nested(track: IntArray, begin: IntArray, end: IntArray) -> Nested:
    """The spans' nesting. One that outlasts what it begins in is inside it all the same: the file
    has rounded their ends.
    """
    order = np.lexsort((-end, begin, track))
    begin, end, track = begin[order], end[order], track[order]
    tracks = int(track[-1]) + 1 if len(track) else 0
    first = np.searchsorted(track, np.arange(tracks + 1))
    parent = _parents(first, begin, end)
    return Nested(order, first, begin, end, parent)


def _parents(first: IntArray, begin: IntArray, end: IntArray) -> IntArray:
    """Of every row the nearest one before it on its track that has not ended when it begins."""
    parent = np.arange(len(begin), dtype=np.int64) - 1
    parent[first[:-1][first[:-1] < len(begin)]] = -1
    row = np.flatnonzero(parent >= 0)
    while len(row):
        over = parent[row]
        ended = end[over] <= begin[row]
        row, over = row[ended], over[ended]
        # What lies between a row and the one it looks at has ended, and so on from there.
        parent[row] = parent[over]
        row = row[parent[row] >= 0]
    return parent
