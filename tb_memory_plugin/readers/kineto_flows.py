"""Arrows of a Kineto trace: ends that flow events tell, as compact columns."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_memory_plugin.readers.kineto_times import TIMES, nanoseconds
from tb_memory_plugin.readers.kineto_work import Work
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.vocabulary import Vocabulary

#: Phases of flow events in the order in which they are along an arrow.
PHASES = ("s", "t", "f")
START, _STEP, FINISH = range(len(PHASES))
#: Categories of arrows from operators to their backwards.
_FORWARD = ("fwdbwd", "forward_backward", "fwd_bwd")
_IDS = frozenset([int, str])
_MOST = 1 << 62
#: Categories of arrows that are followed: a trace has one or two.
_MOST_CATEGORIES = 64

#: A flow event: id, category and phase as in the file, the code of its track, ts, and the row of
#: work that it is written behind, -1 for none.
Flow = tuple[Any, str | None, str, int, Any, int]


def is_forward(category: str) -> bool:
    """Whether arrows of a category lead from operators to their backwards."""
    return category.lower() in _FORWARD


class Flows:
    """A row an end of an arrow, but for those that only say what correlations do.

    ``arrow`` is the number that all ends of one arrow have in common within their ``category`` (a
    code), ``phase`` a place in PHASES, ``row`` the row of work that the end is at, -1 where
    ``track`` and ``time`` (nanoseconds) have to tell. ``tell_backwards`` is whether any leads from
    an operator to its backward.
    """

    def __init__(self) -> None:
        self.categories = Vocabulary()
        self.tell_backwards = False
        self._words = Vocabulary()
        self._columns = {
            "arrow": array("q"),
            "category": array("b"),
            "phase": array("b"),
            "track": array("i"),
            "time": array("q"),
            "row": array("i"),
        }

    def __len__(self) -> int:
        return len(self._columns["arrow"])

    def add(self, flows: Sequence[Flow], work: Work) -> None:
        """More; ``work`` has all rows before them. Raises Malformed."""
        flows = [each for each in flows if type(each[0]) in _IDS and type(each[4]) in TIMES]
        if not flows:
            return
        ids, categories, phases, track, times, row = zip(*flows, strict=True)
        code, place = self.categories.code, {phase: at for at, phase in enumerate(PHASES)}
        columns = {
            "arrow": np.array([self._arrow(each) for each in ids], dtype=np.int64),
            "category": np.array([code(each or "") for each in categories]),
            "phase": np.array([place[each] for each in phases]),
            "track": np.array(track),
            "time": nanoseconds(times),
            "row": np.array(row),
        }
        self.tell_backwards |= any(map(is_forward, {each or "" for each in categories}))
        wanted = columns["category"] < _MOST_CATEGORIES
        if len(work):
            at = np.maximum(columns["row"], 0)
            is_there = columns["row"] >= 0
            is_there &= work.column("track")[at] == columns["track"]
            is_there &= work.column("begin")[at] == columns["time"]
            columns["row"] = np.where(is_there, at, -1)
            wanted &= ~(is_there & (work.column("correlation")[at] == columns["arrow"]))
        for name, values in columns.items():
            column = self._columns[name]
            column.frombytes(values[wanted].astype(column.typecode).tobytes())

    def _arrow(self, id: int | str) -> int:
        if type(id) is int and 0 <= id < _MOST:
            return id
        return -1 - self._words.code(id)

    def take(self, name: str) -> IntArray:
        """A column, which is not kept here."""
        values = self._columns.pop(name)
        return np.frombuffer(values, values.typecode) if values else np.zeros(0, values.typecode)
