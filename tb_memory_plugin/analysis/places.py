"""Pools and streams together: the places that a caching allocator keeps apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

T = TypeVar("T")

#: Different streams that are looked for one by one before all are sorted.
_FEW = 64
#: Pairs of a pool and a stream that are counted in a table.
_MOST_PAIRS = 1 << 16


@dataclass(frozen=True)
class Place:
    """A pool's share of a stream; None for what the recording does not know."""

    pool: tuple[int, int] | None
    stream: int | None

    @property
    def key(self) -> str:
        """``0,0@0x7f00``: the same for the same place in every recording."""
        pool = "?" if self.pool is None else f"{self.pool[0]},{self.pool[1]}"
        return f"{pool}@{'?' if self.stream is None else f'{self.stream:#x}'}"

    @property
    def label(self) -> str:
        """``default pool, default stream``."""
        return f"{pool_label(self.pool)}, {stream_label(self.stream)}"


def pool_label(pool: tuple[int, int] | None) -> str:
    """How people call a pool."""
    if pool is None:
        return "pool not known"
    return "default pool" if pool == (0, 0) else f"private pool {pool[0]},{pool[1]}"


def stream_label(stream: int | None) -> str:
    """How people call a stream."""
    if stream is None:
        return "stream not known"
    return "default stream" if stream == 0 else f"stream {stream:#x}"


def pool_ranks(recording: Recording) -> IntArray:
    """For every code of a pool its place among them in the order of their numbers; -1's is last."""
    pools = [tuple(pool) for pool in recording.meta["pools"]]
    ranks = np.full(len(pools) + 1, len(pools), dtype=np.int32)
    ranks[sorted(range(len(pools)), key=pools.__getitem__)] = np.arange(len(pools))
    return ranks


def places(
    recording: Recording, device: Device, *tables: str
) -> tuple[list[Place], list[IntArray]]:
    """The places in the ``tables`` of a device, and for each table the place of every row.

    By pool and then stream, in the order of their numbers; what is not known comes last.
    """
    pools = sorted((int(first), int(second)) for first, second in recording.meta["pools"])
    ranks = pool_ranks(recording)
    of_pool, of_stream, known = [], [], []
    for name in tables:
        table, rows = recording.table(name), recording.rows(name, device)
        of_pool.append(recording.values(name, "pool", device))
        of_stream.append(recording.values(name, "stream", device))
        every = np.ones(rows.stop - rows.start, dtype=bool)
        nulls = table.column("stream").null_count
        known.append(arrays.valid(table, "stream")[rows] if nulls else every)
    streams = arrays.distinct(
        np.concatenate(
            [
                np.zeros(0, np.uint64),
                *(_distinct(values[sure]) for values, sure in zip(of_stream, known, strict=True)),
            ]
        )
    )
    wide = len(streams) + 1
    # Where there are many of both, only pairs that occur have room.
    narrow = (len(pools) + 1) * wide <= _MOST_PAIRS
    number = np.int32 if narrow else np.int64
    numbers = [
        ranks[pool].astype(number) * wide
        + np.where(sure, np.searchsorted(streams, stream), len(streams)).astype(number)
        for pool, stream, sure in zip(of_pool, of_stream, known, strict=True)
    ]
    if narrow:
        used = np.zeros((len(pools) + 1) * wide, dtype=bool)
        for pair in numbers:
            used[pair] = True
        pairs = np.flatnonzero(used)
        rank = np.cumsum(used) - 1
    else:
        pairs = arrays.distinct(np.concatenate(numbers))
    names: list[int] = streams.tolist()
    found = [Place(_at(pools, pair // wide), _at(names, pair % wide)) for pair in pairs.tolist()]
    kind = np.uint8 if len(found) <= 256 else np.int32
    if narrow:
        rank = rank.astype(kind)
        return found, [rank[pair] for pair in numbers]
    return found, [np.searchsorted(pairs, pair).astype(kind) for pair in numbers]


def _at(values: Sequence[T], place: int) -> T | None:
    return values[place] if place < len(values) else None


def _distinct(values: IntArray) -> IntArray:
    """The different ``values``: few, so that looking for them is quicker than sorting."""
    found: list[Any] = []
    while len(values):
        if len(found) == _FEW:
            return arrays.distinct(np.concatenate([np.array(found, values.dtype), values]))
        found.append(values[0])
        values = values[values != values[0]]
    return np.array(found, values.dtype)
