"""The allocations of a window, or alive at a moment, of a filter and a size: which, how many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.filters import mask
from tb_memory_plugin.analysis.leading import leading
from tb_memory_plugin.analysis.life_orders import direction, order, sort_keys
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.recording.recording import Device, Recording

#: Rows looked at at a time: what is made of them stays in the processor's cache.
_PART = 1 << 16
#: Rows that are sooner found one list at a time than by an order of all that is kept.
_FEW = 20_000


@dataclass(frozen=True)
class LifeList:
    """Which of a device's allocations are listed, how many, and their bytes in the basis."""

    passing: IntArray
    count: int
    bytes: int


def life_list(
    recording: Recording,
    device: Device,
    window: EventWindow,
    filter: str = "",
    minimum: int | None = None,
    maximum: int | None = None,
    at: int | None = None,
) -> LifeList:
    """The lives that were not over when ``window`` began and had begun when it ended.

    One that is freed by the first event of the window is in it. With an event ``at`` they are
    those alive after it (-1: before the first), whatever the window. ``minimum`` … ``maximum``
    bytes, both included, in the basis of the recording. Raises QueryError for what is no filter.
    """
    wanted = mask(recording, device, filter)
    # What is alive after an event was born up to it, and is not over when the next one is.
    first, stop = (window.first, window.stop) if at is None else (at + 1, at + 1)
    key = ("lives", device.index, first, stop, filter.strip(), minimum, maximum)
    return memo(
        recording,
        key,
        lambda: _listed(recording, device, first, stop, wanted, minimum, maximum),
    )


def _listed(
    recording: Recording,
    device: Device,
    first: int,
    stop: int,
    wanted: IntArray | None,
    minimum: int | None,
    maximum: int | None,
) -> LifeList:
    birth = recording.values("allocations", "birth", device)
    death = recording.values("allocations", "death", device)
    amount = bytes_of(recording, device)
    passing = np.zeros(len(birth), dtype=bool)
    count, total = 0, 0
    born = int(np.searchsorted(birth, max(stop, 0)))  # births are in order
    for begin in range(0, born, _PART):
        part = slice(begin, min(begin + _PART, born))
        found = death[part] >= first
        if wanted is not None:
            found &= wanted[part]
        if minimum is not None:
            found &= amount[part] >= minimum
        if maximum is not None:
            found &= amount[part] <= maximum
        passing[part] = found
        count += int(np.count_nonzero(found))
        total += exact.total(amount[part][found])
    passing.flags.writeable = False
    return LifeList(passing, count, total)


def sorted_rows(
    recording: Recording,
    device: Device,
    listed: LifeList,
    sort: str,
    offset: int = 0,
    limit: int | None = None,
) -> IntArray:
    """Rows ``offset`` … of those listed in the order of ``sort``, within the device's allocations.

    Raises QueryError for what cannot be sorted by.
    """
    stop = listed.count if limit is None else min(offset + limit, listed.count)
    if stop <= _FEW:
        return _first_rows(recording, device, listed, sort, stop)[offset:]
    found, seen = [np.zeros(0, dtype=np.int32)], 0
    for rows in order(recording, device, sort):
        for begin in range(0, len(rows), _PART):
            if seen >= stop:
                break
            part = rows[begin : begin + _PART]
            if listed.count < len(listed.passing):
                part = part[listed.passing[part]]
            found.append(part[max(offset - seen, 0) : max(stop - seen, 0)])
            seen += len(part)
    return np.concatenate(found).astype(np.int64)


def _first_rows(
    recording: Recording, device: Device, listed: LifeList, sort: str, count: int
) -> IntArray:
    """As ``sorted_rows``, without an order of all, which takes longer than finding a few."""
    column, falling = direction(sort)
    keys = sort_keys(recording, device, column)
    return leading(keys, listed.passing, count, falling=falling)
