"""A match of two recordings, made into the allocations that are the same in both."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairs.match import Match
from tb_memory_plugin.analysis.pairs.moves import counterparts, sizes_fit
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action

Rows = tuple[IntArray, IntArray]


def same_lives(ours: Recording, theirs: Recording, found: Match) -> Rows:
    """Rows of the table ``allocations`` of both, in pairs.

    Those whose births are the same, and those that are at one address, of a size that fits, when
    the time begins that both have.
    """
    born = ours.values("events", "action")[found.rows[0]] == Action.ALLOC
    mine, its = _born(ours, found.rows[0][born]), _born(theirs, found.rows[1][born])
    both = (mine >= 0) & (its >= 0)
    parts = [(mine[both], its[both])]
    begins = [_begin(ours), _begin(theirs)]
    if None not in begins:
        moment = max(int(begins[0] or 0), int(found.clock.at(np.array([begins[1]]))[0]))
        moments = (moment, found.clock.back(moment))
        for devices in counterparts(ours, theirs):
            older = _alive((ours, theirs), devices, moments)
            new = ~np.isin(older[0], mine) & ~np.isin(older[1], its)
            parts.append((older[0][new], older[1][new]))
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _begin(recording: Recording) -> int | None:
    table = recording.table("events")
    times = recording.values("events", "time")[arrays.valid(table, "time")]
    return int(times.min()) if len(times) else None


def _born(recording: Recording, rows: IntArray) -> IntArray:
    """The allocations that were born in ``rows`` of the events, -1 for none."""
    found = np.full(len(rows), -1, dtype=np.int64)
    for device in recording.devices:
        events = recording.rows("events", device)
        own = np.flatnonzero((rows >= events.start) & (rows < events.stop))
        birth = recording.values("allocations", "birth", device)
        if not len(birth):
            continue
        event = rows[own] - events.start
        place = np.minimum(np.searchsorted(birth, event), len(birth) - 1)
        there = birth[place] == event
        found[own[there]] = place[there] + recording.rows("allocations", device).start
    return found


def _alive(
    both: tuple[Recording, Recording],
    devices: tuple[Device, Device],
    moments: tuple[int, int],
) -> Rows:
    """The same allocations among those that were alive just before a moment of either's clock."""
    rows, places, sizes = [], [], []
    for recording, device, moment in zip(both, devices, moments, strict=True):
        values = [
            recording.values("allocations", name, device)
            for name in ("birth_time", "death_time", "address")
        ]
        alive = np.flatnonzero((values[0] < moment) & (values[1] >= moment) & (values[2] > 0))
        alive = alive[np.argsort(values[2][alive], kind="stable")]
        rows.append(alive + recording.rows("allocations", device).start)
        places.append(values[2][alive])
        sizes.append(bytes_of(recording, device)[alive])
    asked = (both[0].meta["basis"] == "requested", both[1].meta["basis"] == "requested")
    if not len(places[0]) or not len(places[1]):
        return rows[0][:0], rows[1][:0]
    at = np.minimum(np.searchsorted(places[1], places[0]), len(places[1]) - 1)
    same = (places[1][at] == places[0]) & sizes_fit((sizes[0], sizes[1][at]), asked)
    return rows[0][same], rows[1][at[same]]
