"""Freed memory that the C library keeps, where it is glibc: it counts as this process's."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt in glibc's malloc.h


def give_back_at_once(large: int) -> None:
    """Have arrays of ``large`` bytes and more be the system's again as soon as they are freed.

    By itself the library learns from the first large array that is freed to keep tens of megabytes,
    for each thread.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return
    set_option(_MMAP_THRESHOLD, large)
    set_option(_TRIM_THRESHOLD, 4 * large)
