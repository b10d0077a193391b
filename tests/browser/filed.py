"""A snapshot's allocations as its file has them, one by one."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.browser.replaying import Range, Replay


@dataclass(frozen=True)
class Filed:
    """One allocation: since before the first event at -1, never freed at infinity."""

    birth: int
    death: float
    address: int
    bytes: int
    #: Of its block, where that is there at the end.
    size: int | None
    stream: int
    stack: tuple[tuple[str, str, int], ...]


class File:
    """The allocations of a snapshot's device, read from its pickle with nothing of ours."""

    def __init__(self, path: Path, ordinal: int = 0) -> None:
        with path.open("rb") as file:
            self.structure: dict[str, Any] = pickle.load(file)
        self.ordinal = ordinal
        self.trace: list[dict[str, Any]] = self.structure["device_traces"][ordinal]
        self.replay = Replay(self.structure, ordinal)

    @cached_property
    def lives(self) -> list[Filed]:
        living: dict[int, tuple[int, dict[str, Any]]] = {}
        found = []
        for event, entry in enumerate(self.trace):
            if entry["action"] == "alloc":
                living[entry["addr"]] = event, entry
            elif entry["action"] == "free_completed":
                birth, born = living.pop(entry["addr"], (-1, {**entry, "frames": []}))
                found.append(_life(birth, event, entry["addr"], born))
        for segment in self.replay.segments:
            address = segment["address"]
            for block in segment["blocks"]:
                if block["state"] != "inactive":
                    asked = {**block, "size": block["requested_size"], "stream": segment["stream"]}
                    birth, born = living.pop(address, (-1, asked))
                    found.append(_life(birth, math.inf, address, born, block["size"]))
                address += block["size"]
        assert not living
        return found

    @cached_property
    def peak(self) -> int:
        """The first event after which most is allocated."""
        change = [0] * (len(self.trace) + 1)
        for life in self.lives:
            change[life.birth + 1] += life.bytes
            if life.death < math.inf:
                change[int(life.death) + 1] -= life.bytes
        for event in range(1, len(change)):
            change[event] += change[event - 1]
        return change.index(max(change)) - 1

    def alive(self, event: int) -> list[Filed]:
        return [life for life in self.lives if life.birth <= event < life.death]

    def pool_of(self, held: Range) -> tuple[int, int] | None:
        """What its first event says; else what is there at the end, and so what grew with that."""
        if held.since >= 0 and "pool_id" in self.trace[held.since]:
            first, second = self.trace[held.since]["pool_id"]
            return first, second
        pools = {
            pool for begin, end, pool in self._grown if begin <= held.address and held.end <= end
        }
        if (held.address, held.since) in self._last:
            pools.add(self._last[held.address, held.since])
        assert len(pools) < 2
        return pools.pop() if pools else None

    @cached_property
    def is_expandable(self) -> bool:
        """Whether segments are mapped and unmapped in parts."""
        return any(entry["action"] == "segment_map" for entry in self.trace)

    def is_waiting(self, life: Filed, event: int) -> bool:
        """Whether an allocation that is alive after an event is freed by the program by then."""
        return any(life.birth < at <= event for at in self._requests.get(life.address, ()))

    @cached_property
    def _requests(self) -> dict[int, list[int]]:
        """The events that ask for a free, by address."""
        found: dict[int, list[int]] = {}
        for event, entry in enumerate(self.trace):
            if entry["action"] == "free_requested":
                found.setdefault(entry["addr"], []).append(event)
        return found

    @cached_property
    def at_peak(self) -> list[Range]:
        return self.replay.after(self.peak)

    @cached_property
    def _last(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The pool of every range that is mapped at the end, by address and first event."""
        pools = {each["address"]: each["segment_pool_id"] for each in self.replay.segments}
        ranges = self.replay.after(len(self.trace) - 1)
        return {(r.address, r.since): pools[r.address] for r in ranges if r.address in pools}

    @cached_property
    def _grown(self) -> list[tuple[int, int, tuple[int, int]]]:
        """Begin and end of what expandable segments ever had mapped, and the pool of each."""
        mapped = [
            (entry["addr"], entry["addr"] + entry["size"])
            for entry in self.trace
            if entry["action"] in ("segment_map", "segment_unmap")
        ]
        expandable = [each for each in self.replay.segments if each.get("is_expandable")]
        mapped += [(s["address"], s["address"] + s["total_size"]) for s in expandable]
        whole: list[list[int]] = []
        for begin, end in sorted(mapped):
            if whole and begin <= whole[-1][1]:
                whole[-1][1] = max(whole[-1][1], end)
            else:
                whole.append([begin, end])
        return [
            (begin, end, each["segment_pool_id"])
            for begin, end in whole
            for each in expandable
            if begin <= each["address"] < end
        ]


def _life(
    birth: int, death: float, address: int, said: dict[str, Any], size: int | None = None
) -> Filed:
    frames = said.get("frames") or ()
    stack = tuple((frame["name"], frame["filename"], frame["line"]) for frame in frames)
    return Filed(birth, death, address, said["size"], size, said["stream"], stack)
