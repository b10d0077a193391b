"""A chunk of trace entries, dictionaries, as columns: one key at a time.

Where the package was built with a C compiler, ``_entries`` reads columns that are regular (all
integers, all known words, all lists); what it does not take, and everything where it is missing
or ``TB_MEMORY_PURE_PYTHON`` is set, is read in Python, to the same values.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from typing import Any

import numpy as np

from tb_memory_plugin.readers.checked import INT64_MAX, Malformed, integers, shown
from tb_memory_plugin.recording.arrays import IntArray

_compiled: Any = None
if not os.environ.get("TB_MEMORY_PURE_PYTHON"):
    with suppress(ImportError):  # where there was no compiler
        from tb_memory_plugin.readers import _entries as _compiled

#: Values, and which of them are none.
Column = tuple[IntArray, IntArray | None]

#: Keys of a trace entry that are read; all others are left alone.
KEYS = (
    "action",
    "addr",
    "size",
    "stream",
    "time_us",
    "frames",
    "forward_frames",
    "compile_context",
    "user_metadata",
    "pool_id",
    "category",
)


class Known:
    """Lists numbered before, by the identity of their items. At most ``most`` are kept."""

    def __init__(self, most: int) -> None:
        self._known = _compiled.Known(most) if _compiled else None

    def numbers(
        self, chunk: Chunk, key: str, unknown: Callable[[list[Any]], int]
    ) -> IntArray | None:
        """The number of each entry's list, -1 for none; ``unknown(list)`` numbers a new one.

        None where they are to be found in Python.
        """
        found = self._known and self._known.numbers(chunk.entries, key, unknown)
        return None if found is None else np.frombuffer(found, dtype=np.int32)


class Chunk:
    """Some entries of a trace; ``first`` is the place of the first of them. Raises Malformed."""

    def __init__(self, entries: list[dict[str, Any]], first: int) -> None:
        if set(map(type, entries)) != {dict}:
            wrong = next(place for place, entry in enumerate(entries) if type(entry) is not dict)
            raise Malformed(f"entry {first + wrong} is {shown(entries[wrong])}, not a dictionary")
        self.entries = entries
        self.first = first
        self._values: dict[str, list[Any] | None] | None = None

    def integers(self, key: str, *, unsigned: bool = False) -> Column:
        """A column of integers and the mask of those that are none. Raises Malformed."""
        found = _compiled and _compiled.integers(self.entries, key)
        if found is not None:
            column = np.frombuffer(found, dtype=np.uint64)
            if unsigned:
                return column, None
            if int(column.max()) <= INT64_MAX:
                return column.view(np.int64), None
        return integers(self.values(key), key, unsigned=unsigned, first=self.first)

    def codes(self, key: str, known: dict[str, int]) -> IntArray | None:
        """Each word as the byte that ``known`` has for it; None unless all are known."""
        if _compiled:
            found = _compiled.codes(self.entries, key, known)
            return None if found is None else np.frombuffer(found, dtype=np.uint8)
        words = self.values(key)
        if set(map(type, words)) == {str}:
            try:
                return np.frombuffer(bytes(map(known.__getitem__, words)), dtype=np.uint8)
            except KeyError:
                pass
        return None

    def values(self, key: str) -> list[Any]:
        """Each entry's value, None for an entry without the key."""
        return self.optional(key) or [None] * len(self.entries)

    def optional(self, key: str) -> list[Any] | None:
        """Each entry's value; None if no entry has the key."""
        if _compiled:
            found: list[Any] | None = _compiled.values(self.entries, key)
            return found
        if self._values is None:
            self._values = _values(self.entries)
        return self._values[key]


def _values(entries: list[dict[str, Any]]) -> dict[str, list[Any] | None]:
    """Each known key's values; None for a key that no entry has."""
    found = [key for key in KEYS if key in entries[0]]
    values: dict[str, list[Any] | None] = {}
    if len(found) > 1:  # then itemgetter makes tuples
        try:
            rows = map(itemgetter(*found), entries)
            values.update(zip(found, map(list, zip(*rows, strict=True)), strict=True))
        except KeyError:
            pass  # an entry is without one of them
    alike = len(values) == max(map(len, entries))  # no entry has a further key
    present: set[str] = set() if alike else set().union(*entries)
    for key in KEYS:
        if key not in values:
            values[key] = [entry.get(key) for entry in entries] if key in present else None
    return values
