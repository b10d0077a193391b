"""Allocations of real traces and XPlanes, walked one by one, with what they were born in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.formats import xplane_reading
from tests.formats.test_kineto_real import OPS, Search, ns, track


@dataclass(frozen=True)
class Born:
    """One allocation of the window, never freed at infinity; ``of`` is what it was born in."""

    birth: int
    death: float
    bytes: int
    of: Mapping[str, Any]

    def at(self, event: int) -> bool:
        """Whether it is alive after an event."""
        return self.birth <= event < self.death


@dataclass(frozen=True)
class Walk:
    """The allocations of a device in order of birth, and what is allocated after each event."""

    lives: list[Born]
    allocated: list[int]

    @property
    def peak(self) -> int:
        """The first event after which most is allocated."""
        return self.allocated.index(max(self.allocated))

    def older(self, event: int) -> int:
        """Bytes that were there before the first event, and are after this one."""
        return self.allocated[event] - sum(life.bytes for life in self.lives if life.at(event))


def of_trace(name: str, key: str) -> Walk:
    """Of a device of a trace of PyTorch's profiler."""
    search = Search(name)
    moved = search.memory[key]
    found = []
    for event in moved:
        around = search.around(track(event), ns(event["ts"]))
        of = {"op": around.first(*OPS), "module": around.module, "step": around.step}
        found.append((event["args"]["Addr"], event["args"]["Bytes"], of))
    return Walk(_lives(found), [event["args"]["Total Allocated"] for event in moved])


def of_xplane(path: Path, key: str) -> Walk:
    """Of a memory id of an XPlane whose steps are told by spans of one thread, from 0 on."""
    steps = [one for one in xplane_reading.operations(path) if one.is_step]
    moved = xplane_reading.walk(path)[key]
    found = []
    for event in moved:
        time = event.time_ps // 1000
        within = [step for step, one in enumerate(steps) if one.begin <= time <= one.end]
        size = event.number("allocation_bytes")
        of = {"op": event.stats.get("tf_op"), "step": within[0] if within else None}
        found.append((event.number("addr"), size if event.born else -size, of))
    return Walk(_lives(found), [event.number("bytes_allocated") for event in moved])


def _lives(moved: Iterable[tuple[int, int, Mapping[str, Any]]]) -> list[Born]:
    """From addresses, bytes (of a free below 0) and what each was in."""
    living: dict[int, Born] = {}
    found: list[Born] = []
    for event, (address, size, of) in enumerate(moved):
        if size > 0:
            living[address] = Born(event, math.inf, size, of)
        elif address in living:
            life = living.pop(address)
            found.append(Born(life.birth, event, life.bytes, life.of))
    return sorted([*found, *living.values()], key=lambda life: life.birth)
