"""Memory that answers took, given back to the system.

The C library keeps what was freed for later; after large answers in many threads that is more
than all else the plugin holds.
"""

from __future__ import annotations

import ctypes
import threading
import time

_EVERY = 1.0  # seconds between two times

_lock = threading.Lock()
_last = 0.0


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
