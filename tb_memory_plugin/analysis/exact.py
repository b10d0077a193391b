"""Sums of 64-bit byte counts that are exact or refused, never wrapped and never rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[Any]

_EXACT_FLOAT = 1 << 52
_LIMIT = 1 << 63
#: Rows whose 32-bit halves float64 sums exactly: 32 + 20 bits of 53.
_CHUNK = 1 << 20


def total(values: IntArray) -> int:
    """The sum as a Python integer, however large."""
    array = np.asarray(values, dtype=np.int64)
    if _magnitude(array) < _LIMIT // 2:
        return int(array.sum())
    high, low = _halves(array)
    return (int(high.sum()) << 32) + int(low.sum())


def running(start: int, deltas: IntArray) -> IntArray:
    """``start`` followed by its running sums with ``deltas``: one element more than ``deltas``.

    Raises OverflowError where one of them does not fit 64 bits.
    """
    array = np.asarray(deltas, dtype=np.int64)
    if not -_LIMIT <= start < _LIMIT:
        raise OverflowError
    if abs(start) + _magnitude(array) >= _LIMIT // 2:
        high, low = _halves(array)
        _refuse_overflow(np.cumsum(high) + (start >> 32), np.cumsum(low) + (start & 0xFFFFFFFF))
    sums = np.empty(len(array) + 1, dtype=np.int64)
    sums[0] = start
    np.cumsum(array, out=sums[1:])
    sums[1:] += start
    return sums


def sum_by(groups: IntArray, values: IntArray, count: int) -> IntArray:
    """The sum of ``values`` in each of ``count`` groups, as int64.

    ``groups`` holds a group of 0 … count - 1 for every value. Raises OverflowError.
    """
    array = np.asarray(values, dtype=np.int64)
    rounded = array.astype(np.float64)
    if not len(array) or np.abs(rounded).sum() < _EXACT_FLOAT:  # then nothing was rounded
        return np.bincount(groups, weights=rounded, minlength=count).astype(np.int64)
    high, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for begin in range(0, len(array), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        highs, lows = _halves(array[part])
        high += np.bincount(groups[part], weights=highs, minlength=count).astype(np.int64)
        low += np.bincount(groups[part], weights=lows, minlength=count).astype(np.int64)
    _refuse_overflow(high, low)
    return (high << 32) + low


def _magnitude(array: IntArray) -> float:
    """The sum of absolute values, rounded: for bounds with room to spare only."""
    return float(np.abs(array.astype(np.float64)).sum()) if len(array) else 0.0


def _halves(array: IntArray) -> tuple[IntArray, IntArray]:
    """``array`` as high · 2³² + low with 0 ≤ low < 2³²: each sums without overflow."""
    return array >> 32, array & 0xFFFFFFFF


def _refuse_overflow(high: IntArray, low: IntArray) -> None:
    carried = high + (low >> 32)
    if len(carried) and (carried.max() >= 1 << 31 or carried.min() < -(1 << 31)):
        raise OverflowError
