"""Which spans events are inside of, so that what events did can be added up by span."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays


@dataclass(frozen=True)
class Inside:
    """Spans in order of row, and what is needed to add events up by them.

    ``at`` is of every event the place in ``rows`` of the innermost span around it, -1 for none;
    ``levels`` are the places of spans by depth, the outermost first, ``up`` of every one the place
    of what is around it, ``alike`` that of the innermost around it of its kind.
    """

    rows: IntArray
    at: IntArray
    up: IntArray
    alike: IntArray
    levels: Sequence[IntArray]

    @classmethod
    def of(cls, span: IntArray, outer: IntArray, kind: IntArray) -> Inside:
        """Of events in ``span`` (-1: in none); ``outer`` and ``kind`` are of all spans."""
        rows = _with_outer(span, outer)
        place = np.full(len(outer) + 1, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        at, up = place[span], place[outer[rows]]
        del place
        depth = _depths(up)
        order = np.argsort(depth, kind="stable").astype(np.int32)
        edges = np.searchsorted(depth[order], np.arange(int(depth.max(initial=0)) + 2))
        levels = [order[low:high] for low, high in itertools.pairwise(edges.tolist())]
        return cls(rows, at, up, _nearest_alike(up, kind[rows]), levels)

    def whole(self, did: IntArray) -> IntArray:
        """Of every span what the events in it did together; ``did`` is of every event."""
        found = np.zeros(len(self.rows), dtype=np.int64)
        inside = np.flatnonzero((self.at >= 0) & (did != 0))
        np.add.at(found, self.at[inside], did[inside])
        for here in self.levels[:0:-1]:  # none is around the outermost
            np.add.at(found, self.up[here], found[here])
        return found

    def own(self, whole: IntArray) -> IntArray:
        """The same less what is in spans of its kind inside."""
        found: IntArray = whole.copy()
        within = np.flatnonzero(self.alike >= 0)
        np.subtract.at(found, self.alike[within], whole[within])
        return found


def _with_outer(span: IntArray, outer: IntArray) -> IntArray:
    """The distinct of ``span`` and all that they are inside of, in order."""
    known = np.zeros(len(outer) + 1, dtype=bool)
    known[span] = True
    known[-1] = False  # of events in none
    rows: IntArray = np.flatnonzero(known).astype(np.int32)
    while len(rows):
        rows = outer[rows]
        rows = arrays.distinct(rows[(rows >= 0) & ~known[rows]])
        known[rows] = True
    found: IntArray = np.flatnonzero(known).astype(np.int32)
    return found


def _depths(up: IntArray) -> IntArray:
    depth: IntArray = np.zeros(len(up), dtype=np.int32)
    at = up
    while (at >= 0).any():
        depth += at >= 0
        at = np.where(at >= 0, up[at], np.int32(-1))
    return depth


def _nearest_alike(up: IntArray, kind: IntArray) -> IntArray:
    """Of every row the innermost around it of the same kind, -1 for none."""
    found: IntArray = up.copy()
    while True:
        other = np.flatnonzero((found >= 0) & (kind[found] != kind))
        if not len(other):
            return found
        found[other] = up[found[other]]
