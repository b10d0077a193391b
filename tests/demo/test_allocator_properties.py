"""Invariants of the simulated allocator under random programs, checked by slow, plain means."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo.allocator import Block, CachingAllocator, OutOfMemory, Settings, SimulatedDriver, snapshot
from demo.allocator.sizes import MIB, block_size, segment_size
from demo.allocator.snapshot import segments
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.readers.torch_structure import from_structure
from tests.demo.replaying import replay
from tests.properties import examples

pytestmark = pytest.mark.once

POOL = (0, 7)
SIGN = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}

sizes = st.one_of(
    st.sampled_from([1, 512, 513, 600 * 1024, MIB, MIB + 1, 10 * MIB - 1, 10 * MIB, 25 * MIB]),
    st.integers(1, 3 * MIB),
    st.integers(1, 60 * MIB),
)
plain = st.one_of(
    st.tuples(st.just("malloc"), sizes, st.sampled_from([0, 0, 0, 5])),
    st.tuples(st.just("malloc"), sizes, st.sampled_from([0, 0, 0, 5])),
    st.tuples(st.just("free"), st.integers(0, 99)),
    st.tuples(st.just("free"), st.integers(0, 99)),
    st.tuples(st.just("empty")),
)
any_action = st.one_of(
    plain,
    st.tuples(st.just("use"), st.integers(0, 99), st.sampled_from([5, 6])),
    st.tuples(st.just("begin")),
    st.tuples(st.just("end")),
    st.tuples(st.just("release")),
)
chosen_settings = st.builds(
    Settings,
    max_split_size=st.sampled_from([None, None, 24 * MIB]),
    expandable_segments=st.booleans(),
    roundup_power2_divisions=st.sampled_from([(0,) * 16, (4,) * 16]),
)
capacities = st.sampled_from([90 * MIB, 250 * MIB, 1 << 40])


@dataclass
class Program:
    """A program that runs on the allocator, and what it knows itself."""

    allocator: CachingAllocator
    alive: list[Block] = field(default_factory=list)
    users: int = 0
    capturing: bool = False

    def act(self, action: tuple[Any, ...]) -> None:
        allocator = self.allocator
        kind, *rest = action
        if kind == "malloc":
            try:
                self.alive.append(allocator.malloc(rest[0], rest[1]))
            except OutOfMemory:
                return
        elif kind == "free" and self.alive:
            allocator.free(self.alive.pop(rest[0] % len(self.alive)))
        elif kind == "use" and self.alive:
            allocator.record_stream(self.alive[rest[0] % len(self.alive)], rest[1])
        elif kind == "empty":
            allocator.empty_cache()
        elif kind == "begin" and not self.capturing:
            if POOL in allocator.pools.private and not self.users:
                return
            allocator.begin_pool(POOL)
            self.users, self.capturing = self.users + 1, True
        elif kind == "end" and self.capturing:
            allocator.end_pool(POOL)
            self.capturing = False
        elif kind == "release" and self.users and not self.capturing:
            allocator.release_pool(POOL)
            self.users -= 1


def made(capacity: int, chosen: Settings) -> CachingAllocator:
    return CachingAllocator(SimulatedDriver(capacity, latency=3), chosen)


def check_state(program: Program) -> None:
    """What has to hold between any two actions."""
    allocator = program.allocator
    found = segments(allocator)
    for left, right in pairwise(found):
        assert left["address"] + left["total_size"] <= right["address"]
    for segment in found:
        address = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == address and block["size"] > 0
            assert block["size"] % 512 == 0
            address += block["size"]
        assert address == segment["address"] + segment["total_size"]
        for left, right in pairwise(segment["blocks"]):
            assert not left["state"] == right["state"] == "inactive"
    reserved = sum(segment["total_size"] for segment in found)
    entries = allocator.history.entries
    assert reserved == sum(SIGN.get(e["action"], 0) * e["size"] for e in entries)
    by_address = {b["address"]: b for segment in found for b in segment["blocks"]}
    in_use = {a: b for a, b in by_address.items() if b["state"] == "active_allocated"}
    assert {block.address: block.requested for block in program.alive} == {
        address: block["requested_size"] for address, block in in_use.items()
    }
    for block in program.alive:
        assert in_use[block.address]["size"] >= block_size(block.requested, allocator.settings)


@given(st.lists(any_action, max_size=60), chosen_settings, capacities)
def test_blocks_tile_what_is_reserved_and_free_neighbours_are_one(
    actions: list[Any], chosen: Settings, capacity: int
) -> None:
    program = Program(made(capacity, chosen))
    for action in actions:
        program.act(action)
        check_state(program)
    assert program.allocator.driver.free_bytes() == capacity - sum(
        segment["total_size"] for segment in segments(program.allocator)
    )


@given(st.lists(any_action, max_size=60), chosen_settings, capacities)
def test_when_all_is_freed_all_goes_back_to_the_driver(
    actions: list[Any], chosen: Settings, capacity: int
) -> None:
    program = Program(made(capacity, chosen))
    for action in [*actions, ("end",), *[("release",)] * 60]:
        program.act(action)
    while program.alive:
        program.act(("free", 0))
    program.allocator.empty_cache()
    assert segments(program.allocator) == []
    assert program.allocator.driver.free_bytes() == capacity
    assert program.allocator.active == {}


@given(st.lists(plain, max_size=60), st.sampled_from([None, 24 * MIB]), capacities)
def test_the_best_fit_is_taken_and_memory_asked_for_only_without_one(
    actions: list[Any], limit: int | None, capacity: int
) -> None:
    allocator = made(capacity, Settings(max_split_size=limit))
    program = Program(allocator)
    for action in actions:
        before, seen = segments(allocator), len(allocator.history.entries)
        program.act(action)
        if action[0] != "malloc":
            continue
        size = block_size(action[1], allocator.settings)
        fitting = sorted(
            (block["size"], block["address"])
            for segment in before
            if (segment["segment_type"] == "small") == (size <= MIB)
            and segment["stream"] == action[2]
            for block in segment["blocks"]
            if block["state"] == "inactive" and block["size"] >= size
        )
        if fitting and limit is not None:
            best = fitting[0][0]
            if (size < limit <= best) or (size >= limit and best >= size + 20 * MIB):
                fitting = []
        done = list(allocator.history.entries)[seen:]
        if fitting:
            assert [entry["action"] for entry in done] == ["alloc"]
            assert done[0]["addr"] == fitting[0][1]
        elif done[-1]["action"] == "alloc":
            assert done[-2]["action"] == "segment_alloc"
            assert done[-2]["addr"] == done[-1]["addr"]
            assert done[-2]["size"] == segment_size(size)
        else:
            check_out_of_memory(allocator, done[-1], size)


def check_out_of_memory(allocator: CachingAllocator, entry: dict[str, Any], size: int) -> None:
    """It failed for a reason: the driver has too little, and nothing is left to give back."""
    assert entry["action"] == "oom" and entry["size"] == size
    assert entry["device_free"] == allocator.driver.free_bytes() < segment_size(size)
    for segment in segments(allocator):
        assert len(segment["blocks"]) > 1 or segment["blocks"][0]["state"] != "inactive"


@given(st.lists(plain, max_size=60), capacities)
def test_expandable_segments_map_pages_only_where_no_free_block_fits(
    actions: list[Any], capacity: int
) -> None:
    allocator = made(capacity, Settings(expandable_segments=True))
    program = Program(allocator)
    for action in actions:
        before, seen = segments(allocator), len(allocator.history.entries)
        program.act(action)
        if action[0] != "malloc":
            continue
        size = block_size(action[1], allocator.settings)
        fits = any(
            block["state"] == "inactive" and block["size"] >= size
            for segment in before
            if (segment["segment_type"] == "small") == (size <= MIB)
            and segment["stream"] == action[2]
            for block in segment["blocks"]
        )
        done = list(allocator.history.entries)[seen:]
        assert ([entry["action"] for entry in done] == ["alloc"]) == fits
        page = 2 * MIB if size <= MIB else 20 * MIB
        assert all(e["size"] % page == 0 for e in done if e["action"] == "segment_map")


@examples(40)
@given(st.lists(plain, min_size=1, max_size=60), chosen_settings, capacities)
def test_its_own_recordings_replay(actions: list[Any], chosen: Settings, capacity: int) -> None:
    program = Program(made(capacity, chosen))
    for number, action in enumerate(actions):
        program.act(action)
        for entry in program.allocator.history.entries:
            entry.setdefault("frames", [{"name": f"f{number}", "filename": "a.py", "line": 1}])
    recorded = snapshot([program.allocator])
    assert replay(recorded, 0).difference is None


@examples(40)
@given(st.lists(any_action, min_size=1, max_size=80), chosen_settings, capacities)
def test_the_projects_reader_finds_in_it_what_the_allocator_holds(
    actions: list[Any], chosen: Settings, capacity: int
) -> None:
    program = Program(made(capacity, chosen))
    for action in [("malloc", 512, 0), *actions]:
        program.act(action)
    allocator = program.allocator
    alive = [block.requested for block in allocator.active.values()]
    entries = list(allocator.history.entries)
    recorded = snapshot([allocator])

    found = facts(derive(from_structure(recorded, "made.pickle")))["devices"]["0"]

    assert found["events"] == len(entries)
    assert found["allocated_start"] == found["reserved_start"] == 0
    assert found["allocated_end"] == sum(alive)
    assert found["reserved_end"] == capacity - allocator.driver.free_bytes()
    assert found["live_blocks_end"] == len(alive)
    assert found["pending_free_blocks"] == len(alive) - len(program.alive)
    assert found["oom"] == [
        {"event": place, "requested": entry["size"], "device_free": entry["device_free"]}
        for place, entry in enumerate(entries)
        if entry["action"] == "oom"
    ]
