"""Events of a history and the allocations they are about, either way."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER, Action


def allocations_of(recording: Recording, device: Device, ordinals: IntArray) -> IntArray:
    """For some events, in order, the row of the whole table ``allocations`` each is about.

    Its birth, the request to free it, or its free; -1 for none.
    """
    found = np.full(len(ordinals), -1, dtype=np.int64)
    if not len(ordinals):
        return found
    moved = recording.values("usage", "event", device)
    at = np.searchsorted(moved, ordinals, side="right") - 1  # of two rows the birth
    hit = moved[at] == ordinals
    found[hit] = recording.values("usage", "allocation", device)[at[hit]]
    action = recording.values("events", "action", device)[ordinals]
    wanted = ordinals[(action == Action.FREE_REQUESTED) & (found < 0)]
    if len(wanted):
        asked = recording.values("allocations", "free_requested", device)
        low, high = int(wanted[0]), int(wanted[-1])
        rows = np.flatnonzero((asked >= low) & (asked <= high))
        is_wanted = np.zeros(high - low + 1, dtype=bool)
        is_wanted[wanted - low] = True
        rows = rows[is_wanted[asked[rows] - low]]
        first = recording.rows("allocations", device).start
        found[np.searchsorted(ordinals, asked[rows])] = rows + first
    return found


def events_of(recording: Recording, device: Device, hits: IntArray) -> IntArray:
    """Which events are about one of the allocations that ``hits`` is true for."""
    action = recording.values("events", "action", device)
    found = np.zeros(len(action), dtype=bool)
    rows = np.flatnonzero(hits)
    birth, asked, death = (
        recording.values("allocations", name, device)[rows]
        for name in ("birth", "free_requested", "death")
    )
    found[birth[birth >= 0]] = True
    found[asked[asked < AFTER]] = True
    died = death[death < AFTER]
    # An address allocated again without a free: that event is about the younger one.
    found[died[action[died] != Action.ALLOC]] = True
    return found
