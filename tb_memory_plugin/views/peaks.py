"""A curve, made into something that tells where it is highest between any two rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray

#: Rows of a block. The table of blocks takes 4 · log2(rows / BLOCK) / BLOCK bytes a row.
BLOCK = 64


@dataclass(frozen=True)
class Peaks:
    """Where blocks are highest: ``levels[j][b]`` is a row of blocks b … b + 2ʲ - 1."""

    levels: tuple[IntArray, ...]


def peaks(values: IntArray) -> Peaks:
    """Prepare ``values`` for :func:`highest`."""
    whole = len(values) // BLOCK
    at = values[: whole * BLOCK].reshape(-1, BLOCK).argmax(axis=1)
    levels = [(at + np.arange(whole) * BLOCK).astype(np.int32)]
    best = values[levels[0]]  # beside the rows: picking them from all values takes far longer
    span = 1
    while 2 * span <= whole:
        lower = levels[-1]
        levels.append(np.where(best[span:] > best[:-span], lower[span:], lower[:-span]))
        best = np.maximum(best[span:], best[:-span])
        span *= 2
    return Peaks(tuple(levels))


def highest(values: IntArray, prepared: Peaks, start: IntArray, stop: IntArray) -> IntArray:
    """For every range ``start`` … ``stop`` - 1, none empty, the first row where it is highest."""
    low, high = -(-start // BLOCK), stop // BLOCK
    within = low >= high  # no whole block: at most two parts of one
    head_stop = np.where(within, stop, low * BLOCK)
    best = np.where(start < head_stop, start, -1)
    head = np.flatnonzero(start < head_stop)
    best[head] = _scan(values, start[head], head_stop[head])
    middle = np.flatnonzero(~within)
    if len(middle):
        best[middle] = _after(
            values, best[middle], _blocks(values, prepared, low[middle], high[middle])
        )
    tail = np.flatnonzero(~within & (high * BLOCK < stop))
    if len(tail):
        best[tail] = _better(values, best[tail], _scan(values, high[tail] * BLOCK, stop[tail]))
    return best


def _blocks(values: IntArray, prepared: Peaks, low: IntArray, high: IntArray) -> IntArray:
    """Where blocks ``low`` … ``high`` - 1 are highest: two overlapping powers of two of them."""
    found = np.empty(len(low), dtype=np.int64)
    powers = np.frexp((high - low).astype(np.float64))[1] - 1
    for power in np.flatnonzero(np.bincount(powers)):
        chosen = powers == power
        level = prepared.levels[power]
        found[chosen] = _better(values, level[low[chosen]], level[high[chosen] - (1 << power)])
    return found


def _scan(values: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    if not len(start):
        return start
    reach = int((stop - start).max())
    rows = np.minimum(start[:, None] + np.arange(reach), (stop - 1)[:, None])
    first: IntArray = start + values[rows].argmax(axis=1)
    return first


def _after(values: IntArray, first: IntArray, second: IntArray) -> IntArray:
    """As :func:`_better`, where ``first`` may be -1 for none."""
    return np.where(first < 0, second, _better(values, first, second))


def _better(values: IntArray, first: IntArray, second: IntArray) -> IntArray:
    """Of two rows the higher one; of equals the first."""
    return np.where(values[second] > values[first], second, first)
