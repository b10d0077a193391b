"""Stable orders of 64-bit columns, by one sort of packed integers where these are wide enough."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray

_BITS = 64


def stable_order(keys: IntArray) -> IntArray:
    """What ``np.argsort(keys, kind="stable")`` gives, in a third of the time for most columns.

    A key without the bits that all keys share and its row fit 64 bits together, unless keys are
    far apart: addresses are multiples of 64 or 512 and lie in a few terabytes. Such pairs are all
    different, and numpy sorts integers much faster than it finds their order.
    """
    count = len(keys)
    if count < 2 or keys.dtype.itemsize < 8:
        return np.argsort(keys, kind="stable")
    # Differences modulo 2⁶⁴ are right for signed keys too.
    packed = keys.astype(np.uint64) - np.uint64(int(keys.min()) % (1 << _BITS))
    used = int(np.bitwise_or.reduce(packed))
    unused = max((used & -used).bit_length() - 1, 0)
    row = (count - 1).bit_length()
    if used.bit_length() - unused + row > _BITS:
        return np.argsort(keys, kind="stable")
    packed >>= np.uint64(unused)
    packed <<= np.uint64(row)
    packed |= np.arange(count, dtype=np.uint64)
    packed.sort()
    packed &= np.uint64((1 << row) - 1)
    found: IntArray = packed.view(np.int64)
    return found
