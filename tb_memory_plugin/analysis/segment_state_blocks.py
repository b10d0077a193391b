"""What is alive at one moment, made into blocks inside the segments that hold them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.ranges import range_ends
from tb_memory_plugin.analysis.rounding import LARGEST_REMAINDER, SMALL_SEGMENT
from tb_memory_plugin.analysis.segment_state_ranges import Mapped
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER, Action, BlockState


@dataclass(frozen=True)
class Placed:
    """Pieces of live allocations inside segments, by address, none overlapping another.

    An allocation that lies over several segments has a piece in each; its requested bytes fill
    it from its beginning.
    """

    segment: IntArray  # row of Mapped
    begin: IntArray  # addresses, uint64
    end: IntArray
    requested: IntArray
    pending: IntArray
    inferred: IntArray
    allocation: IntArray  # row of the device's allocations
    outside: int  # live allocations that no segment holds
    outside_bytes: int  # in the recording's basis; parts of those that reach out included
    shared: int  # allocations that overlap another, which no allocator gives


def placed(recording: Recording, device: Device, event: int, mapped: Mapped) -> Placed:
    """The allocations alive after ``event``, in the segments of that moment."""
    rows = alive_rows(recording, device, event)
    address = recording.values("allocations", "address", device)[rows]
    order = np.argsort(address, kind="stable")
    rows, address = rows[order], address[order]
    requested = bytes_of(recording, device)[rows]
    size = np.maximum(recording.values("allocations", "size", device)[rows], requested)
    until = range_ends(address, size)
    first = np.searchsorted(mapped.end, address, side="right")
    counts = np.maximum(np.searchsorted(mapped.begin, until, side="left") - first, 0)
    which = np.repeat(np.arange(len(rows)), counts)
    offset = np.cumsum(counts) - counts
    segment = np.arange(len(which)) - offset[which] + first[which] if len(which) else which
    begin = np.maximum(address[which], mapped.begin[segment])
    end = np.minimum(until[which], mapped.end[segment])
    filled = range_ends(address[which], requested[which])  # where its requested bytes end
    own = _between(begin, np.minimum(end, filled))
    order = np.argsort(begin, kind="stable")  # another order only where allocations overlap
    which, segment, own = which[order], segment[order], own[order]
    begin, end = begin[order], end[order]
    begin, end, shared = _disjoint(begin, end, begin + own.astype(np.uint64))
    inferred = _inferred(recording, device, rows)[which]
    if recording.meta["basis"] == "requested":
        end = _unsplit(mapped, segment, begin, end, inferred)
    return Placed(
        segment=segment,
        begin=begin,
        end=end,
        requested=np.minimum(own, _between(begin, end)),
        pending=_pending(recording, device, event, rows)[which],
        inferred=inferred,
        allocation=rows[which],
        outside=int((counts == 0).sum()),
        outside_bytes=exact.total(requested) - exact.total(own),
        shared=shared,
    )


def _between(begin: IntArray, end: IntArray) -> IntArray:
    """Bytes from ``begin`` to ``end``, 0 where it ends before it begins."""
    return np.where(end > begin, end - begin, np.uint64(0)).astype(np.int64)


def _disjoint(begin: IntArray, end: IntArray, needed: IntArray) -> tuple[IntArray, IntArray, int]:
    """Ranges in order of ``begin`` without what two of them claim, and how many that were.

    Rounding gives way to a neighbour: what was only inferred cannot be where another block is.
    After that the lower range keeps what both claim.
    """
    if len(begin) < 2:
        return begin, end, 0
    end = end.copy()
    end[:-1] = np.maximum(np.minimum(end[:-1], begin[1:]), needed[:-1])
    reach = np.maximum.accumulate(end)
    claimed = np.concatenate([begin[:1], np.maximum(begin[1:], reach[:-1])])
    shared = int((claimed > begin).sum())
    return claimed, np.maximum(end, claimed), shared


def _unsplit(
    mapped: Mapped, segment: IntArray, begin: IntArray, end: IntArray, inferred: IntArray
) -> IntArray:
    """Where blocks of inferred size end, with the small remainders that were not split off.

    A large segment has no block that small, so what lies between two blocks of it and is no larger
    belongs to the first. (Of a remainder beside a free block nothing can be told.)
    """
    if not len(end):
        return end
    following = mapped.end[segment]
    same = segment[1:] == segment[:-1]
    following[:-1][same] = begin[1:][same]
    large = (mapped.size > SMALL_SEGMENT) & ~mapped.expandable
    grown = inferred & large[segment] & (following - end <= np.uint64(LARGEST_REMAINDER))
    reach: IntArray = np.where(grown, following, end)
    return reach


def _inferred(recording: Recording, device: Device, rows: IntArray) -> IntArray:
    """Whether the size of allocations is worked out, not recorded."""
    table = recording.table("allocations")
    of = recording.rows("allocations", device)
    sizes = table.column("size")
    guessed = arrays.truths(table, "size_inferred")[of][rows]
    if not sizes.null_count:
        return guessed
    return guessed | ~arrays.valid(table, "size")[of][rows]


def _pending(recording: Recording, device: Device, event: int, rows: IntArray) -> IntArray:
    """Which of the live ``rows`` the program has freed already, though another stream holds them.

    A free that was asked for before the window left no event in it. It is known from the block
    that is pending at the end, and from a completed free that nobody asked for in the window,
    where the history holds requests at all.
    """
    asked = recording.values("allocations", "free_requested", device)[rows]
    pending = asked <= event
    unasked = np.flatnonzero(asked == AFTER)
    if not len(unasked):
        return pending
    older = recording.values("allocations", "birth", device)[rows[unasked]] < 0
    death = recording.values("allocations", "death", device)[rows[unasked]]
    action = recording.values("events", "action", device)
    freed = np.zeros(len(unasked), dtype=bool)
    if len(action):
        dies = np.where(death < AFTER, death, 0)
        freed = (death < AFTER) & (action[dies] == Action.FREE_COMPLETED)
        freed &= _has_requests(recording, device)
    address = recording.values("allocations", "address", device)[rows[unasked]]
    held = (death == AFTER) & np.isin(address, _pending_blocks(recording, device))
    last = event == len(action) - 1
    pending[unasked] = (older & (freed | held)) | (held & last)
    return pending


def _has_requests(recording: Recording, device: Device) -> bool:
    def look() -> bool:
        action = recording.values("events", "action", device)
        return bool((action == Action.FREE_REQUESTED).any())

    return memo(recording, ("has_free_requests", device.index), look)


def _pending_blocks(recording: Recording, device: Device) -> IntArray:
    state = recording.values("blocks", "state", device)
    address = recording.values("blocks", "address", device)
    pending: IntArray = address[state == BlockState.PENDING_FREE]
    return pending
