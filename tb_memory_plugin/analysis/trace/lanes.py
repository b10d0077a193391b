"""In which lane of its track every span is drawn, so that none covers another."""

from __future__ import annotations

import heapq

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import nesting


def lanes(begin: IntArray, end: IntArray, *, parallel: bool) -> IntArray:
    """The lane of every span of a track, 0 the outermost; they come by begin, the longer first.

    Spans of a thread lie below the innermost that they begin in and that lasts as long; where that
    lane is taken by one that they merely overlap, in the next that is free. On a track that is
    ``parallel``, where what overlaps is not inside of each other, every span has the first lane
    that is free when it begins.
    """
    if parallel:
        return first_free(begin, end)
    outer = nesting.lasting(nesting.parents(begin, end), end)
    lane = nesting.depths(outer)
    order = np.argsort(lane, kind="stable").astype(np.int32)
    same = np.diff(lane[order]) == 0
    covers = same & (begin[order[1:]] < end[order[:-1]])
    del order, same
    return _below(begin, end, outer) if covers.any() else lane


def _below(begin: IntArray, end: IntArray, outer: IntArray) -> IntArray:
    """For spans in order of begin the first free lane below that of the one they are inside of."""
    lane: list[int] = []
    until: list[int] = []  # of every lane when it is free again
    for start, stop, parent in zip(begin.tolist(), end.tolist(), outer.tolist(), strict=True):
        own = lane[parent] + 1 if parent >= 0 else 0
        while own < len(until) and until[own] > start:
            own += 1
        if own == len(until):
            until.append(stop)
        else:
            until[own] = stop
        lane.append(own)
    return np.array(lane, dtype=np.int32)


def first_free(begin: IntArray, end: IntArray) -> IntArray:
    """For spans in order of begin the first lane that is free then."""
    lane = np.zeros(len(begin), dtype=np.int32)
    reach = np.maximum.accumulate(end)
    alone = np.append(True, begin[1:] >= reach[:-1])  # nothing before reaches it
    alone &= np.append(alone[1:], True)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    for row in np.flatnonzero(~alone).tolist():
        start = int(begin[row])
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            free.append(used)
            used += 1
        own = heapq.heappop(free)
        lane[row] = own
        heapq.heappush(busy, (int(end[row]), own))
    return lane
