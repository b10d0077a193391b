"""Bins of a picture, made into the one instant that each shows: where what is drawn is highest."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import reserved_known
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.views import grid, peaks, usage
from tb_memory_plugin.views.tile.lives import Lives

#: Rows that are looked at together: they stay in the processor's cache.
_PART = 1 << 14


def highest(recording: Recording, device: Device, of: Lives, bins: grid.Bins) -> IntArray:
    """The row of usage that every bin shows: one at which the kept lives of ``of`` are highest.

    Where the row at which all lives are highest is one of those it is that, so that pictures show
    the instants of the curve as far as they can; else it is the first. Rows never go back. What is
    left out costs a look at the rows of the window, nothing of what lies outside it.
    """
    shown = _of_all(recording, device, of, bins)
    told = of.table == "allocations" or reserved_known(recording, device)
    if (of.kept is None and told) or not len(shown):
        return shown
    kept = np.ones(len(of.birth), dtype=bool) if of.kept is None else of.kept
    first = int(bins.start[0])
    sums = _moving(recording, device, of, kept, first, int(bins.stop[-1]))
    best = peaks.highest(sums, peaks.peaks(sums), bins.start - first, bins.stop - first)
    found: IntArray = np.where(sums[shown - first] == sums[best], shown, best + first)
    return found


def _of_all(recording: Recording, device: Device, of: Lives, bins: grid.Bins) -> IntArray:
    if of.table == "allocations":
        return usage.highest(recording, device, bins)
    reserved = recording.values("usage", "reserved", device)
    key = ("reserved_peaks", device.index)
    prepared = memo(recording, key, lambda: peaks.peaks(reserved))
    return peaks.highest(reserved, prepared, bins.start, bins.stop)


def _moving(
    recording: Recording, device: Device, of: Lives, kept: IntArray, first: int, stop: int
) -> IntArray:
    """The bytes of the kept lives after the rows ``first`` … ``stop`` - 1, less those at the first.

    After the first of several rows of one event may stand what it all does.
    """
    sums = np.zeros(stop - first, dtype=np.int64)
    if of.table == "allocations":
        passing = np.append(kept, False)  # where a row moves no allocation: -1, the last
        allocated = recording.values("usage", "allocated", device)
        allocation = recording.values("usage", "allocation", device)
        for begin in range(first + 1, stop, _PART):
            end = min(begin + _PART, stop)
            row = allocation[begin:end]
            if of.start:
                row = np.maximum(row - of.start, -1)
            moved = sums[begin - first : end - first]
            np.subtract(allocated[begin:end], allocated[begin - 1 : end - 1], out=moved)
            moved *= passing.take(row, mode="wrap")
            moved[0] += sums[begin - first - 1]
            np.cumsum(moved, out=moved)
        return sums
    event = recording.values("usage", "event", device)[first:stop]
    for moment, sign in ((of.birth, 1), (of.death, -1)):
        there = (moment > event[0]) & (moment <= event[-1]) & (moment < AFTER)
        moved = np.flatnonzero(there & kept)
        place = np.searchsorted(event, moment[moved])
        sums += sign * exact.sum_by(place, of.bytes[moved], len(sums))
    return np.cumsum(sums, out=sums)
