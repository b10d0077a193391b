"""The caching allocator of one device: blocks out of a cache, the cache out of a driver."""

from __future__ import annotations

from .blocks import Block, Frames, OutOfMemory, Pool, PoolId
from .driver import Driver
from .expandable import Expandable
from .history import History
from .pools import Pools
from .releasing import Cache
from .sizes import SMALL_LIMIT, UNIT, Settings, block_size, is_small, segment_size
from .waiting import Waiting


class CachingAllocator:
    """What ``torch`` calls to allocate and free on one device.

    ``frames`` is always the stack that asks, as a snapshot has it: innermost first, one list for
    all entries that come of one call.
    """

    def __init__(
        self, driver: Driver, settings: Settings | None = None, history: History | None = None
    ) -> None:
        self.driver = driver
        self.settings = settings or Settings()
        self.history = history or History()
        self.active: dict[int, Block] = {}  # in use or waiting, by address
        self.pools = Pools()
        self._expandable = Expandable(driver, self.history)
        self._waiting = Waiting(driver, self._complete_free)
        self._cache = Cache(driver, self.settings, self.history, self._expandable)

    def malloc(self, requested: int, stream: int = 0, frames: Frames | None = None) -> Block:
        """A block of at least ``requested`` bytes for ``stream``. Raises OutOfMemory."""
        if not self.pools.capturing:
            self._waiting.look(frames)
        size = block_size(requested, self.settings)
        pool = self.pools.chosen(is_small(size), stream)
        block = self._cached(pool, size, stream)
        if block is None:
            block = self._grow(pool, size, stream, frames)
        if block is None and self._cache.release_oversize(pool, size, stream, frames):
            block = self._grow(pool, size, stream, frames)
        if block is None and not self.pools.capturing:
            self._release_all(frames)
            block = self._grow(pool, size, stream, frames)
        if block is None:
            free = self.driver.free_bytes()
            self.history.add("oom", free, size, stream, pool.identity, frames)
            raise OutOfMemory(f"{size} bytes are asked for, {free} are free")
        block = self._split(block, size)
        block.allocated, block.requested, block.frames = True, requested, frames
        self.active[block.address] = block
        self.history.add("alloc", block.address, requested, stream, pool.identity, frames)
        return block

    def free(self, block: Block, frames: Frames | None = None) -> None:
        """The program lets go of ``block``. It is kept as long as other streams use it.

        Raises ValueError where it was let go of before.
        """
        if not block.allocated or self.active.get(block.address) is not block:
            raise ValueError(f"the block at {block.address:#x} is not allocated")
        block.allocated = False
        self._note("free_requested", block, block.requested, frames or block.frames)
        if not block.uses:
            self._complete_free(block, frames)
        elif self.pools.capturing:
            self._waiting.defer(block)
        else:
            self._waiting.begin(block)

    def record_stream(self, block: Block, stream: int) -> None:
        """``stream`` uses ``block`` too, from now on."""
        self._waiting.use(block, stream, self.pools.capturing)

    def empty_cache(self, frames: Frames | None = None) -> None:
        """Give back to the driver what is wholly free."""
        if self.pools.capturing:
            self._cache.release_pools(self.pools, frames)
        else:
            self._release_all(frames)

    def blocks(self) -> list[Block]:
        """All mapped blocks, free and in use, in no order."""
        return [*self.active.values(), *self.pools.free_blocks()]

    def mark_snapshot(self) -> None:
        """The entry that taking a snapshot leaves."""
        alive = sum(block.size for block in self.active.values())
        self.history.add("snapshot", 0, alive, 0)

    def begin_pool(self, identity: PoolId, streams: frozenset[int] | None = None) -> None:
        """What is allocated from now on (on ``streams``; None: on all) is the private pool's.

        Also makes the pool, or counts one user more of it, as a capture of a graph does.
        """
        self.pools.begin(identity, streams)

    def end_pool(self, identity: PoolId) -> None:
        """Allocations go where they went before."""
        self.pools.end(identity)

    def release_pool(self, identity: PoolId) -> None:
        """One user less; without any, what is free in the pool may go back to the driver."""
        self.pools.release(identity)

    def _cached(self, pool: Pool, size: int, stream: int) -> Block | None:
        """The free block that fits best, taken out of the pool."""
        limit = self.settings.max_split_size
        found = pool.best_fit(stream, size, self.settings.expandable_segments)
        if found is None:
            return None
        if limit is not None:
            if size < limit <= found.size:
                return None
            if size >= limit and found.size >= size + self.settings.max_non_split_rounding:
                return None
        pool.remove(found)
        return found

    def _grow(self, pool: Pool, size: int, stream: int, frames: Frames | None) -> Block | None:
        """A free block in new memory; None if the driver has none."""
        if self.settings.expandable_segments:
            return self._expandable.grow(pool, size, stream, frames)
        mapped = segment_size(size)
        address = self.driver.malloc(mapped)
        if address is None:
            return None
        pool.segments += 1
        block = Block(address, mapped, stream, pool)
        block.segment_frames = frames
        self.history.add("segment_alloc", address, mapped, stream, pool.identity, frames)
        return block

    def _split(self, block: Block, size: int) -> Block:
        """The first ``size`` bytes of ``block`` if the rest is worth keeping, else all of it."""
        left = block.size - size
        if block.pool.small or self.settings.expandable_segments:
            if left < UNIT:
                return block
        else:
            limit = self.settings.max_split_size
            if left <= SMALL_LIMIT or (limit is not None and size >= limit):
                return block
        # The new block is the front, and does not take over the stack of the segment.
        front = Block(block.address, size, block.stream, block.pool)
        front.reservation = block.reservation
        front.place(block.previous, block)
        block.address += size
        block.size = left
        block.pool.add(block)
        return front

    def _complete_free(self, block: Block, frames: Frames | None) -> None:
        """``block`` is free: it joins its free neighbours and goes into the cache."""
        self._note("free_completed", block, block.requested, frames or block.frames)
        block.frames = None
        del self.active[block.address]
        block.merge(block.previous)
        block.merge(block.next)
        block.pool.add(block)

    def _release_all(self, frames: Frames | None) -> None:
        self._waiting.finish(frames)
        self._cache.release(self.pools.large, frames)
        self._cache.release(self.pools.small, frames)
        self._cache.release_pools(self.pools, frames)

    def _note(self, action: str, block: Block, size: int, frames: Frames | None) -> None:
        self.history.add(action, block.address, size, block.stream, block.pool.identity, frames)
