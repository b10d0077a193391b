"""The most bytes of every operator's own that were alive at once in a window."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.recording.recording import Device, Recording

_PART = 1 << 15
_NOT_SEEN = -1


def peaks(
    recording: Recording, device: Device, window: EventWindow, owner: IntArray, width: int
) -> IntArray:
    """For each of ``width`` owners the peak of what is theirs, after any event of the window.

    What was carried into the window counts where it is seen in it. ``owner`` gives the owner of
    every allocation of the device.
    """
    event = recording.values("usage", "event", device)
    allocated = recording.values("usage", "allocated", device)
    moved = recording.values("usage", "allocation", device)
    start = recording.rows("allocations", device).start
    first, stop = np.searchsorted(event, (window.first, window.stop)).tolist()
    level = _before(recording, device, window.first, owner, width)
    highest: IntArray = level.copy()
    if not window.carried:  # then what the first event moved is not seen as it was before
        stays = moved[first : first + 2][event[first : first + 2] == window.first]
        highest[owner[stays[stays >= 0] - start]] = _NOT_SEEN
    # Every row of usage moves one allocation, in the order in which they came and went.
    for begin in range(max(first, 1), stop, _PART):
        part = slice(begin, min(begin + _PART, stop))
        change = allocated[part] - allocated[part.start - 1 : part.stop - 1]
        row = moved[part]
        if row.min() < 0:
            change, row = change[row >= 0], row[row >= 0]
        if len(row):
            _follow(level, highest, owner[row - start], change)
    return highest


def _follow(level: IntArray, highest: IntArray, owner: IntArray, change: IntArray) -> None:
    """Move ``level`` of every owner by its changes, in turn, and raise ``highest`` on the way."""
    order = np.argsort(owner, kind="stable")
    owner = owner[order]
    running = np.cumsum(change[order])
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    last = np.append(first[1:], len(owner)) - 1
    before = np.where(first > 0, running[first - 1], 0)
    owners = owner[first]
    most = level[owners] + np.maximum.reduceat(running, first) - before
    highest[owners] = np.maximum(highest[owners], most)
    level[owners] += running[last] - before


def _before(
    recording: Recording, device: Device, first: int, owner: IntArray, width: int
) -> IntArray:
    """Bytes alive before event ``first`` by owner."""
    birth = recording.values("allocations", "birth", device)
    death = recording.values("allocations", "death", device)
    amount = bytes_of(recording, device)
    found = np.zeros(width, dtype=np.int64)
    stop = int(np.searchsorted(birth, first))
    for begin in range(0, stop, _PART):
        part = slice(begin, min(begin + _PART, stop))
        alive = death[part] >= first
        found += exact.sum_by(owner[part][alive], amount[part][alive], width)
    return found
