"""Where allocations stand in pictures in which nothing slides: by address, and in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.columns import joined, known
from tb_memory_plugin.analysis.device_part import DevicePart
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ordering import stable_order
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

#: Begins and ends, as addresses.
Spans = tuple[IntArray, IntArray]

#: Holes between addresses up to this are kept: what is nearby belongs together.
_HOLE = 2 << 20
_TOP = (1 << 64) - 1
#: Sizes that differ by less than an eighth share lanes.
_EIGHTHS = 3


@dataclass(frozen=True)
class Ranges:
    """Ranges of addresses in use, joined where they meet, put one after the other.

    ``begin`` and ``size`` in the address space, ``offset`` without the holes between.
    """

    begin: IntArray
    size: IntArray
    offset: IntArray

    def at(self, address: IntArray) -> IntArray:
        """Where addresses, which must be in one of the ranges, stand without the holes."""
        if not len(self.begin):
            return np.zeros(len(address), dtype=np.int64)
        which = np.searchsorted(self.begin, address, side="right") - 1
        inside: IntArray = (address - self.begin[which]).astype(np.int64)
        return self.offset[which] + inside

    @property
    def extent(self) -> int:
        """Bytes of all ranges together."""
        return int(self.offset[-1] + self.size[-1]) if len(self.begin) else 0


def positions(parts: Sequence[DevicePart]) -> pa.Table:
    """The derived table ``positions``, from what was worked out for each device.

    What has no address is at 0 of the picture by address.
    """
    rows = []
    for part in parts:
        lives = part.lives
        lane = lanes(lives.bytes, _sequence(part))
        placed = ~part.unplaced
        place = np.zeros(len(lives.address), dtype=np.int64)
        place[placed] = _ranges(part, placed).at(lives.address[placed])
        rows.append({"address": known(place), "lane": known(lane)})
    return joined("positions", rows, {})


def ranges(recording: Recording, device: Device) -> Ranges:
    """The addresses that a device's segments and allocations were at.

    Holes are left out; small ones stay where allocations have no segment around them.
    """
    table = "allocations"
    size = recording.values(table, "size", device)
    address = recording.values(table, "address", device)
    size = np.maximum(size, recording.values(table, "requested", device))
    if recording.table(table).column("address").null_count:
        placed = arrays.valid(recording.table(table), "address")[recording.rows(table, device)]
        address, size = address[placed], size[placed]
    held = _spans(address, size)
    table = "segment_lives"
    address, size = (recording.values(table, name, device) for name in ("address", "size"))
    return _together(_spans(address, size), held)


def _ranges(part: DevicePart, placed: IntArray) -> Ranges:
    """As :func:`ranges`, before there are tables; ``placed`` are the lives with an address."""
    lives, segments = part.lives, part.segments
    held = _spans(lives.address[placed], np.maximum(lives.size, lives.bytes)[placed])
    return _together(_spans(segments.address, segments.size), held)


def _together(mapped: Spans, held: Spans) -> Ranges:
    whole = _joined(*mapped, 0)
    begin, end = held
    if len(whole.begin):
        which = np.searchsorted(whole.begin, begin, side="right") - 1
        stops = whole.begin + whole.size.astype(np.uint64)
        outside = (which < 0) | (end > stops[which])
        if not outside.any():
            return whole
        return _joined(
            np.concatenate([whole.begin, begin[outside]]),
            np.concatenate([stops, end[outside]]),
            0,
        )
    return _joined(begin, end, _HOLE)


def lanes(size: IntArray, sequence: IntArray) -> IntArray:
    """The offset of every life in a picture where it keeps its place and overlaps no other.

    ``sequence`` names lives by place in ``size``, in order of time: first where one is born, then,
    if it is, where it ends. Lives of like size take turns in lanes, the one left last first; lanes
    lie in the order in which they are first needed. What is not in ``sequence`` is at 0.
    """
    kinds = _classes(size)
    order = np.argsort(kinds[sequence], kind="stable")
    life = sequence[order]
    seen_first = np.full(len(size), -1, dtype=np.int32)
    seen_first[sequence[::-1]] = np.arange(len(sequence), dtype=np.int32)[::-1]
    birth = seen_first[life] == order
    del order, seen_first
    # The number of free lanes of the class, up to a constant: a birth takes the last one freed,
    # which is the one freed when that number last rose to what it is now.
    level = np.cumsum(np.where(birth, np.int8(-1), np.int8(1)), dtype=np.int32)
    level += birth
    level -= level.min(initial=0)
    key = kinds[life] * (int(level.max(initial=0)) + np.int64(1)) + level
    del level
    turns = stable_order(key)
    taker, before = turns[1:], turns[:-1]
    takes = (key[taker] == key[before]) & birth[taker] & ~birth[before]
    owner = np.full(len(size), -1, dtype=np.int64)
    owner[life[taker[takes]]] = life[before[takes]]
    return _offsets(size, owner, np.sort(life[birth]))


def _offsets(size: IntArray, owner: IntArray, born: IntArray) -> IntArray:
    root = np.where(owner < 0, np.arange(len(size)), owner)
    while True:
        further = root[root]
        if (further == root).all():
            break
        root = further
    first = born[owner[born] < 0]
    height = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(height, root[born], size[born])
    offset = np.zeros(len(size), dtype=np.int64)
    offset[first] = np.cumsum(height[first]) - height[first]
    found: IntArray = offset[root]
    return found


def _sequence(part: DevicePart) -> IntArray:
    """The births and deaths of a device's allocations in order of time, for :func:`lanes`."""
    older = int(np.searchsorted(part.lives.birth, 0))
    moved = part.usage.allocation
    return np.concatenate([np.arange(older, dtype=np.int32), moved[moved >= 0].astype(np.int32)])


def _classes(size: IntArray) -> IntArray:
    """A number for every size, the same for sizes within an eighth of a power of two."""
    exponent = np.frexp(np.maximum(size, 1).astype(np.float64))[1] - 1
    shift = np.maximum(exponent - _EIGHTHS, 0)
    found: IntArray = ((exponent << _EIGHTHS) + (size >> shift) % (1 << _EIGHTHS)).astype(np.uint16)
    return found


def _spans(address: IntArray, size: IntArray) -> Spans:
    """Begin and end of every range in use; the end of one past the last address is the last."""
    size = np.minimum(size.astype(np.uint64), np.uint64(_TOP) - address)
    return address, address + size


def _joined(begin: IntArray, end: IntArray, hole: int) -> Ranges:
    if not len(begin):
        empty = np.zeros(0, dtype=np.int64)
        return Ranges(empty.astype(np.uint64), empty, empty)
    order = stable_order(begin)
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    starts = np.append(True, begin[1:] - np.minimum(reach[:-1], begin[1:]) > hole)
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(begin)) - 1
    size = (reach[last] - begin[first]).astype(np.int64)
    return Ranges(begin[first], size, np.cumsum(size) - size)
