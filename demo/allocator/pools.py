"""The pools of one device: the default ones and the private ones of captured graphs."""

from __future__ import annotations

from .blocks import DEFAULT_POOL, Block, Pool, PoolId


class Private:
    """A private pool: both kinds, and how many use it."""

    def __init__(self, identity: PoolId) -> None:
        self.small = Pool(small=True, identity=identity)
        self.large = Pool(small=False, identity=identity)
        self.users = 1

    @property
    def empty(self) -> bool:
        """Whether it holds nothing of the driver's."""
        return self.small.segments + self.large.segments == 0


class Pools:
    """Which pool an allocation comes from."""

    def __init__(self) -> None:
        self.large = Pool(small=False)
        self.small = Pool(small=True)
        self.private: dict[PoolId, Private] = {}
        self._captures: list[tuple[PoolId, frozenset[int] | None]] = []

    @property
    def capturing(self) -> bool:
        """Whether allocations go to a private pool now."""
        return bool(self._captures)

    def chosen(self, small: bool, stream: int) -> Pool:
        """The pool for a block on ``stream``."""
        for identity, streams in self._captures:
            if streams is None or stream in streams:
                private = self.private[identity]
                return private.small if small else private.large
        return self.small if small else self.large

    def begin(self, identity: PoolId, streams: frozenset[int] | None) -> None:
        """See ``CachingAllocator.begin_pool``. Raises ValueError."""
        if identity == DEFAULT_POOL or any(identity == other for other, _ in self._captures):
            raise ValueError(f"allocations cannot be sent to the pool {identity} now")
        private = self.private.get(identity)
        if private is None:
            self.private[identity] = Private(identity)
        elif private.users == 0:
            raise ValueError(f"the pool {identity} was released")
        else:
            private.users += 1
        self._captures.append((identity, streams))

    def end(self, identity: PoolId) -> None:
        """See ``CachingAllocator.end_pool``. Raises ValueError."""
        left = [capture for capture in self._captures if capture[0] != identity]
        if len(left) == len(self._captures):
            raise ValueError(f"no allocations are sent to the pool {identity}")
        self._captures = left

    def release(self, identity: PoolId) -> None:
        """See ``CachingAllocator.release_pool``. Raises ValueError."""
        private = self.private.get(identity)
        if private is None or private.users == 0:
            raise ValueError(f"nobody uses the pool {identity}")
        private.users -= 1

    def unused(self) -> list[PoolId]:
        """Pools without users."""
        return [identity for identity, private in self.private.items() if not private.users]

    def free_blocks(self) -> list[Block]:
        """All that is cached."""
        pools = [self.small, self.large]
        pools += [
            pool for private in self.private.values() for pool in (private.small, private.large)
        ]
        return [block for pool in pools for block in pool.blocks()]
