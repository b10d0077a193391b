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
from tb_memory_plugin.views import grid

#: Rows between two states that are kept.
STRIDE = 64
_CHUNK = STRIDE << 11
#: Rows whose maxima are found together: what that takes stays in the processor's cache, and is too
#: little for the C allocator to give back and ask for again.
_PIECE = STRIDE << 8


@dataclass(frozen=True)
class Bands:
    """The band that every row of usage moves, and the bytes of all bands at every 64th row."""

    moved: IntArray
    kept: IntArray  # one row for every STRIDE rows of usage, one column a band


def bands(recording: Recording, device: Device, by: str, pattern: str, top: int) -> Bands:
    """The bands of the groups that ``ranking`` gives for the same arguments."""
    key = ("bands", device.index, by, argument(by, pattern), top)
    return memo(recording, key, lambda: _ranked(recording, device, by, pattern, top))


def at_rows(recording: Recording, device: Device, of: Bands, rows: IntArray) -> IntArray:
    """The bytes of every band (a column each) after ``rows`` of the device's usage, exactly."""
    count = of.kept.shape[1]
    block = rows // STRIDE
    lengths = rows - block * STRIDE
    states: IntArray = of.kept[block]
    total = int(lengths.sum())
    if not total or not count:
        return states
    which = np.repeat(np.arange(len(rows)), lengths)
    before = np.cumsum(lengths) - lengths
    moving = np.arange(total) - before[which] + (block * STRIDE + 1)[which]
    allocated = recording.values("usage", "allocated", device)
    deltas = allocated[moving] - allocated[moving - 1]
    sums = exact.sum_by(which * count + of.moved[moving], deltas, len(rows) * count)
    exact_states: IntArray = states + sums.reshape(-1, count)
    return exact_states


def highest(recording: Recording, device: Device, of: Bands, bins: grid.Bins) -> IntArray:
    """The most bytes of every band (a column each) after any of the rows seen in each bin."""
    found = np.zeros((len(bins.start), of.kept.shape[1]), dtype=np.int64)
    if not found.size:
        return found
    # So many bins at a time that their rows take little memory; one at least.
    pieces = (bins.stop - bins.start[0]) // _PIECE
    edges = np.append(np.flatnonzero(np.append(True, pieces[1:] != pieces[:-1])), len(pieces))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        start, stop = bins.start[begin:end], bins.stop[begin:end]
        found[begin:end] = _highest(recording, device, of, start, stop)
    return found


def _highest(
    recording: Recording, device: Device, of: Bands, start: IntArray, stop: IntArray
) -> IntArray:
    first, last = int(start[0]), int(stop[-1])
    allocated = recording.values("usage", "allocated", device)[first:last]
    before = at_rows(recording, device, of, start[:1])[0]
    moved = of.moved[first + 1 : last]
    deltas = allocated[1:] - allocated[:-1]
    found = np.empty((len(start), len(before)), dtype=np.int64)
    for band in range(len(before)):
        own = np.flatnonzero(moved == band)
        after = np.append(0, np.cumsum(deltas[own])) + before[band]
        row = own + first + 1
        low = np.searchsorted(row, start, side="right")
        found[:, band] = most(after, low, np.searchsorted(row, stop, side="left"))
    return found


def most(values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The largest of ``values[first]`` … ``values[last]``, both with it, for each pair."""
    if not len(first):
        return np.zeros(0, dtype=np.int64)
    pairs = np.stack([first, last + 1], axis=1).ravel()
    found: IntArray = np.maximum.reduceat(np.append(values, values[-1]), pairs)[::2]
    return found


def of_bands(recording: Recording, device: Device, band: IntArray, count: int) -> Bands:
    """The bands of allocations of which ``band`` names the one of 0 … ``count`` - 1 each is in."""
    allocated = recording.values("usage", "allocated", device)
    moved = _moved(recording, device, band)
    blocks = (len(allocated) - 1) // STRIDE
    kept = np.zeros((blocks + 1, count), dtype=np.int64)
    if not count:
        return Bands(moved, kept)
    before = int(np.searchsorted(recording.values("allocations", "birth", device), 0))
    kept[0] = exact.sum_by(band[:before], bytes_of(recording, device)[:before], count)
    # In pieces, so that little memory is taken at a time.
    cells = np.repeat(np.arange(_CHUNK // STRIDE) * count, STRIDE)
    for begin in range(0, blocks * STRIDE, _CHUNK):
        end = min(begin + _CHUNK, blocks * STRIDE)
        deltas = allocated[begin + 1 : end + 1] - allocated[begin:end]
        first, filled = begin // STRIDE, (end - begin) // STRIDE
        cell = cells[: end - begin] + moved[begin + 1 : end + 1]
        sums = exact.sum_by(cell, deltas, filled * count)
        kept[first + 1 : first + 1 + filled] = sums.reshape(filled, count)
    np.cumsum(kept, axis=0, out=kept)
    return Bands(moved, kept)


def _ranked(recording: Recording, device: Device, by: str, pattern: str, top: int) -> Bands:
    groups = group_ids(recording, device, by, pattern)
    ranked = ranking(recording, device, by, pattern, top)
    return of_bands(recording, device, ranked.band[groups.ids], ranked.bands)


def _moved(recording: Recording, device: Device, band: IntArray) -> IntArray:
    """The band of the allocation of every row; 0 where a row moves no allocation."""
    first = recording.rows("allocations", device).start
    allocation = recording.values("usage", "allocation", device)
    own = np.append(band, band.dtype.type(0))
    moved = np.empty(len(allocation), dtype=band.dtype)
    for begin in range(0, len(allocation), _CHUNK):
        rows = allocation[begin : begin + _CHUNK]
        if first:
            rows = np.maximum(rows - first, -1)
        moved[begin : begin + len(rows)] = own[rows]  # -1: the last, 0
    return moved
