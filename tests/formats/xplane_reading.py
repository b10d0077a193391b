"""What tests of XPlanes share: the real files, XProf's answers, and a slow walk of a file."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.proto.xplane import SOURCE
from tb_memory_plugin.readers.xplane_dtypes import dtype_name

XLA = Path(__file__).parents[2] / "../shared/data/xla"
ANSWERS = sorted(XLA.rglob("*.memory_profile.json")) if XLA.is_dir() else []
real = pytest.mark.skipif(not ANSWERS, reason="the shared real files (../shared/data) are not here")


def file_of(answer: Path) -> Path:
    """The XPlane that an answer of XProf is about."""
    stem = answer.name.removesuffix(".memory_profile.json")
    found = [answer.with_name(f"{stem}{suffix}") for suffix in (".xplane.pb", ".pb")]
    return next(path for path in found if path.exists())


REAL = [file_of(answer) for answer in ANSWERS]


def answered(answer: Path) -> dict[str, Any]:
    """XProf's answer by memory id."""
    found: dict[str, Any] = json.loads(answer.read_text())["memoryProfilePerAllocator"]
    return found


@dataclass
class Walked:
    """One event as a slow walk of the file finds it; ``time_ps`` on one base for all lines."""

    time_ps: int
    line: int
    place: int
    born: bool
    offset_ps: int
    stats: dict[str, Any] = field(default_factory=dict)

    def number(self, name: str) -> int:
        return int(self.stats.get(name) or 0)

    @property
    def kind(self) -> tuple[Any, ...]:
        """What XProf merges active allocations by."""
        texts = (str(self.stats.get(key, "")) for key in ("tf_op", "region_type", "shape"))
        sizes = (self.number("allocation_bytes"), self.number("requested_bytes"))
        return (*sizes, *texts, dtype_name(self.number("data_type")) or "INVALID")


@dataclass
class Operation:
    """An event of a host thread that is no allocator's; ``line`` is its place in the plane."""

    line: int
    name: str
    begin_ps: int
    end_ps: int
    is_step: bool

    @property
    def begin(self) -> int:
        return self.begin_ps // 1000

    @property
    def end(self) -> int:
        return self.end_ps // 1000

    @property
    def is_call(self) -> bool:
        """Whether it is a call of a function of Python."""
        return self.name.startswith("$")


def operations(path: Path) -> list[Operation]:
    """What the threads of the host did, in the order of the file."""
    found = []
    for plane in planes(path):
        if plane.name != b"/host:CPU":
            continue
        kinds = {entry.key: entry.value.name.decode() for entry in plane.event_metadata}
        steps = {entry.key for entry in plane.stat_metadata if entry.value.name == b"step_num"}
        for at, line in enumerate(plane.lines):
            for event in line.events:
                name = kinds[event.metadata_id]
                if name not in ("MemoryAllocation", "MemoryDeallocation"):
                    begin = line.timestamp_ns * 1000 + event.offset_ps
                    is_step = any(stat.metadata_id in steps for stat in event.stats)
                    found.append(
                        Operation(at, name.rstrip(), begin, begin + event.duration_ps, is_step)
                    )
    return found


def around(made: list[Operation], line: int, time: int) -> list[Operation]:
    """What is around a moment on a line, outermost first, by looking at everything."""
    here = [one for one in made if one.line == line and one.begin <= time <= one.end]
    return sorted(here, key=lambda one: (one.begin, -one.end))


def planes(path: Path) -> Any:
    """The planes of a file, by a class of whole messages."""
    from tb_memory_plugin.proto.messages import message_classes

    whole = SOURCE.replace("repeated bytes events = 4;", "repeated XEvent events = 4;")
    space: Any = message_classes("tests.xplane", whole)["XSpace"].FromString(path.read_bytes())
    return space.planes


def walk(path: Path) -> dict[str, list[Walked]]:
    """The allocator events of every memory id in absolute order, by a class of whole messages."""
    found: dict[str, list[Walked]] = defaultdict(list)
    for plane in planes(path):
        if plane.name != b"/host:CPU":
            continue
        kinds = {entry.key: entry.value.name for entry in plane.event_metadata}
        names = {entry.key: entry.value.name.decode() for entry in plane.stat_metadata}
        for at, line in enumerate(plane.lines):
            for place, event in enumerate(line.events):
                if kinds[event.metadata_id] not in (b"MemoryAllocation", b"MemoryDeallocation"):
                    continue
                one = Walked(
                    line.timestamp_ns * 1000 + event.offset_ps,
                    at,
                    place,
                    kinds[event.metadata_id] == b"MemoryAllocation",
                    event.offset_ps,
                )
                key = ""
                for stat in event.stats:
                    name = names[stat.metadata_id]
                    value = stat.double_value or stat.int64_value or stat.uint64_value
                    text = stat.str_value.decode() or names.get(stat.ref_value, "")
                    one.stats[name] = text or value
                    if name in ("allocator_name", "index_on_host", "device_ordinal"):
                        key = text or str(value)
                found[key].append(one)
    for events in found.values():
        events.sort(key=lambda one: (one.time_ps, one.line, one.place))
    return dict(found)


def alive(events: list[Walked], until: int) -> list[Walked]:
    """The allocations that are alive after event ``until``, by replaying addresses."""
    living: dict[int, Walked] = {}
    for event in events[: until + 1]:
        if event.born:
            living[event.number("addr")] = event
        else:
            living.pop(event.number("addr"), None)
    return list(living.values())
