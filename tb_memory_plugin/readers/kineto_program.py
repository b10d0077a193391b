"""What the program of a Kineto trace did: its spans, nested, and what they say of an instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.kineto_columns import module_of, step_of
from tb_memory_plugin.readers.kineto_idle import drop_idle_calls
from tb_memory_plugin.readers.kineto_instants import Instants
from tb_memory_plugin.readers.kineto_spans import Spans
from tb_memory_plugin.readers.kineto_stacks import Surroundings
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.aside import set_aside
from tb_memory_plugin.recording.nesting import (
    Nested,
    depths_of_kind,
    in_order,
    lasting,
    nearest,
    nested_in_order,
)

_KINDS = ["op", "annotation", "python", "kernel", "step", "module"]
_OP, _ANNOTATION, _PYTHON, _KERNEL, _STEP, _MODULE = range(6)

#: Spans of a trace up to which all calls of Python are kept.
MOST_SPANS = 4_000_000


class Program:
    """The spans of a trace, by track and time.

    Attributes:
        has_steps: whether a step is marked.
        has_python: whether Python calls are known.
        first: when the first span begins; None where there is none.
        idle: calls of Python that are left out, as nothing was allocated in them.
    """

    def __init__(self, spans: Spans, memory: Instants) -> None:
        """Takes the columns of ``spans``; what matters of them is around events of ``memory``."""
        begin, kind = spans.column("begin"), spans.column("kind")
        python = spans.kinds.codes.get("python", -1)
        self.first = int(begin.min()) if len(begin) else None
        self.has_python = bool(spans.called) or bool((kind == python).any())
        del begin, kind
        before = len(spans)
        if before > MOST_SPANS:
            drop_idle_calls(spans, memory)
        self.idle = before - len(spans)
        self._names = spans.names.words
        self._tracks = spans.tracks.words
        self._steps = [step_of(name) for name in self._names]
        self._modules = [module_of(name) for name in self._names]
        track, begin, end = (spans.take(name) for name in ("track", "begin", "end"))
        order = in_order(track, begin, end)
        begin, end, self._track = begin[order], end[order], track[order]
        del track
        self._nested: Nested = nested_in_order(self._track, begin, end)
        self._name = spans.take("name")[order]
        self._kind = self._kinds(spans, order)
        called = _called(spans, order)
        self._outer = lasting(self._nested.parent, end)
        self._around = Surroundings(self._outer, self._name, self._names, called)
        self.has_steps = bool((self._kind == _STEP).any())

    def _kinds(self, spans: Spans, order: IntArray) -> IntArray:
        codes = np.array([_KINDS.index(kind) for kind in spans.kinds.words], dtype=np.int8)
        kind = spans.take("kind")[order]
        if not len(kind):
            return kind
        kind = codes[kind]
        is_step = np.array([step is not None for step in self._steps], dtype=bool)
        is_module = np.array([module is not None for module in self._modules], dtype=bool)
        kind[(kind != _KERNEL) & is_step[self._name]] = _STEP
        kind[(kind == _PYTHON) & is_module[self._name]] = _MODULE
        return kind

    def at(self, track: IntArray, time: IntArray) -> IntArray:
        """The row of the innermost span of its thread at each instant, -1 for none."""
        return self._nested.enclosing(track, time)

    def stacks(self, rows: IntArray) -> IntArray:
        """The stack of every row: it and what it is inside of, innermost first; -1 for none."""
        return self._around.stacks(rows)

    def op(self, rows: IntArray) -> pa.DictionaryArray:
        """The innermost operator around every row."""
        found = nearest(self._outer, self._kind == _OP)[rows]
        return _words(self._codes(found), lambda code: text(self._names[code]))

    def module(self, rows: IntArray) -> pa.DictionaryArray:
        """The innermost module around every row."""
        found = nearest(self._outer, self._kind == _MODULE)[rows]
        return _words(self._codes(found), lambda code: self._modules[code] or "")

    def _codes(self, rows: IntArray) -> IntArray:
        """Of every row the code of its name, -1 for row -1."""
        if not len(self._name):
            return rows
        return np.where(rows >= 0, self._name[rows], np.int32(-1))

    def frames(self) -> dict[str, pa.Table]:
        """The tables ``frames`` and ``stacks``."""
        return self._around.tables()

    def take(self, origin: int) -> pa.Table:
        """The table ``spans``, in the order of the rows. Nothing is kept here."""
        return set_aside(builder.table("spans", dict(self._span_columns(origin))))

    def _span_columns(self, origin: int) -> Iterable[tuple[str, pa.Array]]:
        """One after the other: all of them together would be in memory twice."""
        nested, kind, track, name = self._nested, self._kind, self._track, self._name
        del self._nested, self._kind, self._track, self._name, self._around, self._outer
        words = [text(each) for each in self._names]
        begin, end, parent = nested.begin, nested.end, nested.parent
        del nested
        yield "parent", arrays.column(parent, pa.int32(), parent < 0, "parent")
        del parent
        depth = depths_of_kind(track, begin, end, kind)
        yield "depth", arrays.column(depth, pa.int32(), name="depth")
        del depth
        yield "track", arrays.text(track, _track_names(self._tracks))
        del track
        for column, times in (("begin", begin), ("end", end)):
            times -= origin
            yield column, arrays.adopted(times, pa.int64())
        del begin, end, times
        steps = np.array([-1 if step is None else step for step in self._steps] or [-1], "i8")
        is_step = kind == _STEP
        step = np.where(is_step, steps[name], -1) if len(is_step) else is_step
        yield "step", arrays.column(step, pa.int64(), step < 0, "step")
        del step, is_step
        yield "kind", arrays.text(kind, _KINDS)
        yield "name", arrays.text(name, words)


def _called(spans: Spans, order: IntArray) -> dict[int, str]:
    """By row the Python calls that an operator was made in."""
    if not spans.called:
        return {}
    calls = spans.calls.words
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return {int(place[row]): calls[code] for row, code in spans.called.items()}


def _words(codes: IntArray, word: Any) -> pa.DictionaryArray:
    """A text column of ``word(code)`` (-1 is null), its words in order of appearance."""
    distinct, first = np.unique(codes, return_index=True)
    appear = distinct[np.argsort(first)]
    known: dict[str, int] = {}
    code_of = np.full(int(codes.max(initial=-1)) + 2, -1, dtype=np.int32)  # the last is -1's
    for code in appear[appear >= 0].tolist():
        code_of[code] = known.setdefault(word(code), len(known))
    return arrays.text(code_of[codes], list(known))


def _track_names(tracks: Sequence[Any]) -> list[str]:
    return [
        text(f"thread {tid}" if pid == tid else f"process {pid} thread {tid}")
        for pid, tid in tracks
    ]
