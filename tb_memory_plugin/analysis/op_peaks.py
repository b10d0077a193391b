"""The most bytes of every operator's own that were alive at once in a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.recording.recording import Device, Recording

#: Rows at a time: what is made of them stays in the processor's cache, and places fit 16 bits.
_PART = 1 << 15
_NOT_SEEN = -1


@dataclass(frozen=True)
class _Part:
    """Rows of usage that move allocations, in order of their owner and then of time.

    ``order`` are places in the part, ``owners`` those that there are, each of which begins at
    ``first`` in that order.
    """

    order: IntArray
    owners: IntArray
    first: IntArray


def peaks(
    recording: Recording, device: Device, window: EventWindow, owner: IntArray, width: int
) -> IntArray:
    """For each of ``width`` owners the peak of what is theirs, after any event of the window.

    What was carried into the window counts where it is seen in it. ``owner`` gives the owner of
    every allocation of the device, the same in every call.
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
    whole = memo(
        recording,
        ("op_parts", device.index),
        lambda: [
            _part(moved[begin : begin + _PART] - start, owner)
            for begin in range(0, len(moved), _PART)
        ],
    )
    # Every row of usage moves one allocation, in the order in which they came and went.
    begin = max(first, 1)
    while begin < stop:
        end = min(begin - begin % _PART + _PART, stop)
        is_whole = begin % _PART == 0 and end - begin == _PART
        part = whole[begin // _PART] if is_whole else _part(moved[begin:end] - start, owner)
        change = allocated[begin:end] - allocated[begin - 1 : end - 1]
        _follow(level, highest, part, change)
        begin = end
    return highest


def _part(row: IntArray, owner: IntArray) -> _Part:
    """``row`` gives for some rows of usage the allocation that each moves, negative for none."""
    moves = np.flatnonzero(row >= 0)
    own = owner[row[moves]]
    order = np.argsort(own, kind="stable")
    own = own[order]
    first = np.flatnonzero(np.append(True, own[1:] != own[:-1])[: len(own)])
    return _Part(moves[order].astype(np.uint16), own[first], first.astype(np.int32))


def _follow(level: IntArray, highest: IntArray, part: _Part, change: IntArray) -> None:
    """Move ``level`` of every owner by its changes, in turn, and raise ``highest`` on the way."""
    if not len(part.order):
        return
    running = np.cumsum(change[part.order])
    last = np.append(part.first[1:], len(running)) - 1
    before = np.where(part.first > 0, running[part.first - 1], 0)
    most = level[part.owners] + np.maximum.reduceat(running, part.first) - before
    highest[part.owners] = np.maximum(highest[part.owners], most)
    level[part.owners] += running[last] - before


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
