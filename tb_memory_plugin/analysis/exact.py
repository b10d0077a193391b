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
#: Where a factor is cut, in bits.
_CUT = 20
_UNIT = 1 << _CUT
#: Sums that floats tell to be below this are below 2⁶³.
_SAFE = float(1 << 62)


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
    # Where all together are less than floats are exact to nothing is rounded.
    if _most(array) < _EXACT_FLOAT or np.abs(rounded).sum() < _EXACT_FLOAT:
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
    """Sums of products by group, exact however large: add parts, then ask.

    The second factor is cut in two, the products of each part are summed as 64-bit integers, and
    floats that bound those sums tell when they have to be put away before they overflow.
    """

    def __init__(self, count: int) -> None:
        self._high = np.zeros(count, dtype=np.int64)  # in units of 2 ** _CUT
        self._low = np.zeros(count, dtype=np.int64)
        self._most_high = 0.0
        self._most_low = 0.0
        self._beyond: IntArray | None = None  # Python's integers, where 64 bits were too few

    def add(self, groups: IntArray, first: IntArray, second: IntArray) -> None:
        """Add ``first`` × ``second``, neither of which is ever negative, to their ``groups``."""
        for begin in range(0, len(groups), _PART):
            part = slice(begin, begin + _PART)
            self._add(groups[part], first[part], second[part])

    def totals(self) -> IntArray:
        """The sum of each group: int64, or Python's integers where all together are too many."""
        high, low = (float(sums.sum(dtype=np.float64)) for sums in (self._high, self._low))
        if self._beyond is None and high * _UNIT + low < _SAFE:
            small: IntArray = (self._high << _CUT) + self._low
            return small
        return self._whole()

    def _add(self, groups: IntArray, first: IntArray, second: IntArray) -> None:
        high = second >> _CUT
        weight = float(first.sum(dtype=np.float64))
        most_high, most_low = weight * float(high.max(initial=0)), weight * _UNIT
        if self._most_high + most_high >= _SAFE:  # nearer, but slower
            most_high = float(first.astype(np.float64) @ high.astype(np.float64))
        if max(most_high, most_low) >= _SAFE:
            if self._beyond is None:
                self._beyond = np.zeros(len(self._high), dtype=object)
            np.add.at(self._beyond, groups, first.astype(object) * second.astype(object))
            return
        if self._most_low + most_low >= _SAFE:
            self._high += self._low >> _CUT
            self._low &= _UNIT - 1
            self._most_high += self._most_low / _UNIT
            self._most_low = float(_UNIT)
        if self._most_high + most_high >= _SAFE:
            self._beyond = self._whole()
            self._high[:] = self._low[:] = 0
            self._most_high = self._most_low = 0.0
        if most_high:
            np.add.at(self._high, groups, first * high)
        np.add.at(self._low, groups, first * (second & (_UNIT - 1)))
        self._most_high += most_high
        self._most_low += most_low

    def _whole(self) -> IntArray:
        sums: IntArray = self._high.astype(object) * _UNIT + self._low.astype(object)
        return sums if self._beyond is None else np.add(self._beyond, sums)


def _most(array: IntArray) -> int:
    """No less than the sum of absolute values."""
    return max(int(array.max()), -int(array.min())) * len(array) if len(array) else 0


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
