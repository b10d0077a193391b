"""Giving cached memory back to the driver."""

from __future__ import annotations

from .blocks import Block, Frames, Pool
from .driver import Driver
from .expandable import Expandable
from .history import History
from .pools import Pools
from .sizes import Settings


class Cache:
    """What of the free blocks can go back, and in which order it goes."""

    def __init__(
        self, driver: Driver, settings: Settings, history: History, expandable: Expandable
    ) -> None:
        self._driver = driver
        self._settings = settings
        self._history = history
        self._expandable = expandable

    def release(self, pool: Pool, frames: Frames | None) -> None:
        """All whole segments and, of expandable ones, all whole pages that are free."""
        blocks = pool.blocks()
        for block in blocks:
            if block.reservation is None and not block.split:
                self._release(block, frames)
        for block in blocks:
            if block.reservation is not None:
                self._expandable.shrink(block, frames)

    def release_pools(self, pools: Pools, frames: Frames | None) -> None:
        """Likewise in the private pools that nobody uses; those left without memory end."""
        for identity in pools.unused():
            private = pools.private[identity]
            self.release(private.small, frames)
            self.release(private.large, frames)
            if private.empty:
                del pools.private[identity]

    def release_oversize(self, pool: Pool, size: int, stream: int, frames: Frames | None) -> bool:
        """Blocks that are too large to be split, as few as make room for ``size`` bytes.

        False where that does not make enough room, or no block is too large to be split.
        """
        limit = self._settings.max_split_size
        if limit is None:
            return False
        wanted = max(size, limit)
        found = pool.from_size(stream, wanted)
        if found is not None and found.reservation is None:
            self._release(found, frames)
            return True
        released = 0
        for block in pool.below_size(stream, wanted):
            if released >= wanted or block.size < limit:
                break
            if block.reservation is None:
                released += block.size
                self._release(block, frames)
        return released >= wanted

    def _release(self, block: Block, frames: Frames | None) -> None:
        pool = block.pool
        pool.remove(block)
        pool.segments -= 1
        self._driver.free(block.address, block.size)
        told = frames or block.segment_frames
        self._history.add(
            "segment_free", block.address, block.size, block.stream, pool.identity, told
        )
