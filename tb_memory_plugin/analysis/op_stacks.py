"""Which operators every stack holds: the frames of a trace that are names of operators' spans.

A trace's stacks hold the spans around an allocation (see ``readers.kineto_stacks``): operators are
the frames without a file that are called as a span of kind ``op`` is, or as an allocation's ``op``.
Where no stack holds any, events may say which span they happened in (those of XPlanes do): what is
around that span then takes the place of a stack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action

#: Levels of nesting, and pairs of a span and what is around it, that are looked at.
_DEEPEST = 1_000
_MOST_PAIRS = 1 << 24


@dataclass(frozen=True)
class OpStacks:
    """Operators by number, and what stacks hold of them.

    ``names`` begin with the words of ``allocations.op``, so that its codes are numbers of
    operators. ``innermost`` gives for every stack, and last for none, its innermost operator, -1
    for none. ``stack`` and ``op`` are all pairs of a stack and an operator anywhere in it, each
    once, in order of stack. ``spans``, where it is not empty, are the rows of the spans, in
    order, that stand for stacks; their innermost operators are not told: what an allocation was
    made by its label says, or nothing. ``cut``: spans nest deeper than was looked at, so what
    the outermost operators are around is not all told.
    """

    names: tuple[str, ...]
    innermost: IntArray
    stack: IntArray
    op: IntArray
    spans: IntArray
    cut: bool = False

    @property
    def nested(self) -> bool:
        """Whether stacks say what operators are inside of."""
        return len(self.op) > 0

    @property
    def by_span(self) -> bool:
        """Whether spans stand for stacks."""
        return len(self.spans) > 0

    def around_births(self, recording: Recording, device: Device) -> IntArray:
        """The stack that each allocation of a device was made with, -1 for none."""
        if not self.by_span:
            return recording.values("allocations", "birth_stack", device)
        birth = recording.values("allocations", "birth", device)
        span = recording.values("events", "span", device)
        older = int(np.searchsorted(birth, 0))
        found = np.full(len(birth), -1, dtype=np.int32)
        own = span[birth[older:]]
        place = np.minimum(np.searchsorted(self.spans, own), len(self.spans) - 1)
        found[older:] = np.where(self.spans[place] == own, place, -1)
        return found

    def holds(self, stack: IntArray, op: IntArray) -> IntArray:
        """Whether each of some stacks (-1: none) has an operator in it."""
        width = len(self.names) + 1
        pairs = self.stack.astype(np.int64) * width + self.op
        asked = stack.astype(np.int64) * width + op
        place = np.minimum(np.searchsorted(pairs, asked), max(len(pairs) - 1, 0))
        found: IntArray = pairs[place] == asked if len(pairs) else np.zeros(len(asked), dtype=bool)
        return found


def op_stacks(recording: Recording) -> OpStacks:
    """The operators in the stacks of a recording, worked out once."""
    return memo(recording, "op_stacks", lambda: _found(recording))


def _found(recording: Recording) -> OpStacks:
    names = arrays.words(recording.table("allocations"), "op")
    spans = recording.table("spans")
    ops = [code for code, kind in enumerate(arrays.words(spans, "kind")) if kind == "op"]
    chosen = np.isin(arrays.values(spans, "kind"), ops)
    span_names = arrays.words(spans, "name")
    named = arrays.values(spans, "name")
    called = arrays.distinct(named[chosen]).tolist()
    known = dict.fromkeys([*names, *(span_names[code] for code in called if code >= 0)])
    place = {name: number for number, name in enumerate(known)}

    frames = recording.table("frames")
    functions = [*arrays.words(frames, "function"), None]
    files = [*arrays.words(frames, "file"), None]
    number = np.array([place.get(name or "", -1) for name in functions], dtype=np.int32)
    without_file = np.array([not file for file in files])
    of_frame = number[arrays.values(frames, "function")]
    of_frame = np.where(without_file[arrays.values(frames, "file")], of_frame, -1)

    layout, offsets = stack_layout(recording)
    count = len(offsets) - 1
    innermost = np.full(count + 1, -1, dtype=np.int32)
    held = np.append(of_frame, -1)[layout]
    places = np.flatnonzero(held >= 0)
    stack = np.searchsorted(offsets, places, side="right") - 1
    op = held[places]
    first = np.flatnonzero(np.append(True, stack[1:] != stack[:-1])[: len(stack)])
    innermost[stack[first]] = op[first]
    used, cut = np.zeros(0, dtype=np.int64), False
    if not len(op):
        codes = np.array([place.get(name, -1) for name in span_names] + [-1], dtype=np.int32)
        used, stack, op, cut = _in_spans(recording, np.where(chosen, codes[named], -1))
        if len(op):
            innermost = np.full(len(used) + 1, -1, dtype=np.int32)
        else:
            used = used[:0]
    width = len(known) + 1
    pairs = arrays.distinct(stack.astype(np.int64) * width + op)
    return OpStacks(
        tuple(known),
        innermost,
        (pairs // width).astype(np.int32),
        (pairs % width).astype(np.int32),
        used,
        cut,
    )


def _in_spans(recording: Recording, op: IntArray) -> tuple[IntArray, IntArray, IntArray, bool]:
    """The spans that something was allocated in, and pairs of a place in them and an operator.

    ``op`` is of every span its operator, -1 for none. A span is inside of those among its parents
    that do not end before it does; of very deep ones the innermost count, and last is whether
    there are any.
    """
    parent, end = (recording.values("spans", name) for name in ("parent", "end"))
    born = recording.values("events", "action") == Action.ALLOC
    at = recording.values("events", "span")
    used = arrays.distinct(at[born & (at >= 0)])
    row, own = used, np.arange(len(used))
    stacks, ops = [own[:0]], [op[:0]]
    for _ in range(min(_DEEPEST, _MOST_PAIRS // max(len(used), 1))):
        if not len(row):
            break
        inside = (op[row] >= 0) & (end[row] >= end[used[own]])
        stacks.append(own[inside])
        ops.append(op[row[inside]])
        outer = parent[row]
        further = (outer >= 0) & (outer < row)
        row, own = outer[further], own[further]
    return used, np.concatenate(stacks), np.concatenate(ops), len(row) > 0
