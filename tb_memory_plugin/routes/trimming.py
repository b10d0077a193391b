"""Memory that answers took, given back to the system.

The C library keeps what was freed for later, for each of the threads that answer by itself; after
large answers that is more than all else the plugin holds.
"""

from __future__ import annotations

import ctypes
import threading
import time

from tb_memory_plugin import heap

#: Bytes from which on memory is the system's again as soon as it is freed. What is larger is rare
#: enough that having it anew each time costs little; what is smaller is used again.
LARGE = 2 << 20

_EVERY = 1.0  # seconds between two times

_lock = threading.Lock()
_last = 0.0


def give_back_at_once() -> None:
    """Have this process keep little of what was freed: trimming does not get at all of it.

    What lies at the end of the room of another thread stays there.
    """
    heap.give_back_at_once(LARGE)


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
