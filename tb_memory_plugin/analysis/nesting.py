"""Moments, looked up among nested spans: which one is innermost."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray


def innermost(begin: IntArray, end: IntArray, moments: IntArray) -> IntArray:
    """For every moment the span that holds it (begin <= moment < end) and began last; -1: none.

    Spans may come in any order and overlap in any way. For n moments and m spans this is
    O((n + m) log m), without a loop over either.
    """
    found = np.full(len(moments), -1, dtype=np.int64)
    if not len(begin) or not len(moments):
        return found
    order = np.lexsort((-1 - end, begin))  # of two that begin together the shorter one is inside
    begins, ends = begin[order], end[order]
    outer = _next_longer(ends)
    at = np.searchsorted(begins, moments, side="right")  # places count from 1, 0 is "none"
    limits = np.concatenate([[np.iinfo(np.int64).max], ends])
    ladder = [outer]
    while ladder[-1].any():
        ladder.append(ladder[-1][ladder[-1]])
    # Ends grow on the way outwards: leap over all that ended, largest leaps first.
    for leap in reversed(ladder):
        over = leap[at]
        ended = (at > 0) & (limits[at] <= moments) & (over > 0)
        ended &= limits[over] <= moments
        at = np.where(ended, over, at)
    at = np.where((at > 0) & (limits[at] <= moments), outer[at], at)
    at = np.where(limits[at] <= moments, 0, at)
    found[at > 0] = order[at[at > 0] - 1]
    return found


def _next_longer(ends: IntArray) -> IntArray:
    """For places 1 … n the nearest earlier place with a later end, 0 for none; place 0 is 0."""
    limits = np.concatenate([[np.iinfo(np.int64).max], ends])
    outer = np.maximum(np.arange(len(ends) + 1) - 1, 0)
    while True:
        short = (outer > 0) & (limits[outer] <= limits)
        if not short.any():
            return outer
        # What lies between a place and its candidate ends no later than the place itself.
        outer[short] = outer[outer[short]]
