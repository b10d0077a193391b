"""Derived tables against a slow simulation, and against what no history may break."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tb_memory_plugin.analysis.alive import reserved_known
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import AFTER, DERIVED
from tests.fixtures.histories import Event, history
from tests.properties import examples
from tests.unit.analysis.worlds import PAGE, World, ruins, worlds


def alive(recording: Recording, event: int) -> list[tuple[int, int, int]]:
    """(address, bytes, birth) of what the table ``allocations`` has alive after ``event``."""
    rows = recording.table("allocations").to_pylist()
    return sorted(
        (row["address"], row["requested"], -1 if row["birth"] is None else row["birth"])
        for row in rows
        if (row["birth"] is None or row["birth"] <= event)
        and (row["death"] is None or row["death"] > event)
    )


def curve(recording: Recording, name: str, event: int) -> int:
    """The value of the curve after ``event``."""
    ordinals = recording.values("usage", "event")
    row = int(np.searchsorted(ordinals, event, side="right")) - 1
    return int(recording.values("usage", name)[row])


@given(worlds())
def test_every_allocation_lives_as_long_as_in_the_simulation(world: World) -> None:
    recording = derive(world.recording)
    moments = zip(world.alive, world.mapped, strict=True)
    over = any(
        sum(size for size, _ in alive.values()) > PAGE * len(mapped) for alive, mapped in moments
    )
    problems = recording.meta["problems"]
    assert len(problems) == over and all("more is allocated" in problem for problem in problems)
    for event, state in enumerate(world.alive, start=-1):
        expected = [
            (address, size, -1 if birth is None else birth)
            for address, (size, birth) in sorted(state.items())
        ]
        assert alive(recording, event) == expected
        assert curve(recording, "allocated", event) == sum(size for size, _ in state.values())


@given(worlds())
def test_every_mapped_page_is_in_one_segment_life(world: World) -> None:
    recording = derive(world.recording)
    rows = recording.table("segment_lives").to_pylist()
    for event, pages in enumerate(world.mapped, start=-1):
        covered = [
            page
            for row in rows
            if (row["birth"] is None or row["birth"] <= event)
            and (row["death"] is None or row["death"] > event)
            for page in range(row["address"] // PAGE, (row["address"] + row["size"]) // PAGE)
        ]
        assert sorted(covered) == sorted(pages)
        assert curve(recording, "reserved", event) == len(pages) * PAGE


@given(worlds())
def test_an_allocation_s_segment_maps_its_address_at_its_birth(world: World) -> None:
    recording = derive(world.recording)
    segments = recording.table("segment_lives").to_pylist()
    for row in recording.table("allocations").to_pylist():
        birth = -1 if row["birth"] is None else row["birth"]
        holding: list[int | None] = [
            place
            for place, segment in enumerate(segments)
            if segment["address"] <= row["address"] < segment["address"] + segment["size"]
            and (-1 if segment["birth"] is None else segment["birth"]) <= birth
            and (AFTER if segment["death"] is None else segment["death"]) > birth
        ]
        assert [row["segment"]] == (holding or [None])


@examples(300)
@given(ruins())
def test_no_history_breaks_the_identities(recording: Recording) -> None:
    events = recording.table("events").num_rows
    recording = derive(recording)
    rows = recording.table("allocations").to_pylist()
    usage = recording.table("usage")
    assert usage.column("event").to_pylist()[0] == -1
    for event in range(-1, events):
        assert curve(recording, "allocated", event) == sum(
            size for _, size, _ in alive(recording, event)
        )
    net = sum(
        (row["requested"] if row["birth"] is not None else 0)
        - (row["requested"] if row["death"] is not None else 0)
        for row in rows
    )
    before = sum(row["requested"] for row in rows if row["birth"] is None)
    assert before + net == usage.column("allocated").to_pylist()[-1]
    if "segments" in recording.tables and recording.table("segments").num_rows:
        total = sum(recording.table("segments").column("size").to_pylist())
        contradicts = any("contradicts itself" in word for word in recording.meta["problems"])
        reserved = usage.column("reserved").to_pylist()
        assert reserved[-1] == (None if contradicts else total)
        assert all(value is None if contradicts else value >= 0 for value in reserved)


@given(ruins())
def test_tables_keep_the_order_and_the_types_of_the_schema(recording: Recording) -> None:
    recording = derive(recording)
    for name, schema in DERIVED.items():
        assert recording.table(name).schema == schema
    lives = recording.table("allocations")
    birth = recording.values("allocations", "birth").tolist()
    address = recording.values("allocations", "address").tolist()
    assert lives.num_rows == len(birth)
    assert birth == sorted(birth)
    before = birth.count(-1)
    assert address[:before] == sorted(address[:before])
    moved = recording.values("usage", "event")
    assert (np.diff(moved) >= 0).all()


def test_deriving_twice_says_every_problem_once() -> None:
    once = derive(history([("free", 256, 8), ("free", 256, 8)]))
    assert len(once.meta["problems"]) == 1
    assert derive(once).meta["problems"] == once.meta["problems"]


def test_what_the_events_do_not_begin_was_there_before() -> None:
    recording = derive(
        history(
            [("request", 1, 100), ("free", 1, 100), ("request", 2, 49), ("alloc", 4, 7)],
            blocks=[
                {"address": 2, "requested": 50, "state": 1, "size": 512, "stack": 0},
                {"address": 3, "requested": 30, "size": 1024, "stack": 0},
                {"address": 4, "requested": 7, "size": 512},
            ],
            segments=[{"address": 0, "size": 4096}],
            stacks=[[("f", "a.py", 1)]],
        )
    )
    rows = recording.table("allocations").to_pylist()
    found = [
        (
            r["address"],
            r["requested"],
            r["size"],
            r["size_inferred"],
            r["birth"],
            r["free_requested"],
            r["death"],
        )
        for r in rows
    ]
    assert found == [
        (1, 100, 512, True, None, 0, 1),
        (2, 50, 512, False, None, 2, None),
        (3, 30, 1024, False, None, None, None),
        (4, 7, 512, False, 3, None, None),
    ]
    assert [row["birth_stack"] for row in rows] == [None, 0, 0, None]
    assert recording.table("usage").column("allocated").to_pylist() == [180, 80, 87]
    assert recording.meta["problems"] == []


def test_an_address_allocated_twice_gives_up_its_first_life() -> None:
    recording = derive(history([("alloc", 1, 10), ("alloc", 1, 25), ("free", 1, 25)]))
    rows = recording.table("allocations").to_pylist()
    assert [(row["requested"], row["birth"], row["death"]) for row in rows] == [
        (10, 0, 1),
        (25, 1, 2),
    ]
    usage = recording.table("usage")
    assert usage.column("event").to_pylist() == [-1, 0, 1, 1, 2]
    assert usage.column("allocated").to_pylist() == [0, 10, 0, 25, 0]
    assert usage.column("allocation").to_pylist() == [None, 0, 0, 1, 1]
    assert recording.meta["problems"] == [
        "cuda:0: 1 allocations were never freed but their address was allocated again; "
        "they count as freed at that moment"
    ]


def test_frees_that_were_never_completed_count_when_asked_for() -> None:
    recording = derive(history([("alloc", 1, 10), ("request", 1, 10), ("alloc", 1, 5)]))
    assert recording.table("usage").column("allocated").to_pylist() == [0, 10, 0, 5]
    assert "a request to free counts as the free" in recording.meta["problems"][0]


def test_without_an_end_state_reserved_and_sizes_are_unknown() -> None:
    recording = derive(history([("alloc", 1, 10), ("segment", 1, 1024)]))
    assert recording.table("usage").column("reserved").null_count == 3
    assert recording.table("allocations").column("size").null_count == 1


def test_an_allocator_without_segments_has_no_reserved() -> None:
    recording = derive(history([("alloc", 1, 10)], blocks=[], segments=[]))
    assert recording.table("usage").column("reserved").null_count == 2
    assert recording.meta["problems"] == []


def test_a_recording_in_allocator_sizes_keeps_them_as_sizes() -> None:
    recording = derive(history([("alloc", 1, 512)], basis="size"))
    (row,) = recording.table("allocations").to_pylist()
    assert (row["requested"], row["size"], row["size_inferred"]) == (None, 512, False)


def test_devices_do_not_mix() -> None:
    recording = derive(
        history(
            [
                ("alloc", 1, 10, {"device": 1}),
                ("alloc", 1, 20, {"device": 0}),
                ("free", 1, 10, {"device": 1}),
            ],
            devices=3,
        )
    )
    found = [
        recording.values("usage", "allocated", device).tolist() for device in recording.devices
    ]
    assert found == [[0, 20], [0, 10, 0], [0]]
    allocation = [recording.values("usage", "allocation", d).tolist() for d in recording.devices]
    assert allocation == [[-1, 0], [-1, 1, 1], [-1]]


def test_no_devices_at_all() -> None:
    recording = derive(history(devices=0))
    assert all(recording.table(name).num_rows == 0 for name in DERIVED)


def test_step_annotation_and_label_come_to_the_allocation() -> None:
    recording = derive(
        history(
            [("alloc", 1, 10), ("alloc", 2, 20), ("alloc", 3, 30), ("free", 9, 5)],
            spans=[
                {"kind": "step", "name": "step 4", "begin": 0, "end": 1500, "step": 4},
                {"kind": "step", "name": "step 5", "begin": 1500, "end": None, "step": 5},
                {"kind": "annotation", "name": "fwd", "begin": 500, "end": 5000, "device": 0},
                {"kind": "annotation", "name": "inner", "begin": 900, "end": 1800},
                {"kind": "annotation", "name": "other", "begin": 950, "end": 9000, "device": 1},
            ],
            labels=[
                {"event": -1, "address": 9, "category": "parameter", "name": "w"},
                {"event": 1, "address": 2, "category": "activation", "op": "mm", "step": 7},
            ],
            devices=2,
        )
    )
    rows = recording.table("allocations").to_pylist()
    assert [row["name"] for row in rows] == ["w", None, None, None]
    assert [row["category"] for row in rows] == [0, None, 3, None]
    assert [row["category_inferred"] for row in rows] == [False, None, False, None]
    assert [row["op"] for row in rows] == [None, None, "mm", None]
    assert [row["step"] for row in rows] == [None, 4, 7, 5]
    assert [row["annotation"] for row in rows] == [None, None, "inner", "fwd"]


def test_sums_that_no_memory_holds_are_refused_in_words() -> None:
    huge = (1 << 63) - 1
    recording = history([("alloc", 1, huge), ("alloc", 2, 1)])
    with pytest.raises(SourceError, match=r"test\.pickle: the allocations add up to more than 64"):
        derive(recording)
    most = (1 << 60) - 1
    fine = derive(history([("alloc", 1, most), ("free", 1, most), ("alloc", 2, most)]))
    assert fine.table("usage").column("allocated").to_pylist() == [0, most, 0, most]
    with pytest.raises(SourceError, match=r"the allocations add up to 1\.00 EiB on cuda:0"):
        derive(history([("alloc", 1, most), ("alloc", 2, 1)]))
    with pytest.raises(SourceError, match=r"the segments add up to 4\.00 EiB on cuda:0"):
        derive(history([], blocks=[], segments=[{"address": 0, "size": 1 << 62}]))


def test_a_history_that_unmaps_more_than_there_was_has_no_reserved() -> None:
    # What is left at the end was there at the beginning, less what the events mapped since.
    for size, known in ((32, True), (33, False)):
        events: list[Event] = [("segment", 0, size), ("alloc", 0, 8), ("free", 0, 8)]
        recording = derive(history(events, blocks=[], segments=[{"address": 1 << 20, "size": 32}]))
        problems = " ".join(recording.meta["problems"])
        assert ("contradicts itself: what it maps and unmaps leaves 1 B less" in problems) != known
        assert reserved_known(recording, recording.devices[0]) == known
        for reserved in recording.table("usage").column("reserved").to_pylist():
            assert reserved >= 0 if known else reserved is None
        state = segment_state(recording, recording.devices[0], 1)
        assert (state.reserved is None) != known
        assert state.fragmentation["reserved"] == (0.75 if known else None)
        assert state.problems if not known else True


def test_more_allocated_than_reserved_is_a_problem() -> None:
    segments = [{"address": 0, "size": 8}]
    for size, said in ((8, False), (9, True)):
        blocks = [{"address": 0, "requested": size}]
        recording = derive(history(blocks=blocks, segments=segments))
        problems = recording.meta["problems"]
        assert len(problems) == said and all("than reserved" in problem for problem in problems)


def test_time_stamps_that_go_back_are_a_problem() -> None:
    for last, said in ((5, False), (4, True)):
        events: list[Event] = [
            ("alloc", 512, 8, {"time": 5}),
            ("alloc", 1024, 8, {"time": last}),
        ]
        problems = derive(history(events)).meta["problems"]
        assert len(problems) == said and all("time stamps go back" in word for word in problems)


def test_negative_sizes_are_refused_in_words() -> None:
    with pytest.raises(SourceError, match="event 1 has a negative size on cuda:0"):
        derive(history([("alloc", 1, 5), ("alloc", 2, -1)]))
    with pytest.raises(SourceError, match="a final block has a negative size"):
        derive(history([], blocks=[{"address": 1, "requested": -4}], segments=[]))
    with pytest.raises(SourceError, match="a final segment has a negative size"):
        derive(history([], blocks=[], segments=[{"address": 1, "size": -4}]))


def test_a_segment_s_pool_and_stream_reach_its_allocations() -> None:
    recording = derive(
        history(
            [("alloc", 4096, 10, {"stream": None}), ("alloc", 9000, 10, {"pool": 0, "stream": 7})],
            blocks=[{"address": 4096, "requested": 10}, {"address": 9000, "requested": 10}],
            segments=[{"address": 4096, "size": 8192, "pool": 1, "stream": 3}],
        )
    )
    rows = recording.table("allocations").to_pylist()
    assert [(row["pool"], row["stream"]) for row in rows] == [(1, 3), (0, 7)]


def test_a_request_after_the_free_is_not_about_the_life_that_ended() -> None:
    recording = derive(history([("alloc", 1, 10), ("free", 1, 10), ("request", 1, 10)]))
    (row,) = recording.table("allocations").to_pylist()
    assert (row["free_requested"], row["death"]) == (None, 1)


def segments(recording: Recording) -> list[tuple[int, int, int | None, int | None]]:
    """(first page, pages, birth, death) of the lives of segments."""
    return [
        (row["address"] // PAGE, row["size"] // PAGE, row["birth"], row["death"])
        for row in derive(recording).table("segment_lives").to_pylist()
    ]


def test_neighbouring_final_segments_stay_apart() -> None:
    final = [
        {"address": 0, "size": 2 * PAGE, "expandable": True, "pool": 0},
        {"address": 2 * PAGE, "size": PAGE, "expandable": True, "pool": 1},
    ]
    assert segments(history(blocks=[], segments=final)) == [
        (0, 2, None, None),
        (2, 1, None, None),
    ]


def test_pieces_with_another_between_them_stay_apart() -> None:
    events: list[Event] = [
        ("map", 0, 5 * PAGE),
        ("unmap", PAGE, PAGE),
        ("unmap", 0, 5 * PAGE),
    ]
    assert segments(history(events, blocks=[], segments=[])) == [
        (0, 1, 0, 2),
        (1, 1, 0, 1),
        (2, 3, 0, 2),
    ]


def test_an_expandable_segment_that_grows_is_a_life_for_each_mapping() -> None:
    events: list[Event] = [("map", 0, 2 * PAGE), ("map", 2 * PAGE, PAGE), ("unmap", 0, PAGE)]
    final = [{"address": PAGE, "size": 2 * PAGE, "expandable": True, "kind": "small"}]
    recording = derive(history(events, blocks=[], segments=final))
    assert segments(recording) == [(0, 1, 0, 2), (1, 1, 0, None), (2, 1, 1, None)]
    kinds = recording.table("segment_lives").column("kind").to_pylist()
    assert kinds == [None, "small", "small"]
    assert recording.table("segment_lives").column("expandable").to_pylist() == [True] * 3
