"""Groups of allocations, made into something that tells their bytes at any row of usage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import argument, group_ids
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.ranking import ranking
from tb_memory_plugin.recording.recording import Device, Recording

#: Rows between two states that are kept.
STRIDE = 256
#: Rows, and bins, looked at at a time: what that takes stays in the processor's cache, and is too
#: little for the C allocator to give back and ask for again.
_CHUNK = STRIDE << 8
_BINS = 256


@dataclass(frozen=True)
class Bands:
    """The band of every allocation, and the bytes of all bands at every ``STRIDE``-th row."""

    own: IntArray  # and 0 for none, at its end
    kept: IntArray  # one row for every STRIDE rows of usage, one column a band


def bands(recording: Recording, device: Device, by: str, pattern: str, top: int) -> Bands:
    """The bands of the groups that ``ranking`` gives for the same arguments."""
    key = ("bands", device.index, by, argument(by, pattern), top)
    return memo(recording, key, lambda: _ranked(recording, device, by, pattern, top))


def at_rows(recording: Recording, device: Device, of: Bands, rows: IntArray) -> IntArray:
    """The bytes of every band (a column each) after ``rows`` of the device's usage, exactly."""
    count = of.kept.shape[1]
    block = rows // STRIDE
    states: IntArray = of.kept[block]
    lengths = rows - block * STRIDE
    for begin in range(0, len(rows) if count else 0, _BINS):
        part = slice(begin, begin + _BINS)
        length = lengths[part]
        which = np.repeat(np.arange(len(length)), length)
        before = np.cumsum(length) - length
        moving = np.arange(len(which)) - before[which] + (block[part] * STRIDE + 1)[which]
        cell = which * count + moved(recording, device, of, moving)
        sums = exact.sum_by(cell, _deltas(recording, device, moving), len(length) * count)
        states[part] += sums.reshape(-1, count)
    return states


def moved(recording: Recording, device: Device, of: Bands, rows: IntArray | slice) -> IntArray:
    """The band of the allocation that each of ``rows`` moves; 0 where it moves none."""
    first = recording.rows("allocations", device).start
    allocation = recording.values("usage", "allocation", device)[rows]
    if first:
        allocation = np.maximum(allocation - first, -1)
    return of.own[allocation]  # -1: the last


def of_bands(recording: Recording, device: Device, band: IntArray, count: int) -> Bands:
    """The bands of allocations of which ``band`` names the one of 0 … ``count`` - 1 each is in."""
    allocated = recording.values("usage", "allocated", device)
    blocks = (len(allocated) - 1) // STRIDE
    kept = np.zeros((blocks + 1, count), dtype=np.int64)
    found = Bands(np.append(band, band.dtype.type(0)), kept)
    if not count:
        return found
    before = int(np.searchsorted(recording.values("allocations", "birth", device), 0))
    kept[0] = exact.sum_by(band[:before], bytes_of(recording, device)[:before], count)
    cells = np.repeat(np.arange(_CHUNK // STRIDE) * count, STRIDE)
    for begin in range(0, blocks * STRIDE, _CHUNK):
        end = min(begin + _CHUNK, blocks * STRIDE)
        deltas = allocated[begin + 1 : end + 1] - allocated[begin:end]
        first, filled = begin // STRIDE, (end - begin) // STRIDE
        cell = cells[: end - begin] + moved(recording, device, found, slice(begin + 1, end + 1))
        sums = exact.sum_by(cell, deltas, filled * count)
        kept[first + 1 : first + 1 + filled] = sums.reshape(filled, count)
    np.cumsum(kept, axis=0, out=kept)
    return found


def _deltas(recording: Recording, device: Device, rows: IntArray) -> IntArray:
    """By how many bytes each of ``rows``, none of which is the first, changes what is allocated."""
    allocated = recording.values("usage", "allocated", device)
    changes: IntArray = allocated[rows] - allocated[rows - 1]
    return changes


def _ranked(recording: Recording, device: Device, by: str, pattern: str, top: int) -> Bands:
    groups = group_ids(recording, device, by, pattern)
    ranked = ranking(recording, device, by, pattern, top)
    return of_bands(recording, device, ranked.band[groups.ids], ranked.bands)
