"""The CUDA driver as the allocator sees it: memory that runs out, and addresses."""

from __future__ import annotations

from bisect import insort
from typing import Protocol

from .sizes import MIB

RANGE = 32 * MIB  # the driver reserves addresses in multiples of this
FIRST_ADDRESS = 0x7F40_0000_0000


class Driver(Protocol):
    """What the allocator asks of a driver."""

    def malloc(self, size: int) -> int | None:
        """The address of new memory; None where there is not enough."""

    def free(self, address: int, size: int) -> None:
        """Take back what ``malloc`` gave."""

    def reserve(self, page: int) -> tuple[int, int]:
        """Address and size of a range for an expandable segment of pages of ``page`` bytes."""

    def release(self, address: int, size: int) -> None:
        """Take back a range."""

    def create(self, size: int) -> bool:
        """Memory to map into a range; False where there is not enough."""

    def destroy(self, size: int) -> None:
        """Take back memory that was mapped."""

    def record_event(self) -> int:
        """An event at the end of what a stream has to do so far."""

    def happened(self, event: int) -> bool:
        """Whether the stream has come so far. Waits for nothing."""

    def free_bytes(self) -> int:
        """What is left."""


class SimulatedDriver:
    """A device of ``capacity`` bytes.

    Addresses are laid out as in recordings of A100 and H100 on Linux: ranges of a multiple of
    32 MiB, each new one below the last, and what an earlier range has left over is used first,
    from the lowest address. An event happens ``latency`` looks at events after it was recorded.
    """

    def __init__(self, capacity: int, first: int = FIRST_ADDRESS, latency: int = 8) -> None:
        self._capacity = capacity
        self._used = 0
        self._lowest = first
        self._holes: list[tuple[int, int]] = []  # (address, size), by address
        self._starts: set[int] = set()  # of ranges: nothing reaches over two
        self._latency = latency
        self._now = 0

    def malloc(self, size: int) -> int | None:
        if self._used + size > self._capacity:
            return None
        self._used += size
        for place, (address, room) in enumerate(self._holes):
            if room >= size:
                del self._holes[place]
                self._leave(address + size, room - size)
                return address
        address, reserved = self._below(size)
        self._leave(address + size, reserved - size)
        return address

    def free(self, address: int, size: int) -> None:
        self._used -= size
        self._leave(address, size)
        self._join()

    def reserve(self, page: int) -> tuple[int, int]:
        # An eighth more than there is memory: pages may have to be moved to the end.
        pages = -(-(self._capacity + self._capacity // 8) // page)
        address, _ = self._below(pages * page)
        return address, pages * page

    def release(self, address: int, size: int) -> None:
        """The addresses stay unused."""

    def create(self, size: int) -> bool:
        if self._used + size > self._capacity:
            return False
        self._used += size
        return True

    def destroy(self, size: int) -> None:
        self._used -= size

    def record_event(self) -> int:
        return self._now + self._latency

    def happened(self, event: int) -> bool:
        self._now += 1
        return self._now >= event

    def free_bytes(self) -> int:
        return self._capacity - self._used

    def _below(self, size: int) -> tuple[int, int]:
        reserved = -(-size // RANGE) * RANGE
        self._lowest -= reserved
        self._starts.add(self._lowest)
        return self._lowest, reserved

    def _leave(self, address: int, size: int) -> None:
        if size:
            insort(self._holes, (address, size))

    def _join(self) -> None:
        joined: list[tuple[int, int]] = []
        for address, size in self._holes:
            if joined and sum(joined[-1]) == address and address not in self._starts:
                joined[-1] = (joined[-1][0], joined[-1][1] + size)
            else:
                joined.append((address, size))
        self._holes = joined
