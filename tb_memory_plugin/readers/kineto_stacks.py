"""What encloses an allocation in a trace, as its stack, its operator and its module."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.kineto_columns import module_of
from tb_memory_plugin.readers.kineto_nesting import Nested
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.stacks import StackInterner

_PYTHON = re.compile(r"(?P<file>.+)\((?P<line>\d{1,9})\): (?P<name>.+)", re.DOTALL)
_MOST_FRAMES = 1_000


class Surroundings:
    """The spans around instants. ``name`` is the code of every row of ``nested`` in ``names``."""

    def __init__(
        self, nested: Nested, name: IntArray, names: list[str], called: dict[int, str]
    ) -> None:
        self._parent = nested.parent
        self._name, self._names = name, names
        self._called = called
        self._interner = StackInterner()
        self._frames: dict[str, int] = {}
        self._chains: dict[int, tuple[int, ...]] = {-1: ()}

    def stacks(self, rows: IntArray) -> IntArray:
        """The stack of every row: it and what it is inside of, innermost first; -1 for none."""
        known = {row: self._stack(row) for row in np.unique(rows).tolist()}
        known[-1] = -1
        return np.array([known[row] for row in rows.tolist()], dtype=np.int32)

    def nearest(self, rows: IntArray, wanted: IntArray) -> IntArray:
        """Of every row the innermost span around it, itself included, that is ``wanted``."""
        found: IntArray = rows.copy()
        while True:
            other = np.flatnonzero(found >= 0)
            other = other[~wanted[found[other]]]
            if not len(other):
                return found
            found[other] = self._parent[found[other]]

    def tables(self) -> dict[str, pa.Table]:
        """The tables ``frames`` and ``stacks``."""
        return self._interner.tables()

    def _stack(self, row: int) -> int:
        return self._interner.stack((*self._chain(row), *self._python(row))[:_MOST_FRAMES])

    def _python(self, row: int) -> list[int]:
        """Frames of the Python calls that the innermost operator which knows them was made in."""
        while row >= 0 and row not in self._called:
            row = int(self._parent[row])
        return [self._interned(name) for name in self._called.get(row, "").split(";") if name]

    def _chain(self, row: int) -> tuple[int, ...]:
        """Frames of a row and of what it is inside of. No recursion: they may be deep."""
        missing = []
        while row not in self._chains:
            missing.append(row)
            row = int(self._parent[row])
        chain = self._chains[row]
        for row in reversed(missing):
            chain = (self._frame(row), *chain)[:_MOST_FRAMES]
            self._chains[row] = chain
        return chain

    def _frame(self, row: int) -> int:
        return self._interned(self._names[int(self._name[row])])

    def _interned(self, name: str) -> int:
        found = self._frames.get(name)
        if found is None:
            python = _PYTHON.fullmatch(name)
            if python is not None:
                line = min(int(python["line"]), (1 << 31) - 1)
                found = self._interner.frame(text(python["name"]), text(python["file"]), line)
            else:
                found = self._interner.frame(text(name), "", 0)
            self._frames[name] = found
        return found


def modules(names: list[str]) -> list[str | None]:
    """Of every name the module that a call of it is of."""
    return [module_of(name) for name in names]
