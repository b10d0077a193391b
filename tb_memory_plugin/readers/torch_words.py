"""Texts and pools of trace entries to codes, shared by all traces of a snapshot."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import Any

from tb_memory_plugin.readers.checked import (
    UINT64_MAX,
    Malformed,
    integer,
    plain,
    sequence,
    shown,
    text,
)

#: One code for all values, or one for each; -1 for none.
Codes = int | list[int]

_NO_CONTEXT = ("", "N/A")


class Words:
    """The texts under one key of the entries, to codes in order of appearance."""

    def __init__(self, key: str, *, mappings: bool = False) -> None:
        self.known: dict[str, int] = {}
        self._key = key
        self._mappings = mappings

    def codes(self, values: list[Any]) -> Codes:
        """The codes of a chunk's values. Raises Malformed."""
        if type(values[0]) is str and values.count(values[0]) == len(values):
            return self._code(values[0])
        if not set(map(type, values)) <= {str, type(None)}:
            return [self._code(value) for value in values]
        codes = {value: self._code(value) for value in dict.fromkeys(values)}
        return [codes[value] for value in values]

    def _code(self, value: Any) -> int:
        word = self._word(value)
        return -1 if word is None else self.known.setdefault(word, len(self.known))

    def _word(self, value: Any) -> str | None:
        if value is None:
            return None
        if type(value) is str:
            return None if value in _NO_CONTEXT else text(value)
        if type(value) is dict and self._mappings:
            return json.dumps(plain(value), ensure_ascii=False) if value else None
        raise Malformed(f"{self._key} is {shown(value)}, not text")


class Pools:
    """Pool ids, pairs of integers, to rows of ``meta["pools"]``."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], int] = {}

    def row(self, value: Any) -> int:
        """The row of a pool id; -1 for None. Raises Malformed."""
        if value is None:
            return -1
        pair = tuple(sequence(value, "a pool id"))
        if len(pair) != 2:
            raise Malformed(f"a pool id has {len(pair)} parts, not two")
        first, second = (integer(part, "a pool id", 0, UINT64_MAX) for part in pair)
        return self.known.setdefault((first, second), len(self.known))

    def rows(self, values: list[Any]) -> Codes:
        """The rows of a chunk's pool ids. Raises Malformed."""
        first = self.row(values[0])
        if values.count(values[0]) == len(values):
            return first
        # Nothing is hashed before it is known to be flat: a tower of tuples overruns the C stack.
        if set(map(type, values)) != {tuple} or set(map(len, values)) != {2}:
            return [self.row(value) for value in values]
        if any(set(map(type, map(itemgetter(part), values))) != {int} for part in (0, 1)):
            return [self.row(value) for value in values]
        rows = {value: self.row(value) for value in dict.fromkeys(values)}
        return [rows[value] for value in values]
