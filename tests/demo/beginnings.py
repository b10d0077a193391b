"""The allocator's state when a recording began, worked out backwards from the state at its end.

Segments are those of the end, without those made in the window, with those given back in it.
Blocks are those that were alive: freed in the window, or alive at its end, without having been
allocated in it. What lies between them was free, and free neighbours are always merged.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from demo.allocator import Block, CachingAllocator
from demo.allocator.sizes import SMALL_LIMIT, SMALL_SEGMENT, block_size

Entry = dict[str, Any]


@dataclass
class Alive:
    """A block that was there before the window."""

    address: int
    requested: int
    size: int | None  # None: freed in the window, which does not tell


@dataclass
class Range:
    """A segment that was there before the window."""

    address: int
    size: int
    stream: int


def restore(allocator: CachingAllocator, snapshot: dict[str, Any], device: int) -> None:
    """Put ``allocator`` into the state before the first recorded entry.

    Raises ValueError where that had expandable segments, whose ranges no snapshot tells.
    """
    entries = snapshot["device_traces"][device]
    final = [segment for segment in snapshot["segments"] if segment["device"] == device]
    alive = sorted(_alive(entries, final), key=_address)
    expandable = any(segment.get("is_expandable") for segment in final)
    if alive and expandable:
        raise ValueError("the beginning had expandable segments")
    ranges = [] if expandable else _ranges(entries, final)
    ranges.sort(key=_address)
    inside: list[list[Alive]] = [[] for _ in ranges]
    during: list[list[Entry]] = [[] for _ in ranges]
    for block in alive:
        if (place := _place(ranges, block.address)) is None:
            raise ValueError(f"the block at {block.address:#x} was in no segment")
        inside[place].append(block)
    for entry in entries:
        if (place := _place(ranges, entry.get("addr", 0))) is not None:
            during[place].append(entry)
    for place, found in enumerate(ranges):
        _fill(allocator, found, inside[place], during[place])


def _place(ranges: list[Range], address: int) -> int | None:
    """Which of the sorted ``ranges`` holds ``address``."""
    place = bisect_right(ranges, address, key=_address) - 1
    if place < 0 or address >= ranges[place].address + ranges[place].size:
        return None
    return place


def _address(thing: Alive | Range) -> int:
    return thing.address


def _ranges(entries: list[Entry], final: list[Entry]) -> list[Range]:
    found = {s["address"]: Range(s["address"], s["total_size"], s["stream"]) for s in final}
    for entry in reversed(entries):
        if entry["action"] == "segment_alloc":
            del found[entry["addr"]]
        elif entry["action"] == "segment_free":
            found[entry["addr"]] = Range(entry["addr"], entry["size"], entry["stream"])
    return list(found.values())


def _alive(entries: list[Entry], final: list[Entry]) -> list[Alive]:
    born: set[int] = set()
    found = []
    for entry in entries:
        if entry["action"] == "alloc":
            born.add(entry["addr"])
        elif entry["action"] == "free_completed" and entry["addr"] in born:
            born.remove(entry["addr"])
        elif entry["action"] == "free_completed":
            found.append(Alive(entry["addr"], entry["size"], None))
    for segment in final:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] != "inactive" and address not in born:
                found.append(Alive(address, block["requested_size"], block["size"]))
            address += block["size"]
    return found


def _next_start(entries: list[Entry], block: Alive, end: int) -> int | None:
    """Where the first new block between ``block`` and ``end`` was put while ``block`` lived.

    It is put at the beginning of what is free, so that is where ``block`` ends.
    """
    for entry in entries:
        if entry["action"] == "free_completed" and entry["addr"] == block.address:
            return None
        if entry["action"] == "alloc" and block.address < entry["addr"] < end:
            return int(entry["addr"])
    return None


def _fill(
    allocator: CachingAllocator, found: Range, inside: list[Alive], entries: list[Entry]
) -> None:
    """The blocks of a segment; ``entries`` are those at addresses in it."""
    small = found.size == SMALL_SEGMENT
    pool = allocator.pools.small if small else allocator.pools.large
    end = found.address + found.size
    last: Block | None = None

    def put(address: int, size: int, requested: int | None) -> int:
        nonlocal last
        block = Block(address, size, found.stream, pool)
        block.place(last, None)
        last = block
        if requested is None:
            pool.add(block)
        else:
            block.allocated, block.requested = True, requested
            allocator.active[address] = block
        return address + size

    at = found.address
    for place, block in enumerate(inside):
        if block.address > at:
            put(at, block.address - at, None)
        following = inside[place + 1].address if place + 1 < len(inside) else end
        size = _size(allocator, block, following, small, entries)
        at = put(block.address, size, block.requested)
    if at < end:
        put(at, end - at, None)


def _size(
    allocator: CachingAllocator, block: Alive, following: int, small: bool, entries: list[Entry]
) -> int:
    """Bytes of ``block``, which ends at ``following`` or before it."""
    if block.size is not None:
        return block.size
    size = block_size(block.requested, allocator.settings)
    if small:
        return size
    # A rest of up to 1 MiB is never split off a large block, but stays a part of it.
    start = _next_start(entries, block, following) or following
    return start - block.address if start - block.address - size <= SMALL_LIMIT else size
