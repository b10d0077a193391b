"""Mapped ranges at one moment, made into segments that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ranges import range_ends
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording


@dataclass(frozen=True)
class Mapped:
    """Disjoint segments, by address. Unknown pools and kinds are -1; ``kind`` is a code."""

    begin: IntArray  # addresses, uint64
    end: IntArray
    pool: IntArray
    stream: IntArray
    kind: IntArray
    expandable: IntArray
    birth: IntArray  # of the first of its ranges to be mapped
    ranges: IntArray  # how many lives of ``segment_lives`` it is made of
    shared: int  # ranges that overlap another, which no allocator has

    @property
    def size(self) -> IntArray:
        """Bytes of every segment."""
        return (self.end - self.begin).astype(np.int64)


def mapped(recording: Recording, device: Device, event: int) -> Mapped:
    """What is mapped on ``device`` after ``event``.

    Ranges of an expandable segment that touch are one segment, as in a snapshot; segments that
    were allocated whole stay apart. Bytes that two ranges claim belong to the lower one.
    """
    birth = recording.values("segment_lives", "birth", device)
    death = recording.values("segment_lives", "death", device)
    born = int(np.searchsorted(birth, event, side="right"))  # births are in order
    rows = np.flatnonzero(death[:born] > event)
    begin = recording.values("segment_lives", "address", device)[rows]
    order = np.argsort(begin, kind="stable")
    rows, begin = rows[order], begin[order]
    end = range_ends(begin, recording.values("segment_lives", "size", device)[rows])
    reach = np.maximum.accumulate(end)
    claimed = np.concatenate([begin[:1], np.maximum(begin[1:], reach[:-1])])
    shared = int((claimed > begin).sum())
    kept = claimed < end
    rows, begin, end = rows[kept], claimed[kept], end[kept]
    return _joined(recording, device, rows, begin, end, shared)


def _joined(
    recording: Recording,
    device: Device,
    rows: IntArray,
    begin: IntArray,
    end: IntArray,
    shared: int,
) -> Mapped:
    lives = recording.rows("segment_lives", device)
    table = recording.table("segment_lives")
    pool = recording.values("segment_lives", "pool", device)[rows]
    stream = recording.values("segment_lives", "stream", device)[rows]
    kind = recording.values("segment_lives", "kind", device)[rows]
    expandable = arrays.truths(table, "expandable")[lives][rows]
    known_stream = arrays.valid(table, "stream")[lives][rows]
    apart = np.ones(len(rows), dtype=bool)
    apart[1:] = (begin[1:] != end[:-1]) | ~expandable[1:] | ~expandable[:-1]
    for values, known in ((pool, pool >= 0), (stream, known_stream), (kind, kind >= 0)):
        apart |= _differs(values, known, apart)
    first = np.flatnonzero(apart)
    if not len(first):
        empty = np.zeros(0, dtype=np.int64)
        return Mapped(begin, end, pool, stream, kind, expandable, empty, empty, shared)
    births = recording.values("segment_lives", "birth", device)[rows]
    return Mapped(
        begin=begin[first],
        end=end[np.append(first[1:], len(rows)) - 1],
        pool=np.maximum.reduceat(pool, first),
        stream=np.maximum.reduceat(stream, first),
        kind=np.maximum.reduceat(kind, first),
        expandable=expandable[first],
        birth=np.minimum.reduceat(births, first),
        ranges=np.diff(np.append(first, len(rows))),
        shared=shared,
    )


def _differs(values: IntArray, known: IntArray, apart: IntArray) -> IntArray:
    """Where a run of neighbours that ``apart`` begins must be cut: a value known to be another.

    What a history does not say of a range (its pool, before version 2.12) cuts nothing.
    """
    place = np.arange(len(values))
    start = np.maximum.accumulate(np.where(apart, place, 0))
    latest = np.maximum.accumulate(np.where(known, place, -1))
    before = np.concatenate([[-1], latest[:-1]])[: len(values)]
    compared = known & (before >= start) & ~apart
    found: IntArray = compared & (values != values[np.maximum(before, 0)])
    return found
