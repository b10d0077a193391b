"""Time stamps of a Kineto trace (microseconds, in whatever kind of number) to nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.recording.arrays import IntArray

#: What a time stamp can be; anything else is none.
TIMES = frozenset([int, float, Decimal])
_LATEST = 1 << 62  # nanoseconds: no time stamp is as late


def nanoseconds(micros: Sequence[Any]) -> IntArray:
    """Microseconds (integers, floats, decimals) as integers of nanoseconds. Raises Malformed."""
    kinds = set(map(type, micros))
    try:
        if kinds <= {int}:
            found = np.array(micros, dtype=np.int64)
            if len(found) and max(abs(int(found.min())), int(found.max())) * 1000 > _LATEST:
                raise OverflowError
            return found * 1000
        if kinds <= {int, float}:
            exact = np.rint(np.array(micros, dtype=np.float64) * 1000)
            if len(exact) and not np.abs(exact).max() <= _LATEST:
                raise OverflowError
            return exact.astype(np.int64)
        return np.array([int((Decimal(each) * 1000).to_integral_value()) for each in micros], "i8")
    except (OverflowError, InvalidOperation):
        raise Malformed("has time stamps that are none") from None
