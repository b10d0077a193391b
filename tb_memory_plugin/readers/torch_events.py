"""Trace entries of a PyTorch snapshot to the columns of ``events``, a chunk at a time.

A chunk fits the processor's cache, so that reading a column of it costs little after the first,
and is given up when done, so that the columns grow while the structure shrinks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
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
from tb_memory_plugin.readers.torch_entries import Chunk, Column
from tb_memory_plugin.readers.torch_frames import FrameStacks
from tb_memory_plugin.readers.torch_trace import Special, Trace
from tb_memory_plugin.readers.torch_words import Codes, Pools, Words
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import Action

CHUNK = 2_048

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
                self._fill(trace, Chunk(chunk, first))
            except Malformed as error:
                raise Malformed(f"in the trace of device {device}, {error}") from None
            if consume:
                entries[first : first + CHUNK] = [None] * len(chunk)
            done(len(chunk))
        return trace

    def _fill(self, trace: Trace, chunk: Chunk) -> None:
        first, rows = chunk.first, slice(chunk.first, chunk.first + len(chunk.entries))
        actions = self._actions(chunk)
        addresses = chunk.integers("addr", unsigned=True)
        sizes = _sizes(chunk, actions)
        _check_complete(addresses[1], actions, first, "addr")
        _check_complete(sizes[1], actions, first, "size")
        trace.columns["action"][rows] = actions
        trace.put("address", rows, addresses)
        trace.put("size", rows, sizes)
        trace.put("stream", rows, _streams(chunk))
        times, strange = _times(chunk)
        trace.put("time", rows, times)
        trace.strange_times += strange
        trace.columns["stack"][rows] = self.stacks.numbers(chunk, "frames")
        for column, key, codes in self._optional:
            values = chunk.optional(key)
            trace.put_codes(column, rows, -1 if values is None else codes(values))
        categories = chunk.optional("category")
        if categories is not None:
            trace.categories += _categories(categories, actions, addresses[0], first)
        trace.special += _special(chunk, actions)

    def _actions(self, chunk: Chunk) -> IntArray:
        known = chunk.codes("action", ACTIONS)
        if known is not None:
            return known
        codes = bytearray()
        for place, word in enumerate(chunk.values("action"), chunk.first):
            if type(word) is not str:
                raise Malformed(f"the action of entry {place} is {shown(word)}, not text")
            code = ACTIONS.get(word, int(Action.UNKNOWN))
            if code == Action.UNKNOWN:
                self.unknown_actions[text(word)[:60]] += 1
            codes.append(code)
        return np.frombuffer(bytes(codes), dtype=np.uint8)


def _sizes(chunk: Chunk, actions: IntArray) -> Column:
    """Sizes; where an entry moves no memory, one that no column can hold is left out."""
    try:
        return chunk.integers("size")
    except Malformed:
        idle = ~_MOVES_MEMORY[actions]
        kept = [
            None if rest and not (type(value) is int and 0 <= value <= INT64_MAX) else value
            for value, rest in zip(chunk.values("size"), idle.tolist(), strict=True)
        ]
        return integers(kept, "size", first=chunk.first)


def _streams(chunk: Chunk) -> Column:
    """Streams are pointers that torch writes as signed integers: read modulo 2⁶⁴."""
    try:
        return chunk.integers("stream", unsigned=True)
    except Malformed:
        folded = [
            value & UINT64_MAX if type(value) is int and -(1 << 63) <= value < 0 else value
            for value in chunk.values("stream")
        ]
        return integers(folded, "stream", unsigned=True, first=chunk.first)


def _times(chunk: Chunk) -> tuple[Column, int]:
    """Time stamps, and how many are none: negative, no integers, or of another century.

    They are left out: what memory did and in which order does not depend on them.
    """
    try:
        times, missing = chunk.integers("time_us")
        if int(times.max()) <= LATEST_US:
            return (times, missing), 0
    except Malformed:
        pass
    values = chunk.values("time_us")
    kept = [value if is_time(value) else None for value in values]
    strange = sum(value is not None for value in values) - sum(time is not None for time in kept)
    return integers(kept, "time_us", first=chunk.first), strange


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


def _special(chunk: Chunk, actions: IntArray) -> list[Special]:
    special = []
    for place in np.flatnonzero(_SPECIAL[actions]).tolist():
        entry = chunk.entries[place]
        time = entry.get("time_us")
        special.append(
            Special(
                chunk.first + place,
                Action(int(actions[place])),
                time if is_time(time) else None,
                {key: entry.get(key) for key in ("size", "device_free", "frames")},
            )
        )
    return special
