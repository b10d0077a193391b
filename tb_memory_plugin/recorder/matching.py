"""The same births in two recordings of one allocator: its history and the profiler's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tb_memory_plugin.recorder.profiler.told import Profiled
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action

#: Both write down the time within one call of the allocator, each by its own clock.
APART = 100_000  # ns

Numbers = npt.NDArray[np.int64]


def match(
    recording: Recording, device: Device, profiled: Profiled, origin: int
) -> tuple[Numbers, Numbers]:
    """Events of the history and rows of ``profiled`` that are the same birth.

    They are at one address and each is the other's nearest in time, at most ``APART``; what was
    asked for is not more than what was given. Either may have births that the other did not see
    (other threads; what the ring dropped; what the profiler missed): these are nobody's.
    """
    action = recording.values("events", "action", device)
    event = np.flatnonzero(action == Action.ALLOC)
    moment = recording.values("events", "time", device)[event]
    address = recording.values("events", "address", device)[event]
    since = moment[0] - APART if len(moment) else 0
    row = np.flatnonzero(profiled.time - origin >= since)
    if not len(event) or not len(row):
        return event[:0], row[:0]
    times = profiled.time[row] - origin
    _, code = np.unique(np.concatenate([address, profiled.address[row]]), return_inverse=True)
    ours, theirs = code[: len(event)], code[len(event) :]
    nearest = _nearest(theirs, times, ours, moment)
    back = _nearest(ours, moment, theirs, times)
    mine = np.flatnonzero(nearest >= 0)
    mine = mine[back[nearest[mine]] == mine]
    found = nearest[mine]
    sizes = recording.values("events", "size", device)[event[found]]
    fits = (np.abs(moment[found] - times[mine]) <= APART) & (sizes <= profiled.size[row[mine]])
    return event[found[fits]], row[mine[fits]]


def _nearest(code: Numbers, time: Numbers, other_code: Numbers, other_time: Numbers) -> Numbers:
    """For each the row of the others of the same code that is nearest in time, -1 for none."""
    order = np.lexsort((other_time, other_code))
    first = np.searchsorted(other_code[order], code)
    after = np.searchsorted(other_code[order], code, side="right")
    low, high = first.copy(), after.copy()
    while np.any(low < high):  # binary search of all at once, each among its own code's
        middle = (low + high) // 2
        inside = low < high
        earlier = inside & (other_time[order[np.minimum(middle, len(order) - 1)]] < time)
        low = np.where(earlier, middle + 1, low)
        high = np.where(inside & ~earlier, middle, high)
    best = np.full(len(code), -1, dtype=np.int64)
    apart = np.full(len(code), np.iinfo(np.int64).max)
    for place in (low - 1, low):
        there = (place >= first) & (place < after)
        row = order[np.clip(place, 0, len(order) - 1)]
        distance = np.abs(other_time[row] - time)
        closer = there & (distance < apart)
        best, apart = np.where(closer, row, best), np.where(closer, distance, apart)
    return best
