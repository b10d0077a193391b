"""Memory that answers took, given back to the system.

The C library keeps what was freed for later, for each of the threads that answer by itself; after
large answers that is more than all else the plugin holds.
"""

from __future__ import annotations

import ctypes
import threading
import time

#: Bytes from which on memory is the system's again as soon as it is freed. What is larger is rare
#: enough that having it anew each time costs little; what is smaller is used again.
LARGE = 2 << 20
#: Bytes that the room of a thread may have free at its end.
_MOST_FREE = 2 * LARGE

_EVERY = 1.0  # seconds between two times
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = (
    -1,
    -3,
    -8,
)  # parameters of mallopt in glibc's malloc.h

_lock = threading.Lock()
_last = 0.0


def give_back_at_once() -> None:
    """Have this process keep little of what was freed, where glibc is the C library.

    By itself it learns from the first large array that is freed to keep tens of megabytes, for each
    thread, and trimming does not get at what lies at the end of the room of another thread.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return
    set_option(_MMAP_THRESHOLD, LARGE)
    set_option(_TRIM_THRESHOLD, _MOST_FREE)


def trim() -> None:
    """Give freed memory back, now and then, where the C library is one that can (glibc)."""
    global _last
    with _lock:
        now = time.monotonic()
        if now - _last < _EVERY:
            return
        _last = now
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return
