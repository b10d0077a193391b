"""Calls of Python functions, as JAX's and TensorFlow's tracers write them, made into stacks."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.stacks import StackInterner

#: ``$train.py:30 step``, ``$builtins isinstance``: the file without its folder.
_CALL = re.compile(r"\$(?P<file>[^:]*\.\w+):(?P<line>\d{1,9}) (?P<name>.+)", re.DOTALL)
#: Frames of one stack, and of all together: only damaged files have as many.
_MOST_FRAMES, _MOST_OF_ALL = 1_000, 20_000_000


class Calls:
    """The stacks of rows: ``closest`` is the call around each, ``outer`` the one around that.

    -1 is none; ``name`` is every row's place in ``names``.
    """

    def __init__(
        self, closest: IntArray, outer: IntArray, name: IntArray, names: list[str]
    ) -> None:
        self._closest, self._outer = closest, outer
        self._name, self._names = name, names
        self._interner = StackInterner()
        #: A chain is a frame and the chain of what called it, by number; 0 is of no call.
        self._chains: dict[tuple[int, int], int] = {(-1, -1): 0}
        self._of_row: dict[int, int] = {-1: 0}
        self._frames: dict[int, int] = {}

    def stacks(self, rows: IntArray) -> IntArray:
        """The stack of every row, innermost first; -1 for what is in no call that was traced."""
        distinct, place = np.unique(self._closest[rows], return_inverse=True)
        chains = np.array([self._chain(row) for row in distinct.tolist()], dtype=np.int64)
        used = np.unique(chains)
        stacks = np.full(len(self._chains), -1, dtype=np.int32)
        links = list(self._chains)
        most = min(_MOST_FRAMES, max(_MOST_OF_ALL // len(used), 1))
        for chain in used[used > 0].tolist():
            stacks[chain] = self._interner.stack(_frames(chain, links, most))
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
            row = int(self._outer[row])
        chain = self._of_row[row]
        for row in reversed(missing):
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


def _frames(chain: int, links: list[tuple[int, int]], most: int) -> list[int]:
    found: list[int] = []
    while chain and len(found) < most:
        frame, chain = links[chain]
        found.append(frame)
    return found
