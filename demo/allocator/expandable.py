"""Expandable segments: ranges of addresses that pages of memory are mapped into and out of."""

from __future__ import annotations

from .blocks import Block, Frames, Pool, Reservation
from .driver import Driver
from .history import History
from .sizes import page_size


class Expandable:
    """Maps pages for blocks and takes them back."""

    def __init__(self, driver: Driver, history: History) -> None:
        self._driver = driver
        self._history = history

    def grow(self, pool: Pool, size: int, stream: int, frames: Frames | None) -> Block | None:
        """A free block of at least ``size`` bytes, in no pool, partly or wholly in new pages.

        None where the driver has no memory for them; what was mapped until then stays mapped.
        """
        block = self._candidate(pool, size, stream)
        if not block.mapped and not self._map(block, min(block.size, size), frames):
            return None
        while block.size < size:
            follows = block.next
            if follows is None:
                raise RuntimeError("a range ends before the block that was found in it")
            if not self._map(follows, min(follows.size, size - block.size), frames):
                return None
            block = follows
        pool.remove(block)
        pool.segments += 1
        return block

    def shrink(self, block: Block, frames: Frames | None) -> None:
        """Unmap the pages that lie wholly in the free ``block``."""
        reservation = block.reservation
        if reservation is None:
            raise ValueError("the block is in no expandable segment")
        page = page_size(block.pool.small)
        base, pool = reservation.address, block.pool
        begin = base + -(-(block.address - base) // page) * page
        end = base + (block.address + block.size - base) // page * page
        if begin >= end:
            return
        pool.remove(block)
        if begin > block.address:
            self._piece(block, block.address, begin).place(block.previous, block)
            pool.add(block.previous or block)
        if end < block.address + block.size:
            self._piece(block, end, block.address + block.size).place(block, block.next)
            pool.add(block.next or block)
        block.address, block.size, block.mapped = begin, end - begin, False
        size, told = block.size, frames or block.segment_frames
        block.merge(block.previous)
        block.merge(block.next)
        self._driver.destroy(size)
        pool.segments -= 1
        self._history.add("segment_unmap", begin, size, block.stream, pool.identity, told)
        if block.split:
            pool.add_unmapped(block)
        else:
            self._driver.release(reservation.address, reservation.size)

    def _candidate(self, pool: Pool, size: int, stream: int) -> Block:
        """Where in the lowest range ``size`` bytes can be had: a free block before unmapped
        addresses, or unmapped addresses; in a new range if there is no such place."""
        for unmapped in pool.unmapped(stream):
            before = unmapped.previous
            first = unmapped if before is None or before.active else before
            room = 0
            block: Block | None = first
            while room < size and block is not None and not block.active:
                room, block = room + block.size, block.next
            if room >= size:
                return first
        address, length = self._driver.reserve(page_size(pool.small))
        made = Block(address, length, stream, pool)
        made.mapped, made.reservation = False, Reservation(address, length)
        pool.add_unmapped(made)
        return made

    def _map(self, block: Block, size: int, frames: Frames | None) -> bool:
        """Put memory behind the first ``size`` bytes (whole pages) of the unmapped ``block``."""
        page = page_size(block.pool.small)
        mapped = -(-size // page) * page
        if not self._driver.create(mapped):
            return False
        pool, address = block.pool, block.address
        pool.remove_unmapped(block)
        block.mapped = True
        if mapped < block.size:
            rest = self._piece(block, address + mapped, address + block.size)
            rest.mapped = False
            rest.place(block, block.next)
            pool.add_unmapped(rest)
            block.size = mapped
        block.merge(block.previous)
        block.merge(block.next)
        pool.add(block)
        self._history.add("segment_map", address, mapped, block.stream, pool.identity, frames)
        if block.previous is None and block.segment_frames is None:
            block.segment_frames = frames
        return True

    def _piece(self, block: Block, begin: int, end: int) -> Block:
        piece = Block(begin, end - begin, block.stream, block.pool)
        piece.reservation = block.reservation
        return piece
