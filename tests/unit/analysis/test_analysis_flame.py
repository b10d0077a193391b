"""What stacks weigh, against states that a slow simulation kept beside the events."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.filters import mask
from tb_memory_plugin.analysis.flame import Weights, weights
from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.windows import EventWindow, window
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import history
from tests.fixtures.training import training
from tests.unit.analysis.worlds import World, worlds

#: Bytes (or another amount) and allocations of each stack; None: of what has no stack.
Found = dict[int | None, tuple[int, int]]


def weighed(found: Weights) -> Found:
    """Weights without the stacks that weigh nothing."""
    places: list[int | None] = [*range(len(found.value) - 2), None, -1]
    pairs = zip(places, found.value.tolist(), found.count.tolist(), strict=True)
    return {place: (value, count) for place, value, count in pairs if count}


def stacks(recording: Recording) -> list[int | None]:
    """The stack of every event."""
    found: list[int | None] = recording.table("events").column("stack").to_pylist()
    return found


def summed(world: World, pieces: list[tuple[int | None, int]]) -> Found:
    """(birth, amount) of allocations by the stack of their birth."""
    sums: dict[int | None, list[int]] = defaultdict(lambda: [0, 0])
    of = stacks(world.recording)
    for birth, amount in pieces:
        entry = sums[None if birth is None else of[birth]]
        entry[0] += amount
        entry[1] += 1
    return {stack: (amount, count) for stack, (amount, count) in sums.items()}


@st.composite
def windows(draw: st.DrawFn) -> tuple[World, str, int, int]:
    """A world and a window of one of its axes, which has at least an event."""
    world = draw(worlds().filter(lambda world: len(world.alive) > 1))
    axis = draw(st.sampled_from(["event", "time"]))
    unit = 1000 if axis == "time" else 1
    last = (len(world.alive) - 1) * unit
    begin = draw(st.integers(0, last - 1))
    return world, axis, begin, draw(st.integers(begin + 1, last + unit))


def states_in(world: World, axis: str, begin: int, end: int) -> list[int]:
    """The places in ``world.alive`` of the states seen in a window; place p is after event p - 1.

    Event e happens at e on the axis of events and at 1000 · e ns.
    """
    unit = 1000 if axis == "time" else 1
    events = len(world.alive) - 1
    inside = [e + 1 for e in range(events) if begin <= e * unit < end]
    carried = begin == 0 or begin % unit or begin >= events * unit
    before = [e + 1 for e in range(-1, events) if e < 0 or e * unit < begin]
    return [before[-1], *inside] if carried else inside


@given(worlds(), st.data())
def test_alive_is_what_is_alive_after_an_event(world: World, data: st.DataObject) -> None:
    recording = derive(world.recording)
    place = data.draw(st.integers(0, len(world.alive) - 1))
    device = recording.devices[0]
    found = weights(recording, device, "alive", window(recording, device), f"event:{place - 1}")
    assert found.event == place - 1
    pieces = [(birth, size) for size, birth in world.alive[place].values()]
    assert weighed(found) == summed(world, pieces)
    peak = weights(recording, device, "alive", window(recording, device))
    assert peak.event == resolve(recording, device, "peak").event


@given(windows())
def test_highest_is_the_first_highest_state_of_the_window(
    asked: tuple[World, str, int, int],
) -> None:
    world, axis, begin, end = asked
    recording = derive(world.recording)
    device = recording.devices[0]
    found = weights(recording, device, "highest", window(recording, device, axis, begin, end))
    totals = {
        place: sum(size for size, _ in world.alive[place].values())
        for place in states_in(world, axis, begin, end)
    }
    highest = max(totals, key=lambda place: (totals[place], -place))
    assert sum(value for value, _ in weighed(found).values()) == totals[highest]
    pieces = [(birth, size) for size, birth in world.alive[highest].values()]
    assert weighed(found) == summed(world, pieces)


@given(windows())
def test_lifetime_is_bytes_times_time_within_the_window(
    asked: tuple[World, str, int, int],
) -> None:
    world, axis, begin, end = asked
    recording = derive(world.recording)
    device = recording.devices[0]
    found = weights(recording, device, "lifetime", window(recording, device, axis, begin, end))
    assert found.unit == "byte_ns"
    events = len(world.alive) - 1
    past = 1000 * (events - 1) + 1
    low, high = (begin, min(end, past))
    if axis == "event":
        low, high = (1000 * edge if edge < events else past for edge in (begin, end))
    area: dict[tuple[int, int | None, int], int] = {}
    for place in states_in(world, axis, begin, end):
        since = low if place == 0 else max(low, 1000 * (place - 1))
        until = 1000 * place if place < events else past
        for address, (size, birth) in world.alive[place].items():
            life = (address, birth, size)
            area[life] = area.get(life, 0) + size * max(0, min(until, high) - since)
    pieces = [(birth, amount) for (_, birth, _), amount in area.items()]
    by_stack = summed(world, pieces)
    assert {k: v for k, (v, _) in weighed(found).items()} == {
        k: v for k, (v, _) in by_stack.items()
    }


@given(windows())
def test_without_time_stamps_a_life_lasts_so_many_events(
    asked: tuple[World, str, int, int],
) -> None:
    world, axis, begin, end = asked
    if axis == "time":
        begin, end = begin // 1000, max(end // 1000, begin // 1000 + 1)
    columns = world.recording.tables["events"]
    bare = columns.drop_columns(["time"]).add_column(
        columns.schema.get_field_index("time"),
        columns.schema.field("time"),
        _nulls(len(columns)),
    )
    recording = derive(world.recording.with_tables({"events": bare}))
    device = recording.devices[0]
    found = weights(recording, device, "lifetime", window(recording, device, "event", begin, end))
    assert found.unit == "byte_events"
    states = world.alive[begin + 1 : end + 1]
    total = sum(size for state in states for size, _ in state.values())
    assert sum(value for value, _ in weighed(found).values()) == total


def _nulls(length: int):  # type: ignore[no-untyped-def]
    from tb_memory_plugin.recording import arrays
    from tb_memory_plugin.recording.schema import SCHEMAS

    return arrays.nulls(length, SCHEMAS["events"].field("time").type, "time")


@given(windows())
def test_allocations_counts_births_of_which_some_are_kept_and_others_passing(
    asked: tuple[World, str, int, int],
) -> None:
    world, axis, begin, end = asked
    recording = derive(world.recording)
    device = recording.devices[0]
    seen = window(recording, device, axis, begin, end)
    unit = 1000 if axis == "time" else 1
    events = [e for e in range(len(world.alive) - 1) if begin <= e * unit < end]
    births = {
        (address, birth, size)
        for state in world.alive
        for address, (size, birth) in state.items()
        if birth in events
    }
    found = weights(recording, device, "allocations", seen)
    assert found.unit == "allocations"
    assert weighed(found) == summed(world, [(birth, 1) for _, birth, _ in births])
    last = world.alive[events[-1] + 1] if events else {}
    kept = [(birth, size) for size, birth in last.values() if birth in events]
    assert weighed(weights(recording, device, "kept", seen)) == summed(world, kept)
    left = {birth for birth, _ in kept}
    freed = [(birth, size) for _, birth, size in births if birth not in left]
    assert weighed(weights(recording, device, "passing", seen)) == summed(world, freed)


@given(windows(), st.sampled_from(sorted(OF)))
def test_a_filter_and_its_opposite_are_the_whole(
    asked: tuple[World, str, int, int], of: str
) -> None:
    world, axis, begin, end = asked
    recording = derive(world.recording)
    device = recording.devices[0]
    seen = window(recording, device, axis, begin, end)
    parts = [
        weights(recording, device, of, seen, wanted=mask(recording, device, text))
        for text in ("", "size>1000", "-size>1000")
    ]
    whole, large, small = parts
    assert (large.value + small.value == whole.value).all()
    assert (large.count + small.count == whole.count).all()


def test_the_area_under_the_curve_is_what_all_lifetimes_add_up_to() -> None:
    recording = training()
    device = recording.devices[0]
    found = weights(recording, device, "lifetime", window(recording, device, "time"))
    allocated = recording.values("usage", "allocated", device).tolist()
    events = recording.values("usage", "event", device).tolist()
    edges = [0, *(1000 * event for event in events[1:]), 9001]
    area = sum(
        bytes * (until - since)
        for bytes, since, until in zip(allocated, edges, edges[1:], strict=False)
    )
    assert sum(found.value.tolist()) == area


def test_what_64_bits_cannot_hold_is_exact() -> None:
    size, day = (1 << 59) + 3, 86_400 * 10**9
    recording = derive(
        history(
            [
                ("alloc", 0x1000, size, {"stack": 0, "time": 0}),
                ("alloc", 0x2000, 7, {"stack": 0, "time": 3}),
                ("free", 0x1000, size, {"time": 365 * day}),
            ],
            stacks=[[("f", "a.py", 1)]],
        )
    )
    device = recording.devices[0]
    found = weights(recording, device, "lifetime", window(recording, device))
    assert sum(found.value.tolist()) == size * 365 * day + 7 * (365 * day - 3 + 1)


def test_what_has_no_stack_is_told_apart_by_age() -> None:
    recording = training()
    device = recording.devices[0]
    at_end = weights(recording, device, "alive", window(recording, device), "event:9")
    assert weighed(at_end) == {0: (512, 1), 2: (700, 1), None: (1000, 1), -1: (64, 1)}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("mood", None, None), "no axis 'mood'"),
        (("event", 5, 5), "a beginning before its end, not 5 … 5"),
        (("event", 1 << 62, None), "a beginning before its end"),
    ],
)
def test_a_window_that_is_none_is_refused(
    asked: tuple[str, int | None, int | None], words: str
) -> None:
    recording = training()
    with pytest.raises(QueryError, match=words):
        window(recording, recording.devices[0], *asked)


def test_an_axis_or_a_weight_that_is_not_there_is_refused() -> None:
    bare = derive(history([("alloc", 0, 5)], timed=False))
    with pytest.raises(QueryError, match="no time stamps"):
        window(bare, bare.devices[0], "time")
    with pytest.raises(QueryError, match="no 'mood' to weigh stacks by; choose one of alive"):
        weights(bare, bare.devices[0], "mood", window(bare, bare.devices[0]))


def test_a_recording_without_a_history_has_an_end_state_only() -> None:
    recording = training()
    device = recording.devices[1]
    seen = window(recording, device)
    assert seen == EventWindow(0, 0, True, 0, 0, False)
    assert weighed(weights(recording, device, "highest", seen)) == {None: (5, 1)}
    for of in ("lifetime", "allocations", "kept", "passing"):
        assert not np.any(weights(recording, device, of, seen).value)
