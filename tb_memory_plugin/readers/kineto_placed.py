"""Calls of the runtime, kernels and copies of a trace, by track, and what is around them."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.readers.kineto_kinds import RUNTIME
from tb_memory_plugin.readers.kineto_work import Work
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.nesting import (
    Nested,
    depths_of_kind,
    in_order,
    nested_in_order,
)


class PlacedWork:
    """The rows of ``work``, those of the host's threads first, by track, begin and end.

    ``track`` counts the devices' tracks from ``tracks`` on, the number of the host's. ``order`` are
    the places of the rows in the file. A call is nobody's parent but another call's: what rounded
    times make of it is not what happened.
    """

    def __init__(self, work: Work, tracks: int) -> None:
        """Takes the columns of ``work``."""
        kind, track, begin, end = (work.take(name) for name in ("kind", "track", "begin", "end"))
        track = track + np.int32(tracks) * (kind != RUNTIME)
        self.tracks = tracks
        self.order = in_order(track, begin, end)
        self.kind, self.track = kind[self.order], track[self.order]
        self.nested: Nested = nested_in_order(self.track, begin[self.order], end[self.order])
        self.name, self.args = (work.take(name)[self.order] for name in ("name", "args"))
        self.correlation = work.take("correlation")[self.order]

    def __len__(self) -> int:
        return len(self.kind)

    def calls(self) -> int:
        """How many rows, the first ones, are calls on the host."""
        return int(np.searchsorted(self.track, self.tracks))

    def rows_of(self, places: IntArray) -> IntArray:
        """The rows of places in the file, -1 for place -1."""
        row_of = np.full(len(self.order) + 1, -1, dtype=np.int32)
        row_of[self.order] = np.arange(len(self.order), dtype=np.int32)
        found: IntArray = row_of[places]
        return found

    def within(
        self, program: Nested, at: IntArray, track: IntArray, time: IntArray, *, ended: bool
    ) -> IntArray:
        """The row of the call that is innermost at each time on each track; -1 where none is.

        ``at`` are the rows of ``program`` then; what ends then may count as ``ended``.
        """
        return self._later(self.nested.enclosing(track, time, ended=ended), program, at)

    def parents(self, program: Nested) -> IntArray:
        """Of every row the row that it is inside of, those of ``program`` first; -1 for none."""
        calls = self.calls()
        before = len(program.begin)
        own = self.nested.parent
        found: IntArray = np.where(own >= 0, own + np.int32(before), np.int32(-1))
        at = program.enclosing(self.track[:calls], self.nested.begin[:calls], ended=True)
        later = self._later(own[:calls], program, at)
        found[:calls] = np.where(later >= 0, later + np.int32(before), at)
        return found

    def depths(self) -> IntArray:
        """Of every row how many of its own kind it is inside of."""
        nested = self.nested
        return depths_of_kind(self.track, nested.begin, nested.end, self.kind)

    def _later(self, call: IntArray, program: Nested, at: IntArray) -> IntArray:
        """``call``, -1 where it began before ``at``, a row of ``program``, did."""
        if not len(program.begin) or not len(self):
            return call
        is_later = self.nested.begin[call] >= program.begin[at]
        return np.where((call >= 0) & ((at < 0) | is_later), call, np.int32(-1))
