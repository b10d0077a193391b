"""What the program of a Kineto trace did: its spans, nested, and what they say of an instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.kineto_columns import Columns, module_of, step_of
from tb_memory_plugin.readers.kineto_idle import drop_idle_calls
from tb_memory_plugin.readers.kineto_kinds import MODULE, OP, PYTHON, STEP
from tb_memory_plugin.readers.kineto_stacks import Surroundings
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.nesting import (
    Nested,
    in_order,
    lasting,
    nearest,
    nested_in_order,
)

#: Spans of a trace up to which all calls of Python are kept.
MOST_SPANS = 4_000_000


class Program:
    """What the host's threads did, by track and time: operators, annotations, calls of Python.

    Attributes:
        has_steps: whether a step is marked.
        has_python: whether Python calls are known.
        first: when the first span begins; None where there is none.
        numbered: rows that say which operators they are the backwards of, or can have any.
        idle: calls of Python that are left out, as nothing was allocated in them.
    """

    def __init__(self, columns: Columns) -> None:
        """Takes the columns of ``columns.spans``; what matters is around its allocator's events."""
        spans = columns.spans
        begins = [each.column("begin") for each in (spans, columns.work)]
        self.first = min((int(begin.min()) for begin in begins if len(begin)), default=None)
        self.has_python = bool(columns.called) or bool((spans.column("kind") == PYTHON).any())
        del begins
        before = len(spans)
        if before + len(columns.work) > MOST_SPANS:
            drop_idle_calls(columns)
        self.idle = before - len(spans)
        self.names = columns.names.words
        self.steps = [step_of(name) for name in self.names]
        self._modules = [module_of(name) for name in self.names]
        track, begin, end = (spans.take(name) for name in ("track", "begin", "end"))
        order = in_order(track, begin, end)
        begin, end, self.track = begin[order], end[order], track[order]
        del track
        self.nested: Nested = nested_in_order(self.track, begin, end)
        self.name, self.args = (spans.take(name)[order] for name in ("name", "args"))
        kind = spans.take("kind")
        self.numbered = columns.sequences.take(kind != PYTHON, order)
        self.kind = self._kinds(kind[order])
        called = _called(columns, order)
        self._outer = lasting(self.nested.parent, end)
        steps = [code for code, step in enumerate(self.steps) if step is not None]
        self._around = Surroundings(self._outer, self.name, self.names, called, steps)
        self.has_steps = bool((self.kind == STEP).any())

    def _kinds(self, kind: IntArray) -> IntArray:
        if not len(kind):
            return kind
        is_step = np.array([step is not None for step in self.steps], dtype=bool)
        is_module = np.array([module is not None for module in self._modules], dtype=bool)
        kind[is_step[self.name]] = STEP
        kind[(kind == PYTHON) & is_module[self.name]] = MODULE
        return kind

    def at(self, track: IntArray, time: IntArray) -> IntArray:
        """The row of the innermost span of its thread at each instant, -1 for none."""
        return self.nested.enclosing(track, time)

    def stacks(self, rows: IntArray) -> IntArray:
        """The stack of every row: it and what it is inside of, innermost first; -1 for none."""
        return self._around.stacks(rows)

    def ops(self) -> IntArray:
        """Of every row, and of row -1, the innermost operator around it, -1 for none."""
        return nearest(self._outer, self.kind == OP)

    def called(self, rows: IntArray) -> pa.DictionaryArray:
        """What every row is called; row -1 is nothing."""
        return _words(self._codes(rows), lambda code: text(self.names[code]))

    def module(self, rows: IntArray) -> pa.DictionaryArray:
        """The innermost module around every row."""
        found = nearest(self._outer, self.kind == MODULE)[rows]
        return _words(self._codes(found), lambda code: self._modules[code] or "")

    def _codes(self, rows: IntArray) -> IntArray:
        """Of every row the code of its name, -1 for row -1."""
        if not len(self.name):
            return rows
        return np.where(rows >= 0, self.name[rows], np.int32(-1))

    def frames(self) -> dict[str, pa.Table]:
        """The tables ``frames`` and ``stacks``; what is around rows is not known here any more."""
        found = self._around.tables()
        del self._around, self._outer
        return found

    def take(self, name: str) -> Any:
        """``nested``, ``track``, ``kind``, ``name``, ``args``, ``numbered``: not kept here then."""
        found = getattr(self, name)
        delattr(self, name)
        return found


def _called(columns: Columns, order: IntArray) -> dict[int, str]:
    """By row the Python calls that an operator was made in."""
    if not columns.called:
        return {}
    calls = columns.calls.words
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return {int(place[row]): calls[code] for row, code in columns.called.items()}


def _words(codes: IntArray, word: Any) -> pa.DictionaryArray:
    """A text column of ``word(code)`` (-1 is null), its words in order of appearance."""
    distinct, first = np.unique(codes, return_index=True)
    appear = distinct[np.argsort(first)]
    known: dict[str, int] = {}
    code_of = np.full(int(codes.max(initial=-1)) + 2, -1, dtype=np.int32)  # the last is -1's
    for code in appear[appear >= 0].tolist():
        code_of[code] = known.setdefault(word(code), len(known))
    return arrays.text(code_of[codes], list(known))
