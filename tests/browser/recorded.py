"""A real snapshot's allocations as plain Python, for answers found the slow way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tb_memory_plugin import load
from tb_memory_plugin.recording.recording import Recording


@dataclass(frozen=True)
class Life:
    """One allocation: born before the first event at -1, never freed at infinity."""

    id: int
    birth: int
    death: float
    bytes: int
    address: int
    size: int
    frames: str
    birth_time: int | None
    death_time: int | None

    def at(self, event: int) -> bool:
        """Whether it is alive after an event."""
        return self.birth <= event < self.death

    def holds(self, address: int) -> bool:
        return self.address <= address < self.address + max(self.size, self.bytes, 1)


@dataclass(frozen=True)
class Recorded:
    """What a snapshot says of its first device."""

    name: str
    recording: Recording

    @cached_property
    def events(self) -> int:
        """How many events there are."""
        rows = self.recording.rows("events", self.recording.devices[0])
        return int(rows.stop) - int(rows.start)

    @cached_property
    def allocated(self) -> list[int]:
        """Bytes that are allocated before the first event, and after each."""
        held = [0] * (self.events + 1)
        for life in self.lives:
            held[life.birth + 1] += life.bytes
            if life.death < math.inf:
                held[int(life.death) + 1] -= life.bytes
        return list(itertools.accumulate(held))

    @cached_property
    def peak(self) -> int:
        """The first event after which most is allocated."""
        return self.allocated.index(max(self.allocated)) - 1

    @cached_property
    def times(self) -> list[int]:
        """When each event was, ns since the recording's origin."""
        times: list[int] = self.recording.table("events").column("time").to_pylist()
        return times[: self.events]

    @cached_property
    def lives(self) -> list[Life]:
        device = self.recording.devices[0]
        rows = self.recording.rows("allocations", device)
        stacks = self._stacks()
        return [
            Life(
                id=rows.start + place,
                birth=-1 if row["birth"] is None else row["birth"],
                death=math.inf if row["death"] is None else row["death"],
                bytes=row["requested"],
                address=row["address"],
                size=row["size"] or 0,
                frames="" if row["birth_stack"] is None else stacks[row["birth_stack"]],
                birth_time=row["birth_time"],
                death_time=row["death_time"],
            )
            for place, row in enumerate(self.recording.table("allocations")[rows].to_pylist())
        ]

    def _stacks(self) -> list[str]:
        """Every stack in small letters, a frame a line as a search reads it."""
        frames = [
            f"{frame['function'] or ''} {frame['file'] or ''}:{frame['line']}".lower()
            for frame in self.recording.table("frames").to_pylist()
        ]
        stacks = self.recording.table("stacks").column("frames").to_pylist()
        return ["\n".join(frames[place] for place in stack) for stack in stacks]

    def highest(
        self, shown: Callable[[Life], bool], begin: int = -1, end: int | None = None
    ) -> tuple[int, set[int]]:
        """The most bytes of those ``shown`` at once, and in how many allocations that may be.

        After any of the events ``begin`` up to, not with, ``end``; -1 is before the first.
        """
        changes = [[0, 0] for _ in range(self.events + 1)]
        for life in filter(shown, self.lives):
            changes[life.birth + 1][0] += life.bytes
            changes[life.birth + 1][1] += 1
            if life.death < math.inf:
                changes[int(life.death) + 1][0] -= life.bytes
                changes[int(life.death) + 1][1] -= 1
        states = itertools.accumulate(
            changes, lambda had, more: [had[0] + more[0], had[1] + more[1]]
        )
        inside = list(states)[max(begin, -1) + 1 : None if end is None else end + 1]
        most = max(total for total, _ in inside)
        return most, {count for total, count in inside if total == most}

    def alive(self, event: int) -> list[Life]:
        """What is alive after an event, those that were born first before the others."""
        if event not in self._alive:
            self._alive[event] = [life for life in self.lives if life.at(event)]
        return self._alive[event]

    @cached_property
    def _alive(self) -> dict[int, list[Life]]:
        return {}

    def found(self, hit: Callable[[Life], bool]) -> tuple[int, int]:
        """Number and bytes of the allocations found."""
        hits = [life.bytes for life in self.lives if hit(life)]
        return len(hits), sum(hits)


def recorded(folder: Path, name: str) -> Recorded:
    """The snapshot ``name`` among the real ones."""
    return Recorded(name, load(folder / "snapshots" / f"{name}.pickle").recording)
