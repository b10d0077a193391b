"""What encloses an allocation in a trace, as its stack, its operator and its module."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.stacks import StackInterner

_PYTHON = re.compile(r"(?P<file>.+)\((?P<line>\d{1,9})\): (?P<name>.+)", re.DOTALL)
_MOST_FRAMES = 1_000


class Surroundings:
    """The spans around instants.

    ``parent`` is of every row the row that it is inside of, -1 for none; ``name`` its code in
    ``names``; ``called`` by row the Python calls that an operator was made in. Names in ``passing``
    are in no stack: what is done in every step would be called differently in each.
    """

    def __init__(
        self,
        parent: IntArray,
        name: IntArray,
        names: Sequence[str],
        called: dict[int, str],
        passing: Collection[int] = (),
    ) -> None:
        self._parent, self._names = parent, names
        # Single values are had from these faster than from arrays.
        self._parent_of, self._name_of = parent.data, name.data
        self._called, self._passing = called, frozenset(passing)
        self._interner = StackInterner()
        self._frames: dict[int, int] = {}
        self._by_name: dict[str, int] = {}
        # Chains of frames as a tree: few, where spans are many. Node 0 is no frame at all.
        self._nodes: dict[int, int] = {}
        self._outer, self._frame_of = array("i", [0]), array("i", [-1])

    def stacks(self, rows: IntArray) -> IntArray:
        """The stack of every row: it and what it is inside of, innermost first; -1 for none."""
        wanted = np.zeros(len(self._parent), dtype=bool)
        wanted[rows[rows >= 0]] = True
        node_of = array("i", [-1]) * len(self._parent)
        stack_of = np.full(len(self._parent) + 1, -1, dtype=np.int32)  # the last is that of row -1
        known: dict[int, int] = {}
        with_calls: dict[tuple[int, str], int] = {}
        if (rows < 0).any():
            self._interner.stack(())
        for row in array("i", np.flatnonzero(wanted).astype(np.int32).tobytes()):
            node = self._node(row, node_of)
            calls = self._calls(row)
            found = with_calls.get((node, calls)) if calls else known.get(node)
            if found is None:
                frames = [*self._chain(node), *self._python(calls)]
                found = self._interner.stack(frames[:_MOST_FRAMES]) if frames else -1
                if calls:
                    with_calls[node, calls] = found
                else:
                    known[node] = found
            stack_of[row] = found
        return stack_of[rows]

    def tables(self) -> dict[str, pa.Table]:
        """The tables ``frames`` and ``stacks``."""
        return self._interner.tables()

    def _calls(self, row: int) -> str:
        """The Python calls that the innermost operator which knows them was made in."""
        if not self._called:
            return ""
        while row >= 0 and row not in self._called:
            row = self._parent_of[row]
        return self._called.get(row, "")

    def _python(self, calls: str) -> list[int]:
        return [self._interned(name) for name in calls.split(";") if name]

    def _node(self, row: int, node_of: array[int]) -> int:
        """The node of a row. No recursion: they may be deep."""
        missing = []
        while row >= 0 and node_of[row] < 0:
            missing.append(row)
            row = self._parent_of[row]
        node = node_of[row] if row >= 0 else 0
        for row in reversed(missing):
            if self._name_of[row] in self._passing:
                node_of[row] = node
                continue
            outer, frame = node, self._frame(self._name_of[row])
            node = self._nodes.setdefault(outer << 32 | frame, len(self._outer))
            if node == len(self._outer):
                self._outer.append(outer)
                self._frame_of.append(frame)
            node_of[row] = node
        return node

    def _chain(self, node: int) -> list[int]:
        frames: list[int] = []
        while node and len(frames) < _MOST_FRAMES:
            frames.append(self._frame_of[node])
            node = self._outer[node]
        return frames

    def _frame(self, name: int) -> int:
        found = self._frames.get(name)
        if found is None:
            found = self._frames[name] = self._interned(self._names[name])
        return found

    def _interned(self, name: str) -> int:
        found = self._by_name.get(name)
        if found is None:
            python = _PYTHON.fullmatch(name)
            if python is not None:
                line = min(int(python["line"]), (1 << 31) - 1)
                found = self._interner.frame(text(python["name"]), text(python["file"]), line)
            else:
                found = self._interner.frame(text(name), "", 0)
            self._by_name[name] = found
        return found
