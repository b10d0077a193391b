"""In which lane of its track every span is drawn, so that none covers another."""

from __future__ import annotations

import heapq

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import nesting

#: Deeper than programs nest: what overlaps so often does not call each other.
_DEEPEST = 512


def lanes(track: IntArray, begin: IntArray, end: IntArray, parallel: IntArray) -> IntArray:
    """The lane of every span, 0 the outermost; they come in order of ``nesting.in_order``.

    Spans of a thread lie below the one that they begin in, also where they outlast it. On a track
    that is ``parallel`` (one truth value a track), where what overlaps is not inside of each other,
    every span has the first lane that is free when it begins.
    """
    parent = nesting.nested_in_order(track, begin, end).parent
    depth = nesting.depths(parent)
    deepest = np.zeros(len(parallel), dtype=np.int32)
    np.maximum.at(deepest, track, depth)
    for one in np.flatnonzero((parallel & (deepest > 0)) | (deepest > _DEEPEST)).tolist():
        rows = slice(*np.searchsorted(track, (one, one + 1)).tolist())
        depth[rows] = _first_free(begin[rows], end[rows])
    return depth


def _first_free(begin: IntArray, end: IntArray) -> IntArray:
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
