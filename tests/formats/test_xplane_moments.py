"""What real XPlanes are made of at many moments, beside a slow walk of the files."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import xplane
from tb_memory_plugin.readers.xplane_dtypes import dtype_name
from tb_memory_plugin.readers.xplane_names import named
from tb_memory_plugin.views import breakdown
from tests.formats.xplane_reading import (
    REAL,
    XLA,
    Operation,
    Walked,
    alive,
    around,
    operations,
    planes,
    real,
    walk,
)

pytestmark = real
GROUPINGS = ["op", "region", "step", "dtype_shape"]
MOMENTS = 12

#: By key of a group its bytes and how many allocations these are.
Sums = dict[str, tuple[int, int]]


@cache
def ran(path: Path) -> dict[int, list[Operation]]:
    """What threads of the host did, by line."""
    found: dict[int, list[Operation]] = defaultdict(list)
    for one in operations(path):
        found[one.line].append(one)
    return found


@cache
def steps(path: Path) -> list[tuple[int, int, int]]:
    """Begin, end and number of the steps that the program marks; times in ns."""
    found = []
    for plane in planes(path):
        numbers = {entry.key for entry in plane.stat_metadata if entry.value.name == b"step_num"}
        for line in plane.lines if plane.name == b"/host:CPU" else ():
            for event in line.events:
                begin = line.timestamp_ns * 1000 + event.offset_ps
                found += [
                    (begin // 1000, (begin + event.duration_ps) // 1000, stat.int64_value)
                    for stat in event.stats
                    if stat.metadata_id in numbers
                ]
    return found


def running(path: Path, line: int, time: int) -> str:
    """The innermost operator, or function of JAX, that runs on a line; nothing for none."""
    found = [
        inner.name
        for one in around(ran(path)[line], line, time)
        if (inner := named(one.name.encode())).type or one.name.startswith("PjitFunction(")
    ]
    return found[-1] if found else ""


def group_of(path: Path, event: Walked, by: str) -> str:
    """The key of the group that an allocation belongs in."""
    time, said = event.time_ps // 1000, ""
    if by == "op":
        said = str(event.stats.get("tf_op") or "") or running(path, event.line, time)
    elif by == "region":
        said = str(event.stats.get("region_type") or "")
    elif by == "dtype_shape":
        words = (dtype_name(event.number("data_type")), str(event.stats.get("shape") or ""))
        said = " ".join(word for word in words if word)
    elif steps(path):
        said = "".join({str(step) for begin, end, step in steps(path) if begin <= time < end})
    elif "group_id" in event.stats:
        said = str(event.number("group_id"))
    return said or "…unknown"


def before(path: Path, events: list[Walked], until: int) -> tuple[int, int]:
    """What was there before the first event and is after ``until``: bytes, rows that tell them.

    A row for each that is freed later, and one for the sum of those that never are.
    """
    told: set[int] = set()
    freed: list[tuple[int, int]] = []
    for place, event in enumerate(events):
        if not event.born and event.number("addr") not in told:
            freed.append((place, event.number("allocation_bytes")))
        told.add(event.number("addr"))
    first = events[0].number("allocation_bytes") * (1 if events[0].born else -1)
    start = events[0].number("bytes_allocated") - first
    if path.parent.name == "synthetic":  # what the allocator says was made up
        start = sum(size for _, size in freed)
    rest = start - sum(size for _, size in freed)
    later = [size for place, size in freed if place > until] + [rest] * (rest > 0)
    return sum(later), len(later)


def expected(path: Path, events: list[Walked], until: int, keys: dict[int, str]) -> Sums:
    """The groups after an event: those of what is alive, and that of what was before."""
    size, count = Counter[str](), Counter[str]()
    for event in alive(events, until):
        size[keys[id(event)]] += event.number("allocation_bytes")
        count[keys[id(event)]] += 1
    found = {key: (size[key], number) for key, number in count.items()}
    older = before(path, events, until)
    return found | ({"…before": older} if older[1] else {})


def groups(page: dict[str, Any]) -> Sums:
    return {group["key"]: (group["bytes"], group["count"]) for group in page["groups"]}


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name.partition(".")[0])
def test_every_moment_is_made_of_what_a_slow_walk_has_alive(path: Path) -> None:
    recording, walked, chance = derive(xplane.read(path)), walk(path), random.Random(path.name)
    for device in recording.devices:
        events = walked[device.key]
        moments = chance.sample(range(len(events)), min(MOMENTS, len(events)))
        for by in GROUPINGS:
            keys = {id(event): group_of(path, event, by) for event in events if event.born}
            for at in moments:
                page = breakdown.page(recording, device, at=f"event:{at}", by=by, limit=None)
                found = expected(path, events, at, keys)
                assert groups(page) == found
                assert page["total_bytes"] == sum(size for size, _ in found.values())
                if path.parent.name != "synthetic":
                    assert page["total_bytes"] == events[at].number("bytes_allocated")


def test_what_earlier_steps_left_is_of_the_step_it_was_born_in() -> None:
    """P7: XProf calls it preallocated and without a shape; it is of its own step here."""
    path = XLA / "tf_mlp_cpu_bfc.xplane.pb"
    recording, (events,) = derive(xplane.read(path)), walk(path).values()
    (device,) = recording.devices
    keys = {id(event): group_of(path, event, "step") for event in events if event.born}
    carried = 0
    for begin, end, step in steps(path):
        inside = [at for at, one in enumerate(events) if begin <= one.time_ps // 1000 < end]
        page = breakdown.page(recording, device, at=f"event:{inside[-1]}", by="step", limit=None)
        found = groups(page)
        assert page["step"] == step
        assert found == expected(path, events, inside[-1], keys)
        carried += sum(key.isdecimal() and int(key) < step for key in found)
    assert carried
