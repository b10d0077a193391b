"""Pools of mapped ranges that no event names, told by the ranges they touch."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ranges import range_ends

_NONE = np.iinfo(np.int32).max


def range_pools(
    address: IntArray, size: IntArray, stream: IntArray, pool: IntArray, expandable: IntArray
) -> IntArray:
    """``pool`` of mapped ranges, with the unknown ones (-1) filled in where that is certain.

    An expandable segment grows in addresses reserved for it alone: expandable ranges that touch,
    whenever they were mapped, are of one segment and so of one pool. Where touching ranges say
    different pools or streams nothing is filled in. (Before version 2.12 events name no pool, and
    of a range that is gone by the end nothing else does.)
    """
    rows = np.flatnonzero(expandable)
    if not len(rows) or not (pool[rows] < 0).any():
        return pool
    rows = rows[np.argsort(address[rows], kind="stable")]
    begin, end = address[rows], range_ends(address[rows], size[rows])
    reach = np.maximum.accumulate(end)
    first = np.flatnonzero(np.append(True, begin[1:] > reach[:-1]))
    run = np.cumsum(np.append(True, begin[1:] > reach[:-1])) - 1
    own = pool[rows]
    lowest = np.minimum.reduceat(np.where(own >= 0, own, _NONE), first)
    highest = np.maximum.reduceat(own, first)
    streams = stream[rows]
    agree = lowest == highest
    agree &= np.minimum.reduceat(streams, first) == np.maximum.reduceat(streams, first)
    told = np.where(agree, highest, -1)[run]
    found: IntArray = pool.copy()
    found[rows] = np.where(own >= 0, own, told)
    return found
