"""How much memory reading may take: a ceiling that grows with the bytes read so far.

A few bytes of a pickle can ask for gigabytes (a memo slot with a huge number, a string with a
huge length). Real ones need memory in proportion to their length, so a ceiling in proportion to
what has been read turns a bomb into a MemoryError at once and bothers nobody else.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

try:
    import resource
except ImportError:  # pragma: no cover - Windows: the store's own limits have to do
    resource = None  # type: ignore[assignment]

SLACK = 256 << 20
PER_BYTE = 64  # an empty dictionary is one byte in a pickle and 64 in memory
_FALLBACK = 8 << 30


def address_space() -> int | None:
    """Bytes of address space this process uses; None where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def available() -> int:
    """Bytes this process may still take: the least of its limit and the machine's free memory."""
    room = [_FALLBACK]
    try:
        with open("/proc/meminfo", "rb") as file:
            free = [line for line in file if line.startswith(b"MemAvailable:")]
        room = [int(free[0].split()[1]) << 10]
    except (OSError, ValueError, IndexError):
        pass  # not Linux: the fallback stands
    used = address_space()
    if resource is not None and used is not None:
        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            room.append(max(0, soft - used))
    return min(room)


class MemoryCeiling:
    """A limit on this process's address space that ``grant`` raises; see :func:`memory_ceiling`."""

    def __init__(self, base: int, before: tuple[int, int]) -> None:
        self._base = base
        self._before = before

    def grant(self, read: int) -> None:
        """Allow what ``read`` bytes of input, in all, may need."""
        limits = [limit for limit in self._before if limit != resource.RLIM_INFINITY]
        ceiling = min([self._base + PER_BYTE * read, *limits])
        resource.setrlimit(resource.RLIMIT_AS, (ceiling, self._before[1]))


@contextmanager
def memory_ceiling(size: int) -> Iterator[Callable[[int], None]]:
    """Limits this process's address space inside the block; what it yields raises the limit.

    ``size`` is the length of the file, which may be held once whole; the yielded function takes
    the count of bytes read so far. Only for a process that does nothing else. Does nothing where
    the system has no such limit.
    """
    used = address_space()
    if resource is None or used is None:
        yield _unlimited
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    ceiling = MemoryCeiling(used + SLACK + 2 * size, before)
    ceiling.grant(0)
    try:
        yield ceiling.grant
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _unlimited(read: int) -> None:
    """No limit to raise."""


@contextmanager
def without_collector() -> Iterator[None]:
    """No garbage collection: it walks all that was read, again and again, for nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
