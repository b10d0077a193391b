"""The slow truth of bins of time: which moment each shows, and which of them a column of pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action

#: What changes nothing that is drawn.
STILL = (Action.FREE_REQUESTED, Action.SNAPSHOT, Action.OOM)


@dataclass(frozen=True)
class Bin:
    """Some time, in ns, and the event after which the most of it is allocated."""

    begin: int
    width: int
    event: int


def bins_of(recording: Recording, total: list[int], width: int) -> dict[int, Bin]:
    """All there is in bins of a power of two of ns, by number; at most a pixel of ``width`` each.

    ``total`` is what is allocated after each event. What was carried into a bin is seen in it too,
    unless the first change in it is right at its beginning.
    """
    events = recording.table("events").to_pylist()
    changes = [(e, row["time"]) for e, row in enumerate(events) if row["action"] not in STILL]
    begin, end = events[0]["time"], events[-1]["time"] + 1
    size = 2 ** max(0, math.floor(math.log2((end - begin) / width)))
    found = {}
    for number in range(begin // size, -(-end // size)):
        start = number * size
        inside = [(e, time) for e, time in changes if start <= time < start + size]
        states = [e for e, _ in inside]
        if not inside or inside[0][1] > start or start <= begin:
            states.insert(0, max((e for e, time in changes if time < start), default=-1))
        best = max(states, key=lambda e: (_held(total, e), -e))
        found[number] = Bin(start, size, best)
    return found


def columns_of(
    recording: Recording, bins: dict[int, Bin], total: list[int], width: int
) -> list[int]:
    """The number of the bin that each column shows.

    The highest of those that begin in it, the earliest of equals; else the one that it is in.
    """
    times = recording.table("events").column("time").to_pylist()
    scale = (times[-1] + 1 - times[0]) / width
    found = []
    for x in range(width):
        left, right = times[0] + x * scale, times[0] + (x + 1) * scale
        begun = [number for number, each in bins.items() if left <= each.begin < right]
        if x == 0:
            begun.insert(0, min(bins))
        if not begun:
            begun = [max(number for number, each in bins.items() if each.begin <= left)]
        found.append(max(begun, key=lambda number: (_held(total, bins[number].event), -number)))
    return found


def _held(total: list[int], event: int) -> int:
    return total[event] if event >= 0 else 0
