"""Addresses at moments, looked up among the ranges mapped at those moments."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.segments import SegmentLives

#: Segments starting below an address that are tried; beyond it stays unplaced.
_MOST_TRIES = 512


def containing(segments: SegmentLives, address: IntArray, moment: IntArray) -> IntArray:
    """For every address the row of ``segments`` that maps it at ``moment``, -1 for none.

    ``moment`` is an ordinal, -1 for before the window. Starts with the nearest segment below and
    goes down as long as a longer one may reach up that far.
    """
    found = np.full(len(address), -1, dtype=np.int64)
    if not len(segments.address) or not len(address):
        return found
    order = np.lexsort((segments.birth, segments.address))
    starts, firsts = np.unique(segments.address[order], return_index=True)
    span = int(max(segments.birth.max(), moment.max())) + 3
    keys = (np.searchsorted(starts, segments.address[order]) * span) + segments.birth[order] + 1
    longest = np.maximum.reduceat(segments.size[order].astype(np.uint64), firsts)
    reach = np.maximum.accumulate(starts + np.minimum(longest, np.uint64(2**64 - 1) - starts))
    below = np.searchsorted(starts, address, side="right") - 1
    open_rows = np.arange(len(address))
    for _ in range(_MOST_TRIES):
        near = below[open_rows]
        going = near >= 0
        going[going] = reach[near[going]] > address[open_rows][going]
        open_rows = open_rows[going]
        if not len(open_rows):
            break
        near = below[open_rows]
        at = np.searchsorted(keys, near * span + moment[open_rows] + 1, side="right") - 1
        row = order[np.maximum(at, 0)]
        wanted = address[open_rows]
        hit = (at >= 0) & (segments.address[row] == starts[near])
        hit &= segments.death[row] > moment[open_rows]
        hit &= wanted - segments.address[row] < segments.size[row].astype(np.uint64)
        found[open_rows[hit]] = row[hit]
        open_rows = open_rows[~hit]
        below[open_rows] -= 1
    return found
