"""One step or annotation: what memory did while it lasted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import span, tracks
from tests.fixtures.histories import history
from tests.fixtures.training import training
from tests.unit.analysis.worlds import World, worlds


def cards(recording: Recording) -> dict[str, dict[str, Any]]:
    """By name, as the page comes to them: through the tracks."""
    device = recording.devices[0]
    shown = tracks.window(recording, device, axis="event", width=1000)
    items = [*shown["steps"], *shown["annotations"]]
    return {item["name"]: span.card(recording, device, item["id"]) for item in items}


def test_a_step_with_all_there_is_to_say() -> None:
    card = cards(training())["ProfilerStep#3"]
    told = {
        "id": "0",
        "device": "0",
        "kind": "step",
        "name": "ProfilerStep#3",
        "track": None,
        "step": 3,
        "begin": 0,
        "end": 4000,
        "first": 0,
        "stop": 4,
        "before": {"event": -1, "time": None, "allocated": 1300},
        "after": {"event": 3, "time": 3000, "allocated": 4560},
        "peak": {"event": 3, "time": 3000, "allocated": 4560},
        "on_thread": False,
        "born": {"count": 3, "bytes": 3260},
        "freed": {"count": 0, "bytes": 0},
        "kept": {"count": 3, "bytes": 3260},
        "args": {},
        "links": [],
        "hidden_links": 0,
    }
    assert {name: card[name] for name in told} == told
    assert [row["requested"] for row in card["left"]] == [2048, 700, 512]


def test_what_is_open_reaches_the_ends_and_annotations_know_their_step() -> None:
    found = cards(training())
    assert (found["ProfilerStep#4"]["end"], found["ProfilerStep#4"]["stop"]) == (None, 10)
    assert (found["load"]["begin"], found["load"]["first"]) == (None, 0)
    assert found["inner"]["step"] == 3


@given(worlds(), st.integers(-500, 45_000), st.integers(0, 45_000))
def test_it_is_what_brute_force_counts(world: World, begin: int, length: int) -> None:
    rows = [{"kind": "annotation", "name": "a", "begin": begin, "end": begin + length, "depth": 0}]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    spans = builder.table("spans", columns)
    bare = world.recording
    recording = derive(replace(bare, tables={**bare.tables, "spans": spans}))
    events = len(world.alive) - 1
    if events == 0:
        return
    card = span.card(recording, recording.devices[0], "0")
    inside = [event for event in range(events) if begin <= 1000 * event < begin + length]
    sums = [sum(size for size, _ in state.values()) for state in world.alive]
    assert (card["first"], card["stop"] - card["first"]) == (
        inside[0] if inside else card["first"],
        len(inside),
    )
    first, stop = card["first"], card["stop"]
    assert card["before"]["allocated"] == sums[first]
    assert card["after"]["allocated"] == sums[stop]
    assert card["peak"]["allocated"] == max(sums[first : stop + 1])
    seen = {
        (address, size, birth)
        for state in world.alive
        for address, (size, birth) in state.items()
        if birth in inside
    }
    left = {
        (address, size, birth)
        for address, (size, birth) in world.alive[stop].items()
        if birth in inside
    }
    for name, expected in (("born", seen), ("kept", left)):
        assert card[name] == {"count": len(expected), "bytes": sum(size for _, size, _ in expected)}


@pytest.mark.parametrize("id", ["", "-1", "9", "x", "٣", "1" * 40])
def test_what_is_no_span_is_refused(id: str) -> None:
    recording = training()
    with pytest.raises(QueryError, match="no span"):
        span.card(recording, recording.devices[0], id)


def test_without_time_stamps_it_has_no_place() -> None:
    steps = [{"kind": "step", "name": "s", "begin": 0, "end": 5, "step": 0}]
    recording = derive(history([("alloc", 1, 1)], timed=False, spans=steps))
    with pytest.raises(QueryError, match="no time stamps"):
        span.card(recording, recording.devices[0], "0")


def test_a_module_is_explained_as_a_step_is() -> None:
    runs = [
        {"kind": "hlo_module", "name": f"jit_f({n})", "device": 0, "track": "TPU:0", **ends}
        for n, ends in enumerate([{"begin": 500, "end": 2500}, {"begin": 3000, "end": 4000}])
    ]
    other = {**runs[0], "device": 1, "track": "TPU:1"}
    events: list[Any] = [("alloc", place, 10, {"device": 0}) for place in range(5)]
    events.append(("alloc", 1, 1, {"device": 1}))
    recording = derive(history(events, spans=[*runs, other], devices=2))
    card = span.card(recording, recording.devices[0], "0")
    assert (card["kind"], card["track"], card["step"]) == ("hlo_module", "TPU:0", None)
    assert (card["begin"], card["end"], card["first"], card["stop"]) == (500, 2500, 1, 3)
    assert card["peak"] == {"event": 2, "time": 2000, "allocated": 30}
    assert card["born"] == card["kept"] == {"count": 2, "bytes": 20}
