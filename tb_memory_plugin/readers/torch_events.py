"""Trace entries of a PyTorch snapshot to the columns of ``events``, a chunk at a time.

A chunk fits the processor's cache, so that reading a column of it costs little after the first,
and is given up when done, so that the columns grow while the structure shrinks.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from tb_memory_plugin.readers.checked import (
    INT64_MAX,
    UINT64_MAX,
    Malformed,
    integer,
    integers,
    plain,
    sequence,
    shown,
    text,
)
from tb_memory_plugin.readers.torch_frames import FrameStacks
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import Action

CHUNK = 4_096

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

#: Words of a snapshot's trace (torch/csrc/cuda/Module.cpp) to codes.
ACTIONS = {action.name.lower(): int(action) for action in Action if action is not Action.UNKNOWN}

_MOVES_MEMORY = np.array(
    [
        Action.ALLOC,
        Action.FREE_REQUESTED,
        Action.FREE_COMPLETED,
        Action.SEGMENT_ALLOC,
        Action.SEGMENT_FREE,
        Action.SEGMENT_MAP,
        Action.SEGMENT_UNMAP,
    ],
    dtype=np.uint8,
)
_LATEST_US = INT64_MAX // 1_000
_NO_CONTEXT = ("", "N/A")


@dataclass(frozen=True)
class Special:
    """An entry that is worth a row elsewhere: out of memory, a snapshot, a nightly's annotation."""

    event: int
    action: Action
    time_us: int | None
    entry: dict[str, Any]


@dataclass
class Words:
    """Texts to codes in order of appearance."""

    codes: dict[Any, int] = field(default_factory=dict)

    def code(self, word: str | None) -> int:
        """The code of ``word``; -1 for None."""
        return -1 if word is None else self.codes.setdefault(word, len(self.codes))


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


@dataclass
class Trace:
    """One device's entries as columns (masks are true where there is no value)."""

    columns: dict[str, IntArray]
    missing: dict[str, IntArray]
    special: list[Special]
    categories: list[tuple[int, int, str]]  # event, address, category


class TraceReader:
    """Reads the traces of one source; texts, pools and stacks are shared between its devices."""

    def __init__(self, stacks: FrameStacks, pools: Pools) -> None:
        self.stacks = stacks
        self.pools = pools
        self.contexts = Words()
        self.metadata = Words()
        self.unknown_actions: Counter[str] = Counter()

    def read(
        self, entries: list[Any], device: str, consume: bool, done: Callable[[int], None]
    ) -> Trace:
        """The columns of ``entries``. Raises Malformed.

        With ``consume`` the list's entries are replaced by None as they are read, which frees
        them. ``done`` is called with the number of entries of each chunk.
        """
        parts: list[_Chunk] = []
        for first in range(0, len(entries), CHUNK):
            chunk = entries[first : first + CHUNK]
            try:
                parts.append(self._chunk(chunk, first))
            except Malformed as error:
                raise Malformed(f"in the trace of device {device}, {error}") from None
            if consume:
                entries[first : first + CHUNK] = [None] * len(chunk)
            done(len(chunk))
        return _joined(parts)

    def _chunk(self, chunk: list[Any], first: int) -> _Chunk:
        if set(map(type, chunk)) != {dict}:
            wrong = next(place for place, entry in enumerate(chunk) if type(entry) is not dict)
            raise Malformed(f"entry {first + wrong} is {shown(chunk[wrong])}, not a dictionary")
        values = _values(chunk)
        made = _Chunk(len(chunk))
        actions = self._actions(values["action"], first)
        made.columns["action"] = actions
        made.put("address", integers(values["addr"], "addr", unsigned=True, first=first))
        made.put("size", _sizes(values["size"], actions, first))
        made.put("stream", _streams(values["stream"], first))
        made.put("time", integers(values["time_us"], "time_us", first=first))
        _check_times(made.columns["time"])
        _check_complete(made, actions, first)
        made.codes("stack", self.stacks.ids(values["frames"]))
        made.codes("forward_stack", _codes(values, "forward_frames", self.stacks.forward_ids))
        made.codes("pool", _codes(values, "pool_id", self._pool_rows))
        made.codes("compile_context", _codes(values, "compile_context", self._contexts))
        made.codes("user_metadata", _codes(values, "user_metadata", self._metadata))
        if values["category"] is not None:
            made.categories = _categories(values["category"], made, first)
        for place in np.flatnonzero(np.isin(actions, _SPECIAL)).tolist():
            time = values["time_us"][place]
            action = Action(int(actions[place]))
            kept = {key: chunk[place].get(key) for key in ("size", "device_free", "frames")}
            made.special.append(Special(first + place, action, time, kept))
        return made

    def _actions(self, words: list[Any], first: int) -> IntArray:
        if set(map(type, words)) == {str}:
            try:
                return np.frombuffer(bytes(map(ACTIONS.__getitem__, words)), dtype=np.uint8)
            except KeyError:
                pass  # an action this version does not know
        codes = bytearray()
        for place, word in enumerate(words):
            if type(word) is not str:
                raise Malformed(f"the action of entry {first + place} is {shown(word)}, not text")
            code = ACTIONS.get(word, int(Action.UNKNOWN))
            if code == Action.UNKNOWN:
                self.unknown_actions[text(word)[:60]] += 1
            codes.append(code)
        return np.frombuffer(bytes(codes), dtype=np.uint8)

    def _pool_rows(self, values: list[Any]) -> list[int] | int:
        row = self.pools.row(values[0])
        if values.count(values[0]) == len(values):
            return row
        # Nothing is hashed before it is known to be flat: a tower of tuples overruns the C stack.
        if set(map(type, values)) != {tuple} or set(map(len, values)) != {2}:
            return [self.pools.row(value) for value in values]
        if any(set(map(type, map(itemgetter(part), values))) != {int} for part in (0, 1)):
            return [self.pools.row(value) for value in values]
        rows = {value: self.pools.row(value) for value in dict.fromkeys(values)}
        return [rows[value] for value in values]

    def _contexts(self, values: list[Any]) -> list[int] | int:
        return _word_codes(self.contexts, values, "compile_context")

    def _metadata(self, values: list[Any]) -> list[int] | int:
        return _word_codes(self.metadata, values, "user_metadata")


_SPECIAL = np.array([Action.OOM, Action.SNAPSHOT, Action.USER_DEFINED], dtype=np.uint8)


@dataclass
class _Chunk:
    length: int
    columns: dict[str, IntArray] = field(default_factory=dict)
    missing: dict[str, IntArray] = field(default_factory=dict)
    special: list[Special] = field(default_factory=list)
    categories: list[tuple[int, int, str]] = field(default_factory=list)

    def put(self, name: str, column: tuple[IntArray, IntArray | None]) -> None:
        self.columns[name] = column[0]
        if column[1] is not None:
            self.missing[name] = column[1]

    def codes(self, name: str, codes: list[int] | int) -> None:
        self.columns[name] = (
            np.full(self.length, codes, dtype=np.int32)
            if isinstance(codes, int)
            else np.array(array("i", codes))
        )


def _values(chunk: list[dict[str, Any]]) -> dict[str, Any]:
    """Each known key's values; for an optional key that no entry has, None."""
    values: dict[str, Any] = {}
    present = [key for key in KEYS if key in chunk[0]]
    uniform = 0
    for key in present:
        try:
            values[key] = list(map(itemgetter(key), chunk))
            uniform += 1
        except KeyError:
            values[key] = [entry.get(key) for entry in chunk]
    # Entries that all have the same keys and no others have no further known key.
    others = uniform < len(present) or max(map(len, chunk)) > uniform
    for key in KEYS:
        if key not in values:
            needed = key in ("action", "addr", "size", "stream", "time_us", "frames")
            if needed or (others and any(key in entry for entry in chunk)):
                values[key] = [entry.get(key) for entry in chunk]
            else:
                values[key] = None
    return values


def _codes(
    values: dict[str, Any], key: str, codes: Callable[[list[Any]], list[int] | int]
) -> list[int] | int:
    """Codes of an optional key's values: one for all where they are equal, -1 for none."""
    column = values[key]
    return -1 if column is None else codes(column)


def _sizes(values: list[Any], actions: IntArray, first: int) -> tuple[IntArray, IntArray | None]:
    """Sizes; where an entry moves no memory, one that no column can hold is left out."""
    try:
        return integers(values, "size", first=first)
    except Malformed:
        idle = ~np.isin(actions, _MOVES_MEMORY)
        kept = [
            None if rest and not (type(value) is int and 0 <= value <= INT64_MAX) else value
            for value, rest in zip(values, idle.tolist(), strict=True)
        ]
        return integers(kept, "size", first=first)


def _streams(values: list[Any], first: int) -> tuple[IntArray, IntArray | None]:
    """Streams are pointers that torch writes as signed integers: read modulo 2⁶⁴."""
    try:
        return integers(values, "stream", unsigned=True, first=first)
    except Malformed:
        folded = [
            value & UINT64_MAX if type(value) is int and -(1 << 63) <= value < 0 else value
            for value in values
        ]
        return integers(folded, "stream", unsigned=True, first=first)


def _check_times(times: IntArray) -> None:
    if len(times) and int(times.max()) > _LATEST_US:
        raise Malformed(f"time_us is out of range ({int(times.max())})")


def _check_complete(chunk: _Chunk, actions: IntArray, first: int) -> None:
    """What moves memory must say where and how much."""
    for column, key in (("address", "addr"), ("size", "size")):
        missing = chunk.missing.get(column)
        if missing is None:
            continue
        wrong = np.flatnonzero(missing & np.isin(actions, _MOVES_MEMORY))
        if len(wrong):
            raise Malformed(f"entry {first + int(wrong[0])} has no {key}")


def _categories(values: list[Any], chunk: _Chunk, first: int) -> list[tuple[int, int, str]]:
    births = chunk.columns["action"] == Action.ALLOC
    return [
        (first + place, int(chunk.columns["address"][place]), values[place])
        for place in np.flatnonzero(births).tolist()
        if values[place] is not None
    ]


def _word_codes(words: Words, values: list[Any], what: str) -> list[int] | int:
    if type(values[0]) is str and values.count(values[0]) == len(values):
        return words.code(_word(values[0], what))
    if not set(map(type, values)) <= {str, type(None)}:
        # Dictionaries, which later versions' user_metadata may be, cannot be looked up.
        return [words.code(_word(value, what)) for value in values]
    codes = {value: words.code(_word(value, what)) for value in dict.fromkeys(values)}
    return [codes[value] for value in values]


def _word(value: Any, what: str) -> str | None:
    if value is None:
        return None
    if type(value) is str:
        return None if value in _NO_CONTEXT else text(value)
    if type(value) is dict and what == "user_metadata":
        return json.dumps(plain(value), ensure_ascii=False) if value else None
    raise Malformed(f"{what} is {shown(value)}, not text")


def _joined(parts: list[_Chunk]) -> Trace:
    columns: dict[str, IntArray] = {}
    missing: dict[str, IntArray] = {}
    for name in parts[0].columns if parts else ():
        columns[name] = np.concatenate([part.columns[name] for part in parts])
        if any(name in part.missing for part in parts):
            missing[name] = np.concatenate(
                [part.missing.get(name, np.zeros(part.length, dtype=bool)) for part in parts]
            )
    return Trace(
        columns,
        missing,
        [special for part in parts for special in part.special],
        [category for part in parts for category in part.categories],
    )
