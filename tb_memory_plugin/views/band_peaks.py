"""The most that every band ever holds in any stretch of rows of usage."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.stretches import most
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import grid
from tb_memory_plugin.views.bands import STRIDE, Bands, moved

#: Stretches looked at at a time: so many rows at most, ``STRIDE`` times, are little memory.
_STRETCHES = 512


def tops(recording: Recording, device: Device, of: Bands) -> IntArray:
    """The most bytes of every band (a column each) after any row of each block of ``STRIDE``."""
    rows = len(recording.values("usage", "allocated", device))
    block = np.arange(len(of.kept))
    last = np.minimum(rows - block * STRIDE, STRIDE) - 1
    return _within(recording, device, of, block, np.zeros_like(block), last)


def highest(
    recording: Recording, device: Device, of: Bands, known: IntArray, bins: grid.Bins
) -> IntArray:
    """The most bytes of every band (a column each) after any of the rows seen in each bin.

    ``known`` are the band's :func:`tops`: of a bin only where it begins and ends is looked at row
    by row.
    """
    count = of.kept.shape[1]
    if not (len(bins.start) and count):
        return np.zeros((len(bins.start), count), dtype=np.int64)
    first, last = bins.start // STRIDE, (bins.stop - 1) // STRIDE
    begin, end = bins.start % STRIDE, (bins.stop - 1) % STRIDE
    alone = first == last
    # Where each begins, and where it ends, by turns: in the order of rows.
    block = np.stack([first, last], axis=1).ravel()
    low = np.stack([begin, np.where(alone, begin, 0)], axis=1).ravel()
    high = np.stack([np.where(alone, end, STRIDE - 1), end], axis=1).ravel()
    parts = _within(recording, device, of, block, low, high).reshape(len(first), 2, count)
    found: IntArray = parts.max(axis=1)
    wide = np.flatnonzero(last > first + 1)
    for band in range(count):
        between = most(known[:, band], first[wide] + 1, last[wide] - 1)
        found[wide, band] = np.maximum(found[wide, band], between)
    return found


def _within(
    recording: Recording, device: Device, of: Bands, block: IntArray, low: IntArray, high: IntArray
) -> IntArray:
    """The most of every band after rows ``low`` … ``high`` of each block, which are in order."""
    found = np.empty((len(block), of.kept.shape[1]), dtype=np.int64)
    for begin in range(0, len(block), _STRETCHES):
        part = slice(begin, begin + _STRETCHES)
        found[part] = _stretches(recording, device, of, block[part], low[part], high[part])
    return found


def _stretches(
    recording: Recording, device: Device, of: Bands, block: IntArray, low: IntArray, high: IntArray
) -> IntArray:
    allocated = recording.values("usage", "allocated", device)
    new = np.append(True, block[1:] != block[:-1])
    blocks, place = block[new], np.cumsum(new) - 1
    rows = np.add.outer(blocks * STRIDE, np.arange(STRIDE)).ravel()
    np.minimum(rows, len(allocated) - 1, out=rows)  # the last block may be short
    band_of = moved(recording, device, of, rows)
    deltas = allocated[rows] - allocated[rows - 1]
    heads = np.arange(len(blocks)) * STRIDE  # there the state is kept
    low, high = low + place * STRIDE, high + place * STRIDE
    found = np.empty((len(block), of.kept.shape[1]), dtype=np.int64)
    for band in range(found.shape[1]):
        own = band_of == band
        own[heads] = True
        row = np.flatnonzero(own)
        change = deltas[row]
        head = np.searchsorted(row, heads)
        change[head] = 0
        after = np.cumsum(change)
        after += np.repeat(of.kept[blocks, band] - after[head], np.diff(np.append(head, len(row))))
        left = np.searchsorted(row, low, side="right") - 1
        found[:, band] = most(after, left, np.searchsorted(row, high, side="right") - 1)
    return found
