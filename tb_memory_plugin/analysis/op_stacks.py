"""Which operators every stack holds: the frames of a trace that are names of operators' spans.

A trace's stacks hold the spans around an allocation (see ``readers.kineto_stacks``): operators are
the frames without a file that are called as a span of kind ``op`` is, or as an allocation's ``op``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


@dataclass(frozen=True)
class OpStacks:
    """Operators by number, and what stacks hold of them.

    ``names`` begin with the words of ``allocations.op``, so that its codes are numbers of
    operators. ``innermost`` gives for every stack, and last for none, its innermost operator, -1
    for none. ``stack`` and ``op`` are all pairs of a stack and an operator anywhere in it, each
    once, in order of stack.
    """

    names: tuple[str, ...]
    innermost: IntArray
    stack: IntArray
    op: IntArray

    @property
    def nested(self) -> bool:
        """Whether stacks say what operators are inside of."""
        return len(self.op) > 0

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
    called = arrays.distinct(arrays.values(spans, "name")[chosen]).tolist()
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
    width = len(known) + 1
    pairs = arrays.distinct(stack.astype(np.int64) * width + op)
    return OpStacks(
        tuple(known), innermost, (pairs // width).astype(np.int32), (pairs % width).astype(np.int32)
    )
