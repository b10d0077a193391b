"""Calls of Python functions, as JAX's and TensorFlow's tracers write them, made into stacks."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.kineto_nesting import Nested
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.stacks import StackInterner

#: ``$train.py:30 step``, ``$builtins isinstance``: the file without its folder.
_CALL = re.compile(r"\$(?P<file>[^:]*\.\w+):(?P<line>\d{1,9}) (?P<name>.+)", re.DOTALL)
_MOST_FRAMES = 1_000


class Calls:
    """The stacks of rows of ``nested``, of which ``wanted`` are calls by ``name`` in ``names``."""

    def __init__(self, nested: Nested, wanted: IntArray, name: IntArray, names: list[str]) -> None:
        self._parent, self._wanted = nested.parent, wanted
        self._name, self._names = name, names
        self._interner = StackInterner()
        #: A chain is a frame and the chain of what called it, by number; 0 is of no call.
        self._chains: dict[tuple[int, int], int] = {(-1, -1): 0}
        self._of_row: dict[int, int] = {-1: 0}
        self._frames: dict[int, int] = {}

    def stacks(self, rows: IntArray) -> IntArray:
        """The stack of every row, innermost first; -1 for what is in no call that was traced."""
        distinct, place = np.unique(rows, return_inverse=True)
        chains = np.array([self._chain(row) for row in distinct.tolist()], dtype=np.int64)
        used = np.unique(chains)
        stacks = np.full(len(self._chains), -1, dtype=np.int32)
        links = list(self._chains)
        for chain in used[used > 0].tolist():
            stacks[chain] = self._interner.stack(_frames(chain, links))
        found: IntArray = stacks[chains[place]]
        return found

    def tables(self) -> dict[str, pa.Table]:
        """The tables ``frames`` and ``stacks``."""
        return self._interner.tables()

    def _chain(self, row: int) -> int:
        """The chain of a row and of what it is inside of. No recursion: they may be deep."""
        missing = []
        while row not in self._of_row:
            missing.append(row)
            row = int(self._parent[row])
        chain = self._of_row[row]
        for row in reversed(missing):
            if self._wanted[row]:
                chain = self._chains.setdefault((self._frame(row), chain), len(self._chains))
            self._of_row[row] = chain
        return chain

    def _frame(self, row: int) -> int:
        code = int(self._name[row])
        found = self._frames.get(code)
        if found is None:
            call = _CALL.fullmatch(self._names[code])
            if call is not None:
                line = min(int(call["line"]), (1 << 31) - 1)
                found = self._interner.frame(call["name"], call["file"], line)
            else:
                found = self._interner.frame(self._names[code].removeprefix("$"), "", 0)
            self._frames[code] = found
        return found


def _frames(chain: int, links: list[tuple[int, int]]) -> list[int]:
    found: list[int] = []
    while chain and len(found) < _MOST_FRAMES:
        frame, chain = links[chain]
        found.append(frame)
    return found
