"""Trace entries of a PyTorch snapshot to the columns of ``events``, a chunk at a time.

A chunk fits the processor's cache, so that reading a column of it costs little after the first,
and is given up when done, so that the columns grow while the structure shrinks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from tb_memory_plugin.readers.checked import (
    INT64_MAX,
    LATEST_US,
    UINT64_MAX,
    Malformed,
    integers,
    is_time,
    shown,
    text,
)
from tb_memory_plugin.readers.torch_frames import FrameStacks
from tb_memory_plugin.readers.torch_trace import Special, Trace
from tb_memory_plugin.readers.torch_words import Codes, Pools, Words
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import Action

CHUNK = 4_096

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

#: Those that every reader of a column asks for, whether an entry has them or not.
_ALWAYS = KEYS[:6]

#: Words of a snapshot's trace (torch/csrc/cuda/Module.cpp) to codes.
ACTIONS = {action.name.lower(): int(action) for action in Action if action is not Action.UNKNOWN}

#: By code of the action.
_MOVES_MEMORY, _SPECIAL = np.zeros(256, dtype=bool), np.zeros(256, dtype=bool)
_MOVES_MEMORY[
    [
        Action.ALLOC,
        Action.FREE_REQUESTED,
        Action.FREE_COMPLETED,
        Action.SEGMENT_ALLOC,
        Action.SEGMENT_FREE,
        Action.SEGMENT_MAP,
        Action.SEGMENT_UNMAP,
    ]
] = True
_SPECIAL[[Action.OOM, Action.SNAPSHOT, Action.USER_DEFINED]] = True


class TraceReader:
    """Reads the traces of one source; texts, pools and stacks are shared between its devices."""

    def __init__(self, stacks: FrameStacks, pools: Pools) -> None:
        self.stacks = stacks
        self.pools = pools
        self.contexts = Words("compile_context")
        self.metadata = Words("user_metadata", mappings=True)  # dictionaries since torch 2.13
        self.unknown_actions: Counter[str] = Counter()
        self._optional: tuple[tuple[str, str, Callable[[list[Any]], Codes]], ...] = (
            ("forward_stack", "forward_frames", stacks.forward_ids),
            ("pool", "pool_id", pools.rows),
            ("compile_context", "compile_context", self.contexts.codes),
            ("user_metadata", "user_metadata", self.metadata.codes),
        )

    def read(
        self, entries: list[Any], device: str, consume: bool, done: Callable[[int], None]
    ) -> Trace:
        """The columns of ``entries``. Raises Malformed.

        With ``consume`` the list's entries are replaced by None as they are read, which frees
        them. ``done`` is called with the number of entries of each chunk.
        """
        trace = Trace(len(entries))
        for first in range(0, len(entries), CHUNK):
            chunk = entries[first : first + CHUNK]
            try:
                self._fill(trace, chunk, first)
            except Malformed as error:
                raise Malformed(f"in the trace of device {device}, {error}") from None
            if consume:
                entries[first : first + CHUNK] = [None] * len(chunk)
            done(len(chunk))
        return trace

    def _fill(self, trace: Trace, chunk: list[Any], first: int) -> None:
        if set(map(type, chunk)) != {dict}:
            wrong = next(place for place, entry in enumerate(chunk) if type(entry) is not dict)
            raise Malformed(f"entry {first + wrong} is {shown(chunk[wrong])}, not a dictionary")
        values, rows = _values(chunk), slice(first, first + len(chunk))
        actions = self._actions(values["action"], first)
        addresses = integers(values["addr"], "addr", unsigned=True, first=first)
        sizes = _sizes(values["size"], actions, first)
        _check_complete(addresses[1], actions, first, "addr")
        _check_complete(sizes[1], actions, first, "size")
        trace.columns["action"][rows] = actions
        trace.put("address", rows, addresses)
        trace.put("size", rows, sizes)
        trace.put("stream", rows, _streams(values["stream"], first))
        times, strange = _times(values["time_us"], first)
        trace.put("time", rows, times)
        trace.strange_times += strange
        trace.put_codes("stack", rows, self.stacks.ids(values["frames"]))
        for column, key, codes in self._optional:
            optional = values[key]
            trace.put_codes(column, rows, -1 if optional is None else codes(optional))
        if values["category"] is not None:
            trace.categories += _categories(values["category"], actions, addresses[0], first)
        trace.special += _special(chunk, actions, values["time_us"], first)

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


def _values(chunk: list[dict[str, Any]]) -> dict[str, Any]:
    """Each known key's values; for an optional key that no entry has, None."""
    found = [key for key in KEYS if key in chunk[0]]
    values: dict[str, Any] = {}
    if len(found) > 1:  # then itemgetter makes tuples
        try:
            rows = map(itemgetter(*found), chunk)
            values = dict(zip(found, map(list, zip(*rows, strict=True)), strict=True))
        except KeyError:
            pass  # an entry is without one of them
    alike = len(values) == max(map(len, chunk))  # no entry has a further key
    present: set[str] = set() if alike else set().union(*chunk)
    for key in KEYS:
        if key not in values:
            needed = key in present or key in _ALWAYS
            values[key] = [entry.get(key) for entry in chunk] if needed else None
    return values


def _sizes(values: list[Any], actions: IntArray, first: int) -> Column:
    """Sizes; where an entry moves no memory, one that no column can hold is left out."""
    try:
        return integers(values, "size", first=first)
    except Malformed:
        idle = ~_MOVES_MEMORY[actions]
        kept = [
            None if rest and not (type(value) is int and 0 <= value <= INT64_MAX) else value
            for value, rest in zip(values, idle.tolist(), strict=True)
        ]
        return integers(kept, "size", first=first)


def _streams(values: list[Any], first: int) -> Column:
    """Streams are pointers that torch writes as signed integers: read modulo 2⁶⁴."""
    try:
        return integers(values, "stream", unsigned=True, first=first)
    except Malformed:
        folded = [
            value & UINT64_MAX if type(value) is int and -(1 << 63) <= value < 0 else value
            for value in values
        ]
        return integers(folded, "stream", unsigned=True, first=first)


def _times(values: list[Any], first: int) -> tuple[Column, int]:
    """Time stamps, and how many are none: negative, no integers, or of another century.

    They are left out: what memory did and in which order does not depend on them.
    """
    try:
        times, missing = integers(values, "time_us", first=first)
        if int(times.max()) <= LATEST_US:
            return (times, missing), 0
    except Malformed:
        pass
    kept = [value if is_time(value) else None for value in values]
    strange = sum(value is not None for value in values) - sum(time is not None for time in kept)
    return integers(kept, "time_us", first=first), strange


def _check_complete(missing: IntArray | None, actions: IntArray, first: int, key: str) -> None:
    """What moves memory must say where and how much."""
    if missing is None:
        return
    wrong = np.flatnonzero(missing & _MOVES_MEMORY[actions])
    if len(wrong):
        raise Malformed(f"entry {first + int(wrong[0])} has no {key}")


def _categories(
    values: list[Any], actions: IntArray, addresses: IntArray, first: int
) -> list[tuple[int, int, str]]:
    return [
        (first + place, int(addresses[place]), values[place])
        for place in np.flatnonzero(actions == Action.ALLOC).tolist()
        if values[place] is not None
    ]


def _special(
    chunk: list[dict[str, Any]], actions: IntArray, times: list[Any], first: int
) -> list[Special]:
    return [
        Special(
            first + place,
            Action(int(actions[place])),
            times[place] if is_time(times[place]) else None,
            {key: chunk[place].get(key) for key in ("size", "device_free", "frames")},
        )
        for place in np.flatnonzero(_SPECIAL[actions]).tolist()
    ]
