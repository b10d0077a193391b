"""A snapshot's allocations as its file has them, and the groups that they are in, one by one."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.browser.replaying import Range, Replay

#: What is known of no value.
BEFORE = "before the window"
#: Ends of the classes of ages and lifetimes, by time in ns and by events.
TIMES = {
    10**3: "1 µs",
    10**4: "10 µs",
    10**5: "100 µs",
    10**6: "1 ms",
    10**7: "10 ms",
    10**8: "100 ms",
    10**9: "1 s",
    10**10: "10 s",
}
EVENTS = {10**n: f"{10**n:,} events".replace(",", " ") for n in range(1, 7)}


@dataclass(frozen=True)
class Filed:
    """One allocation: since before the first event at -1, never freed at infinity."""

    birth: int
    death: float
    address: int
    bytes: int
    stream: int
    stack: tuple[tuple[str, str, int], ...]


class File:
    """The allocations of a snapshot's first device, read from its pickle with nothing of ours."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self.structure: dict[str, Any] = pickle.load(file)
        self.trace: list[dict[str, Any]] = self.structure["device_traces"][0]
        self.replay = Replay(self.structure, 0)

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
                    found.append(_life(birth, math.inf, address, born))
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

    def group(self, life: Filed, by: str, at: int) -> Any:
        """The name of the group of a life, by stack and by size what is common to it.

        ``at`` is the cursor. By pool only of what is alive at the peak.
        """
        if by == "stream":
            return f"stream {life.stream:#x}" if life.stream else "default stream"
        if by == "size":
            return life.bytes
        if by == "age":
            return self._age(life, at)
        told = {"lifetime": self._lifetime, "annotation": self._annotation, "pool": self._pool}
        return told[by](life) if by in told else life.stack or self._unknown

    @cached_property
    def _unknown(self) -> str:
        """What is without a stack: one group, whether it is older than the window or not."""
        young = any(life.birth >= 0 for life in self.lives if not life.stack)
        return "no stack recorded" if young else BEFORE

    @cached_property
    def _is_timed(self) -> bool:
        return "time_us" in self.trace[0]

    def _since(self, begin: int, end: int) -> int:
        """From event to event, in ns where there are times."""
        if not self._is_timed:
            return end - begin
        return 1000 * int(self.trace[end]["time_us"] - self.trace[begin]["time_us"])

    def _class(self, length: int) -> str:
        edges = TIMES if self._is_timed else EVENTS
        return next(f"under {name}" for limit, name in edges.items() if length < limit)

    def _age(self, life: Filed, at: int) -> str:
        if life.birth < 0:
            return BEFORE
        return "born later" if life.birth > at else self._class(self._since(life.birth, at))

    def _lifetime(self, life: Filed) -> str:
        if life.death == math.inf:
            return "not freed"
        return BEFORE if life.birth < 0 else self._class(self._since(life.birth, int(life.death)))

    def _annotation(self, life: Filed) -> str:
        if life.birth < 0:
            return BEFORE
        time, open_ = self.trace[life.birth]["time_us"], []
        for each in self.structure["external_annotations"]:
            if each["device"] == 0 and each["time_us"] <= time:
                if each["stage"] == "START":
                    open_.append(each["name"])
                else:
                    open_.reverse()
                    open_.remove(each["name"])
                    open_.reverse()
        return open_[-1] if open_ else "outside any annotation"

    def _pool(self, life: Filed) -> str:
        """Only segments that are there at the end name theirs, and so what grew with them."""
        (held,) = (r for r in self._at_peak if r.address <= life.address < r.end)
        pools = {
            pool for begin, end, pool in self._grown if begin <= held.address and held.end <= end
        }
        if (held.address, held.since) in self._last:
            pools.add(self._last[held.address, held.since])
        if not pools:
            return BEFORE if life.birth < 0 else "pool not known"
        ((kind, number),) = pools
        return f"private pool {kind},{number}" if (kind, number) != (0, 0) else "default pool"

    @cached_property
    def _at_peak(self) -> list[Range]:
        return self.replay.after(self.peak)

    @cached_property
    def _last(self) -> dict[tuple[int, int], Any]:
        """The pool of every range that is mapped at the end, by address and first event."""
        pools = {each["address"]: each["segment_pool_id"] for each in self.replay.segments}
        ranges = self.replay.after(len(self.trace) - 1)
        return {(r.address, r.since): pools[r.address] for r in ranges if r.address in pools}

    @cached_property
    def _grown(self) -> list[tuple[int, int, Any]]:
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


def _life(birth: int, death: float, address: int, said: dict[str, Any]) -> Filed:
    frames = said.get("frames") or ()
    stack = tuple((frame["name"], frame["filename"], frame["line"]) for frame in frames)
    return Filed(birth, death, address, said["size"], said["stream"], stack)
