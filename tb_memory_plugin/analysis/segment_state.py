"""The state of a caching allocator after any event: segments, blocks in them, holes.

A mask over births and deaths, not a replay. At the last event it is what the snapshot says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import reserved_known, segments_known
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.places import pool_ranks
from tb_memory_plugin.analysis.segment_state_blocks import Placed, placed
from tb_memory_plugin.analysis.segment_state_ranges import Mapped, mapped
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.units import format_bytes


@dataclass(frozen=True)
class Segments:
    """One element a segment: by pool, stream and address. Bytes are int64."""

    address: IntArray  # uint64
    size: IntArray
    pool: IntArray  # index into meta["pools"], -1 where not known
    stream: IntArray
    kind: IntArray  # code of segment_lives.kind, -1 where not known
    expandable: IntArray
    birth: IntArray  # ordinal of its first range, -1: before the window
    ranges: IntArray  # mapped ranges it is made of
    blocks: IntArray  # live blocks in it, and where they begin in ``Blocks``
    first: IntArray
    used: IntArray  # bytes of its blocks, rounding included
    requested: IntArray
    pending: IntArray  # bytes of blocks that wait for another stream
    largest_free: IntArray
    holes: IntArray  # free ranges

    @property
    def free(self) -> IntArray:
        """Bytes that are in no block."""
        free: IntArray = self.size - self.used
        return free


@dataclass(frozen=True)
class Blocks:
    """One element a block (of an allocation over several segments, a piece), by place."""

    segment: IntArray
    offset: IntArray
    size: IntArray
    requested: IntArray
    pending: IntArray
    inferred: IntArray  # the size is worked out, not recorded
    allocation: IntArray  # row of the whole table


@dataclass(frozen=True)
class Holes:
    """Free ranges, by place: what of a segment is in no block."""

    segment: IntArray
    offset: IntArray
    size: IntArray


@dataclass(frozen=True)
class SegmentState:
    """A device's memory after ``event`` (-1: before the first).

    ``allocated`` and ``reserved`` are the curve's (reserved None where not known); ``mapped`` is
    what the segments add up to. ``problems`` says in sentences where the two contradict.
    """

    event: int
    segments: Segments
    blocks: Blocks
    holes: Holes
    allocated: int
    reserved: int | None
    mapped: int
    outside: int  # live allocations in no segment, and their bytes
    outside_bytes: int
    problems: tuple[str, ...]

    @property
    def free(self) -> int:
        """Bytes of segments that are in no block."""
        return self.mapped - exact.total(self.segments.used)

    @property
    def largest_free(self) -> int:
        """Bytes of the largest free range."""
        return int(self.holes.size.max(initial=0))

    @property
    def fragmentation(self) -> dict[str, float | None]:
        """Both formulas in use. ``reserved``: 1 - allocated / reserved, the one that is plotted;
        ``free_list``: 1 - largest free range / free bytes. None where there is nothing to divide,
        or more allocated than reserved.
        """
        held, free = self.reserved, self.free
        told = held is not None and 0 < held >= self.allocated
        return {
            "reserved": 1 - self.allocated / held if told and held else None,
            "free_list": 1 - self.largest_free / free if free > 0 else None,
        }


def segment_state(recording: Recording, device: Device, event: int) -> SegmentState:
    """The segments of ``device`` after ``event`` (an ordinal, -1 for before the first)."""
    ranges = mapped(recording, device, event)
    pieces = placed(recording, device, event, ranges)
    order = np.lexsort((ranges.begin, ranges.stream, pool_ranks(recording)[ranges.pool]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    within = np.argsort(rank[pieces.segment], kind="stable") if len(order) else pieces.segment
    first_row = recording.rows("allocations", device).start
    origin = ranges.begin[pieces.segment]
    blocks = Blocks(
        segment=rank[pieces.segment][within],
        offset=(pieces.begin - origin).astype(np.int64)[within],
        size=(pieces.end - pieces.begin).astype(np.int64)[within],
        requested=pieces.requested[within],
        pending=pieces.pending[within],
        inferred=pieces.inferred[within],
        allocation=pieces.allocation[within] + first_row,
    )
    size = ranges.size[order]
    holes = _holes(size, blocks)
    segments = _segments(ranges, order, blocks, holes)
    row = int(np.searchsorted(recording.values("usage", "event", device), event, side="right")) - 1
    known = reserved_known(recording, device)
    total = exact.total(size)
    reserved = int(recording.values("usage", "reserved", device)[row]) if known else None
    return SegmentState(
        event=event,
        segments=segments,
        blocks=blocks,
        holes=holes,
        allocated=int(recording.values("usage", "allocated", device)[row]),
        reserved=reserved,
        mapped=total,
        outside=pieces.outside,
        outside_bytes=pieces.outside_bytes,
        problems=tuple(
            _problems(
                reserved if segments_known(recording, device) else total, total, ranges, pieces
            )
        ),
    )


def _segments(ranges: Mapped, order: IntArray, blocks: Blocks, holes: Holes) -> Segments:
    count = len(order)
    number = np.bincount(blocks.segment, minlength=count).astype(np.int64)
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, holes.segment, holes.size)
    return Segments(
        address=ranges.begin[order],
        size=ranges.size[order],
        pool=ranges.pool[order],
        stream=ranges.stream[order],
        kind=ranges.kind[order],
        expandable=ranges.expandable[order],
        birth=ranges.birth[order],
        ranges=ranges.ranges[order],
        blocks=number,
        first=np.cumsum(number) - number,
        used=exact.sum_by(blocks.segment, blocks.size, count),
        requested=exact.sum_by(blocks.segment, blocks.requested, count),
        pending=exact.sum_by(blocks.segment, np.where(blocks.pending, blocks.size, 0), count),
        largest_free=largest,
        holes=np.bincount(holes.segment, minlength=count).astype(np.int64),
    )


def _holes(size: IntArray, blocks: Blocks) -> Holes:
    """What lies between the blocks, before the first and after the last of every segment."""
    count = len(size)
    segment = np.concatenate([blocks.segment, np.arange(count)])
    # Every block, then the end of its segment: each is where a hole may end.
    end = np.concatenate([blocks.offset, size])
    after = np.concatenate([blocks.offset + blocks.size, size])
    order = np.lexsort((np.arange(len(segment)), segment))
    segment, end, after = segment[order], end[order], after[order]
    begin = np.concatenate([[0], after[:-1]])[: len(after)]
    begin[1:][segment[1:] != segment[:-1]] = 0
    free = end > begin
    return Holes(segment[free], begin[free], (end - begin)[free])


def _problems(reserved: int | None, total: int, ranges: Mapped, pieces: Placed) -> list[str]:
    found = []
    if reserved is not None and total != reserved:
        found.append(
            f"The segments add up to {format_bytes(total)} ({total} bytes), the history to "
            f"{format_bytes(reserved)} ({reserved} bytes) reserved: it maps or unmaps what it "
            "should not, and the segments drawn are what can be followed of it."
        )
    if reserved is None and total:
        found.append(
            "What is reserved is not known; the segments drawn are what can be followed of it."
        )
    if ranges.shared:
        found.append(f"{ranges.shared} mapped ranges overlap others; shared bytes count once.")
    if pieces.shared:
        found.append(f"{pieces.shared} allocations overlap others; shared bytes count once.")
    if pieces.outside and total:
        found.append(
            f"{pieces.outside} live allocations ({format_bytes(pieces.outside_bytes)}) lie in no "
            "segment that the recording knows of."
        )
    return found
