"""The rows that come first in an order, found without bringing all into it."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray

#: Rows looked at at a time: what is made of them stays in the processor's cache.
_PART = 1 << 16


def leading(keys: IntArray, among: IntArray, count: int, *, falling: bool) -> IntArray:
    """The ``count`` rows with the smallest ``keys``, in order; the largest ones if ``falling``.

    Only rows for which ``among`` is true count. Of equals the lower row comes first, or, falling,
    last.
    """
    sign = -1 if falling else 1
    values, rows = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    limit: int | None = None  # what a row has to be below once there are enough
    for begin in range(0, len(keys), _PART)[::sign]:
        seen = among[begin : begin + _PART]
        own = np.flatnonzero(seen)[::sign]
        value = keys[begin : begin + _PART][own] * sign
        if limit is not None:
            better = value < limit
            own, value = own[better], value[better]
        values, rows = np.append(values, value), np.append(rows, own + begin)
        if count and len(values) >= count:
            limit = int(np.partition(values, count - 1)[count - 1])
            kept = values < limit
            equal = np.flatnonzero(values == limit)
            kept[equal[: count - int(np.count_nonzero(kept))]] = True
            values, rows = values[kept], rows[kept]
    found: IntArray = rows[np.argsort(values, kind="stable")][:count]
    return found
