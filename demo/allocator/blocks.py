"""Blocks of memory and the pools that hold the free ones in the order they are looked for."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Any

Frames = list[dict[str, Any]]
PoolId = tuple[int, int]
DEFAULT_POOL: PoolId = (0, 0)


class OutOfMemory(Exception):
    """The driver has no memory left and nothing that is cached helps."""


class Reservation:
    """A range of addresses that an expandable segment is mapped into."""

    __slots__ = ("address", "size")

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size


class Block:
    """A piece of a segment, in use, free, or (in an expandable one) without memory behind it."""

    __slots__ = (
        "address",
        "allocated",
        "frames",
        "mapped",
        "next",
        "pending",
        "pool",
        "previous",
        "requested",
        "reservation",
        "segment_frames",
        "size",
        "stream",
        "uses",
    )

    def __init__(self, address: int, size: int, stream: int, pool: Pool) -> None:
        self.address = address
        self.size = size
        self.stream = stream
        self.pool = pool
        self.requested = 0  # what the block was last asked for, also once it is free
        self.allocated = False
        self.mapped = True
        self.pending = 0  # events of other streams that are still to come
        self.uses: dict[int, None] | None = None  # other streams, in the order they were recorded
        self.frames: Frames | None = None
        self.segment_frames: Frames | None = None
        self.reservation: Reservation | None = None
        self.previous: Block | None = None
        self.next: Block | None = None

    @property
    def active(self) -> bool:
        """Whether the program, or a stream that it named, still uses it."""
        return self.allocated or self.pending > 0 or bool(self.uses)

    @property
    def split(self) -> bool:
        """Whether it is only a part of its segment."""
        return self.previous is not None or self.next is not None

    @property
    def room(self) -> int:
        """Bytes it has, and could have if the unmapped range behind it were mapped."""
        follows = self.next
        return self.size + (follows.size if follows is not None and not follows.mapped else 0)

    def merge(self, other: Block | None) -> None:
        """Take in the neighbour ``other`` if it is free and, like this one, mapped or not."""
        if other is None or other.active or other.mapped != self.mapped:
            return
        if other.mapped:
            other.pool.remove(other)
        else:
            other.pool.remove_unmapped(other)
        if other is self.previous:
            self.address = other.address
            self.previous = other.previous
            if self.previous is not None:
                self.previous.next = self
            self.segment_frames = other.segment_frames
        else:
            self.next = other.next
            if self.next is not None:
                self.next.previous = self
        self.size += other.size

    def place(self, before: Block | None, after: Block | None) -> None:
        """Stand between ``before`` and ``after``."""
        self.previous, self.next = before, after
        if before is not None:
            before.next = self
        if after is not None:
            after.previous = self


class Pool:
    """Free blocks of one kind: by stream, smallest first, then lowest address first."""

    def __init__(self, small: bool, identity: PoolId = DEFAULT_POOL) -> None:
        self.small = small
        self.identity = identity
        self.segments = 0  # what a private pool holds of the driver's
        self._free: dict[int, list[tuple[int, int, Block]]] = {}
        self._unmapped: dict[int, list[tuple[int, Block]]] = {}

    def add(self, block: Block) -> None:
        """``block`` is free."""
        free = self._free.get(block.stream)
        if free is None:
            free = self._free[block.stream] = []
        insort(free, (block.size, block.address, block))

    def remove(self, block: Block) -> None:
        """``block`` is in use, merged or gone."""
        free = self._free[block.stream]
        del free[bisect_left(free, (block.size, block.address))]

    def best_fit(self, stream: int, size: int, expandable: bool) -> Block | None:
        """The free block to take ``size`` bytes from; it stays in the pool.

        The smallest that is large enough. With ``expandable``, one that could grow counts as large
        as it can become; without, those in expandable segments are passed over.
        """
        blocks = self._from_size(stream, size)
        found = next(blocks, None)
        if found is None or found.reservation is None:
            return found
        if not expandable:
            return next((block for block in blocks if block.reservation is None), None)
        for block in blocks:
            if found.reservation is None or block.room >= found.room:
                break
            found = block
        return found

    def from_size(self, stream: int, size: int) -> Block | None:
        """The smallest free block of at least ``size`` bytes, of whatever sort."""
        return next(self._from_size(stream, size), None)

    def _from_size(self, stream: int, size: int) -> Iterator[Block]:
        free = self._free.get(stream, [])
        for place in range(bisect_left(free, (size,)), len(free)):
            yield free[place][2]

    def below_size(self, stream: int, size: int) -> list[Block]:
        """Free blocks of less than ``size`` bytes, largest first."""
        free = self._free.get(stream, [])
        return [entry[2] for entry in reversed(free[: bisect_left(free, (size,))])]

    def blocks(self) -> list[Block]:
        """All free blocks: by stream, size, address."""
        return [entry[2] for stream in sorted(self._free) for entry in self._free[stream]]

    def add_unmapped(self, block: Block) -> None:
        """``block`` has addresses, but no memory."""
        insort(self._unmapped.setdefault(block.stream, []), (block.address, block))

    def remove_unmapped(self, block: Block) -> None:
        """``block`` is mapped, merged or gone."""
        unmapped = self._unmapped[block.stream]
        del unmapped[bisect_left(unmapped, (block.address,))]

    def unmapped(self, stream: int) -> list[Block]:
        """Ranges without memory, lowest first."""
        return [entry[1] for entry in self._unmapped.get(stream, [])]
