"""The columns of one device's trace, filled a chunk at a time."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tb_memory_plugin.readers.torch_words import Codes
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import Action

_KINDS: dict[str, type[np.integer[Any]]] = {
    "action": np.uint8,
    "address": np.uint64,
    "size": np.int64,
    "stream": np.uint64,
    "time": np.int64,  # microseconds, as in the file
    "stack": np.int32,
    "forward_stack": np.int32,
    "pool": np.int32,
    "compile_context": np.int32,
    "user_metadata": np.int32,
}


@dataclass(frozen=True)
class Special:
    """An entry that is worth a row elsewhere: out of memory, a snapshot, a nightly's annotation."""

    event: int
    action: Action
    time_us: int | None
    entry: dict[str, Any]


class Trace:
    """One device's entries.

    Attributes:
        columns: by the names of the ``events`` table; codes are -1 where there is none.
        missing: masks of the rows without a value, for columns that have such rows.
        special: entries for ``marks`` and ``spans``.
        categories: event, address and word of the births whose category is known.
        strange_times: how many time stamps were left out, because they are none.
    """

    def __init__(self, length: int) -> None:
        self.columns: dict[str, IntArray] = {
            name: np.empty(length, dtype=kind) for name, kind in _KINDS.items()
        }
        self.missing: dict[str, IntArray] = {}
        self.special: list[Special] = []
        self.categories: list[tuple[int, int, str]] = []
        self.strange_times = 0

    @property
    def times(self) -> IntArray:
        """The time stamps that are known, in microseconds as in the file."""
        missing = self.missing.get("time")
        times = self.columns["time"]
        return times if missing is None else times[~missing]

    def without_times(self) -> None:
        """Leave all time stamps out."""
        self.missing["time"] = np.ones(len(self.columns["time"]), dtype=bool)
        self.special = [replace(special, time_us=None) for special in self.special]

    def put(self, name: str, rows: slice, column: tuple[IntArray, IntArray | None]) -> None:
        """Fill ``rows`` of a column with values, and the mask of those that are none."""
        values, missing = column
        self.columns[name][rows] = values
        if missing is not None:
            empty = np.zeros(len(self.columns[name]), dtype=bool)
            self.missing.setdefault(name, empty)[rows] = missing

    def put_codes(self, name: str, rows: slice, codes: Codes) -> None:
        """Fill ``rows`` of a column of codes."""
        values = codes if isinstance(codes, int) else np.frombuffer(array("i", codes), "i")
        self.columns[name][rows] = values
