"""What took time in a Kineto trace: spans as compact columns that grow batch by batch."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tb_memory_plugin.readers.kineto_times import nanoseconds
from tb_memory_plugin.recording.arrays import IntArray


class Spans:
    """A row a span, in the order of the file. Times are nanoseconds of the file.

    ``name``, ``kind``, ``track`` and ``args`` are codes (of args -1 for none); ``more`` names
    further columns of integers.
    """

    def __init__(self, *more: str) -> None:
        self._columns = {
            "name": array("i"),
            "kind": array("b"),
            "track": array("i"),
            "begin": array("q"),
            "end": array("q"),
            "args": array("i"),
            **{name: array("q") for name in more},
        }

    def __len__(self) -> int:
        return len(self._columns["name"])

    def add(
        self, begins: Sequence[Any], lengths: Sequence[Any], **codes: Sequence[int] | IntArray
    ) -> None:
        """More rows: times in microseconds, and all other columns. Raises Malformed."""
        begin, length = nanoseconds(begins), nanoseconds(lengths)
        for name, values in codes.items():
            column = self._columns[name]
            if isinstance(values, np.ndarray):
                column.frombytes(values.astype(column.typecode).tobytes())
            else:
                column.extend(values)
        self._columns["begin"].frombytes(begin.tobytes())
        self._columns["end"].frombytes((begin + np.maximum(length, 0)).tobytes())

    def keep_only(self, chosen: Callable[[dict[str, IntArray]], IntArray], part: int) -> None:
        """Keep the rows that ``chosen`` says of columns of ``part`` rows at a time, in place."""
        kept = self._packed(chosen, part)
        for values in self._columns.values():
            del values[kept:]

    def _packed(self, chosen: Callable[[dict[str, IntArray]], IntArray], part: int) -> int:
        kept = 0
        whole = {name: self.column(name) for name in self._columns}
        for begin in range(0, len(self), part):
            columns = {name: column[begin : begin + part] for name, column in whole.items()}
            rows = np.flatnonzero(chosen(columns))
            for name, column in whole.items():
                column[kept : kept + len(rows)] = columns[name][rows]
            kept += len(rows)
        return kept

    def column(self, name: str) -> IntArray:
        """A column as it is so far."""
        values = self._columns[name]
        return np.frombuffer(values, values.typecode) if values else np.zeros(0, values.typecode)

    def take(self, name: str) -> IntArray:
        """A column, which is not kept here."""
        values = self.column(name)
        del self._columns[name]
        return values
