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
#: Rows whose products are worked out at a time: they stay in the processor's cache.
_PART = 1 << 15
#: Up to here the float sum of _CHUNK products, in parts, is off by less than 2⁶³.
_NEAR = float(1 << 88)


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


class Products:
    """Sums of products by group, as Python integers, however large: add parts, then ask.

    Products are summed modulo 2⁶⁴, exactly; how often 2⁶⁴ fits into a sum is told by a float,
    which is near enough for as many rows as are added before the sums are put together.
    """

    def __init__(self, count: int) -> None:
        self._totals = [0] * count
        self._rows = 0
        self._high = np.zeros(count, dtype=np.int64)
        self._low = np.zeros(count, dtype=np.int64)
        self._near = np.zeros(count, dtype=np.float64)

    def add(self, groups: IntArray, first: IntArray, second: IntArray) -> None:
        """Add ``first`` × ``second``, neither of which is ever negative, to their ``groups``."""
        for begin in range(0, len(groups), _PART):
            part = slice(begin, begin + _PART)
            group, one, other = groups[part], first[part], second[part]
            count = len(self._totals)
            near = np.bincount(group, one.astype(np.float64) * other.astype(np.float64), count)
            if near.max(initial=0) >= _NEAR:
                rows = zip(group.tolist(), one.tolist(), other.tolist(), strict=True)
                for place, factor, other_factor in rows:
                    self._totals[place] += factor * other_factor
                continue
            if self._rows + len(group) > _CHUNK:
                self._put_together()
            self._rows += len(group)
            wrapped = one.astype(np.uint64) * other.astype(np.uint64)
            self._near += near
            self._high += np.bincount(group, wrapped >> np.uint64(32), count).astype(np.int64)
            self._low += np.bincount(group, wrapped & np.uint64(0xFFFFFFFF), count).astype(np.int64)

    def totals(self) -> list[int]:
        """The sum of each group."""
        self._put_together()
        return list(self._totals)

    def _put_together(self) -> None:
        for place in np.flatnonzero(self._near).tolist():
            guess = int(self._near[place])
            off = (int(self._high[place]) << 32) + int(self._low[place]) - guess
            self._totals[place] += guess + (off + _LIMIT) % (2 * _LIMIT) - _LIMIT
        self._rows = 0
        for sums in (self._high, self._low, self._near):
            sums[:] = 0


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
