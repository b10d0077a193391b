"""What a snapshot's device has mapped after an event, replayed range by range in plain Python."""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_MAPS = ("segment_alloc", "segment_map")
_UNMAPS = ("segment_free", "segment_unmap")


@dataclass(frozen=True)
class Range:
    """Bytes that are mapped together, and since which event; -1 is before the first."""

    address: int
    size: int
    stream: int
    since: int

    @property
    def end(self) -> int:
        return self.address + self.size


class Replay:
    """The mapped ranges of device ``ordinal`` of a snapshot after every event."""

    def __init__(self, snapshot: dict[str, Any], ordinal: int) -> None:
        self.trace: list[dict[str, Any]] = snapshot["device_traces"][ordinal]
        self.segments = [each for each in snapshot["segments"] if each["device"] == ordinal]
        held = [Range(s["address"], s["total_size"], s["stream"], -1) for s in self.segments]
        for entry in reversed(self.trace):
            if entry["action"] in _MAPS:
                held = without(held, entry)[0]
            elif entry["action"] in _UNMAPS:
                held.append(Range(entry["addr"], entry["size"], entry["stream"], -1))
        self._start = held

    @staticmethod
    def of(path: Path, ordinal: int) -> Replay:
        """Reads the snapshot at ``path``."""
        with path.open("rb") as file:
            return Replay(pickle.load(file), ordinal)

    def after(self, event: int) -> list[Range]:
        """What is mapped after ``event``."""
        return self.states(event, event + 1)[0]

    def states(self, begin: int, end: int) -> list[list[Range]]:
        """What is mapped after each of the events ``begin`` up to, not with, ``end``."""
        held, found = self._start, []
        for event, entry in enumerate(self.trace[:end]):
            if entry["action"] in _MAPS:
                held = [*held, Range(entry["addr"], entry["size"], entry["stream"], event)]
            elif entry["action"] in _UNMAPS:
                held = without(held, entry)[0]
            if event >= begin:
                found.append(held)
        return found

    def parts(self, event: int) -> list[Range]:
        """What is mapped after ``event``, cut where it is unmapped in parts; oldest first."""
        held, gone = self.after(event), []
        for entry in self.trace[event + 1 :]:
            if entry["action"] in _UNMAPS:
                held, cut = without(held, entry)
                gone += cut
        return sorted(held + gone, key=lambda each: (each.since, each.address))


def by_place(replay: Replay, states: list[list[Range]]) -> list[dict[str, list[Range]]]:
    """Ranges by pool and stream; their first events name the pool, or the end of the file does."""
    known = {(each.address, each.since) for each in replay.after(len(replay.trace) - 1)}
    pools = {each["address"]: each["segment_pool_id"] for each in replay.segments}
    places = []
    for held in states:
        found = defaultdict(list)
        for each in held:
            told = replay.trace[each.since].get("pool_id") if each.since >= 0 else None
            if (each.address, each.since) in known:
                told = pools[each.address]
            pool = ",".join(map(str, told)) if told else "?"
            found[f"{pool}@{each.stream:#x}"].append(each)
        places.append(dict(found))
    return places


def without(held: list[Range], entry: dict[str, Any]) -> tuple[list[Range], list[Range]]:
    """``held`` less the bytes that an entry is about, and what was cut out of it."""
    begin, end = entry["addr"], entry["addr"] + entry["size"]
    left, cut = [], []
    for each in held:
        low, high = max(begin, each.address), min(end, each.end)
        if high <= low:
            left.append(each)
            continue
        cut.append(replace(each, address=low, size=high - low))
        if each.address < low:
            left.append(replace(each, size=low - each.address))
        if high < each.end:
            left.append(replace(each, address=high, size=each.end - high))
    return left, cut


def total_of(held: list[Range]) -> int:
    """Bytes of all."""
    return sum(each.size for each in held)


def part_at(held: list[Range], height: float) -> Range | None:
    """The range at a height in bytes while all are stacked in their order."""
    top = 0
    for each in held:
        top += each.size
        if 0 <= height < top:
            return each
    return None
