"""The rows that come first in an order, found without bringing all into it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray

#: The key of a row that has none.
UNKNOWN = np.iinfo(np.int64).max
#: Rows looked at at a time: what is made of them stays in the processor's cache.
_PART = 1 << 16


def leading(
    keys: Callable[[slice], IntArray], among: IntArray, count: int, *, falling: bool
) -> IntArray:
    """The ``count`` rows with the smallest ``keys``, in order; the largest ones if ``falling``.

    Only rows for which ``among`` is true count; ``keys`` gives those of a part of them. Of equals
    the lower row comes first, or, falling, last. Rows of which the key is ``UNKNOWN`` come after
    all others, lower ones first.
    """
    sign = -1 if falling else 1
    values, rows, others = (np.zeros(0, dtype=np.int64) for _ in range(3))
    limit: int | None = None  # what a row has to be below once there are enough
    for begin in range(0, len(among), _PART)[::sign]:
        part = slice(begin, begin + _PART)
        own = np.flatnonzero(among[part])
        value = keys(part)[own]
        known = value != UNKNOWN
        if not known.all():
            apart = own[~known] + begin
            others = np.concatenate([apart, others] if falling else [others, apart])[:count]
            own, value = own[known], value[known]
        own, value = own[::sign], value[::sign] * sign
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
    found = rows[np.argsort(values, kind="stable")]
    return np.append(found, others)[:count]
