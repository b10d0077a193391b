"""Stable orders of 64-bit columns, 16 bits at a time: numpy counts these instead of comparing."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray

_BITS = 64
_DIGIT = 16


def stable_order(keys: IntArray) -> IntArray:
    """What ``np.argsort(keys, kind="stable")`` gives, in a third of the time for most columns.

    Bits that all keys share cost nothing: addresses are multiples of 64 or 512 and lie in a few
    terabytes.
    """
    if len(keys) < 2 or keys.dtype.itemsize < 8:
        return np.argsort(keys, kind="stable")
    # Differences modulo 2⁶⁴ are right for signed keys too.
    left = keys.astype(np.uint64) - np.uint64(int(keys.min()) % (1 << _BITS))
    used = int(np.bitwise_or.reduce(left))
    left >>= np.uint64(max((used & -used).bit_length() - 1, 0))
    order: IntArray = np.argsort(left.astype(np.uint16), kind="stable")
    while (left := left >> np.uint64(_DIGIT)).any():
        digit = left.astype(np.uint16)[order]
        order = order[np.argsort(digit, kind="stable")]
    return order
