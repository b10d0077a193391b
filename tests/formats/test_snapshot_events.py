"""Trace entries of every version of torch, to rows of ``events``, ``labels`` and ``marks``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action, Category
from tests.formats.snapshot_dicts import (
    block,
    column,
    event,
    frame,
    recorded,
    rows,
    segment,
    stack,
    whole,
)


def test_every_action_has_its_code() -> None:
    words = [
        "alloc",
        "free_requested",
        "free_completed",
        "segment_alloc",
        "segment_free",
        "segment_map",
        "segment_unmap",
        "snapshot",
        "oom",
        "user_defined",
        "annotate",
    ]
    recording = recorded(whole(*(event(word) for word in words)))

    assert [Action(code).name.lower() for code in column(recording, "events", "action")] == words


def test_unknown_actions_are_kept_counted_and_named() -> None:
    recording = recorded(whole(event("alloc"), event("defragment"), event("defragment", size=-3)))

    assert column(recording, "events", "action") == [0, Action.UNKNOWN, Action.UNKNOWN]
    assert column(recording, "events", "size") == [512, 512, None]
    [problem] = recording.meta["problems"]
    assert problem.startswith("2 entries of an action") and "'defragment'" in problem


def test_unknown_keys_are_ignored_whatever_they_hold() -> None:
    loop: list[object] = []
    loop.append(loop)
    recording = recorded(
        whole(event("alloc", internal=loop, huge=1 << 4000), event("alloc", 0x2000))
    )

    assert column(recording, "events", "address") == [0x1000, 0x2000]


def test_addresses_reach_to_the_last_byte() -> None:
    top = (1 << 64) - 1
    recording = recorded(
        whole(
            event("alloc", top),
            event("alloc", (1 << 63) + 512),
            segments=[segment(top - 511, 512, blocks=[block(top - 511, 512)])],
        )
    )

    assert column(recording, "events", "address") == [top, (1 << 63) + 512]
    assert column(recording, "segments", "address") == [top - 511]
    assert column(recording, "blocks", "address") == [top - 511]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (event("alloc", 1 << 64), "addr of entry 1 is wider than 64 bits"),
        (event("alloc", -1), "addr of entry 1 is negative"),
        (event("alloc", size=-512), "size of entry 1 is negative"),
        (event("alloc", size=1 << 63), "size of entry 1 is out of range"),
        (event("alloc", size=512.0), "size of entry 1 is a float, not an integer"),
        (event("alloc", size=True), "size of entry 1 is a bool, not an integer"),
        (event("alloc", size="512"), "size of entry 1 is '512', not an integer"),
        (event("alloc", stream="x"), "stream of entry 1"),
        (event("alloc", stream=1 << 64), "stream of entry 1"),
        (event("alloc", frames="main"), "frames is 'main', not a list"),
        (event("alloc", frames=[5]), "a frame is 5"),
        (event("alloc", forward_frames=[1]), "forward_frames is not a list of text"),
        (event("alloc", pool_id=(1, 2, 3)), "a pool id has 3 parts"),
        (event("alloc", pool_id=(0, 1 << 64)), "a pool id is out of range"),
        (event("alloc", pool_id=7), "a pool id is 7"),
        (event("alloc", compile_context=["x"]), "compile_context is a list"),
        (event("alloc", user_metadata=3), "user_metadata is 3"),
        (event("alloc", category=3), "a category is 3"),
        (event(7), "the action of entry 1 is 7"),
        ({"action": "alloc", "size": 5, "stream": 0}, "entry 1 has no addr"),
        ({"action": "free_completed", "addr": 5, "stream": 0}, "entry 1 has no size"),
        ({"action": "oom", "stream": 0, "device_free": 1}, "has no size"),
        ({"action": "oom", "size": 5, "device_free": "x"}, "device_free of the out-of-memory"),
        ({}, "the action of entry 1 is None"),
        ([], "entry 1 is a list, not a dictionary"),
    ],
)
def test_wrong_values_of_known_keys_are_refused_in_words(entry: object, words: str) -> None:
    with pytest.raises(SourceError) as refused:
        recorded({"segments": [], "device_traces": [[event("alloc"), entry]]})

    assert words in str(refused.value)
    assert str(refused.value).startswith("made.pickle: ")


def problems_of(*entries: Any) -> tuple[Recording, str]:
    """The recording of a history with wrong values in it, and the one sentence it has on them."""
    recording = recorded(whole(*entries))
    (problem,) = recording.meta["problems"]
    return recording, problem


@pytest.mark.parametrize("wrong", [-1, 1 << 62, (1 << 62) // 1000 + 1, "now", 1.5, True])
def test_wrong_time_stamps_are_left_out_and_counted(wrong: Any) -> None:
    entries = [
        event("alloc", time_us=5),
        event("oom", time_us=wrong) | {"device_free": 1},
        event("free_completed", time_us=7),
        event("alloc", 0x2000),
    ]
    recording, problem = problems_of(*entries)

    assert problem.startswith("Of device 0, 1 of 4 time stamps were left out (negative, ")
    assert column(recording, "events", "time") == [0, None, 2000, None]
    assert column(recording, "marks", "time") == [None]
    assert column(recording, "events", "size") == [512] * 4
    assert [lack["what"] for lack in recording.meta["missing"]] == ["stacks", "steps"]


def test_time_stamps_of_another_age_leave_no_time_axis() -> None:
    year = 365 * 86_400 * 10**6
    note = {"name": "ProfilerStep#1", "stage": "START", "device": 0, "time_us": 1}
    late = 31 * year
    recording = recorded(
        whole(
            event("snapshot", time_us=0),
            event("alloc", time_us=late),
            external_annotations=[note],
        )
    )
    (problem,) = recording.meta["problems"]

    assert problem.startswith("The time stamps are 31 years apart")
    assert column(recording, "events", "time") == [None, None]
    assert column(recording, "marks", "time") == [None]
    assert recording.table("spans").num_rows == 0
    assert recording.meta["time_origin_ns"] is None
    fine = recorded(whole(event("alloc", time_us=1), event("alloc", 0x2000, time_us=late - year)))
    assert fine.meta["problems"] == []


def test_parts_of_frames_of_the_wrong_type_are_left_out_and_counted() -> None:
    stacks: list[list[Any]] = [
        [frame("f", line="one"), frame("main")],
        [frame("f", line="one"), frame("other")],
        [{"name": b"f", "filename": "a.py", "line": 3}],
        [frame("f", line=None)],
    ]
    entries = [event("alloc", place << 12, frames=frames) for place, frames in enumerate(stacks)]
    recording, problem = problems_of(*entries)

    words = (
        "A name, file or line of the wrong type was left out of 2 frames (such as the line 'one')."
    )
    assert problem == words
    table = recording.table("frames")
    found = [(row["function"], row["file"], row["line"]) for row in table.to_pylist()]
    assert {("f", "train.py", 0), ("main", "train.py", 1), ("", "a.py", 3)} <= set(found)
    assert column(recording, "events", "stack") == [0, 1, 2, 3]


def test_integers_where_no_memory_moves_may_be_absurd() -> None:
    recording = recorded(whole(event("snapshot", 0, 1 << 70), event("alloc"), event("annotate")))

    assert column(recording, "events", "size") == [None, 512, 512]


def test_streams_are_pointers_even_when_signed() -> None:
    recording = recorded(whole(event("alloc") | {"stream": -16}, event("alloc") | {"stream": 7}))

    assert column(recording, "events", "stream") == [(1 << 64) - 16, 7]


def test_time_counts_from_the_earliest_moment() -> None:
    recording = recorded(
        whole(
            event("alloc", time_us=1_700_000_000_000_010),
            event("free_requested"),
            event("free_completed", time_us=1_700_000_000_000_013),
            external_annotations=[
                {"name": "a", "stage": "START", "device": 0, "time_us": 1_700_000_000_000_009}
            ],
        )
    )

    assert recording.meta["time_origin_ns"] == 1_700_000_000_000_009_000
    assert column(recording, "events", "time") == [1_000, None, 4_000]


def test_without_time_stamps_there_is_no_time_axis() -> None:
    recording = recorded(whole(event("alloc"), event("free_requested")))

    assert recording.meta["time_origin_ns"] is None
    assert column(recording, "events", "time") == [None, None]
    assert "time" in [entry["what"] for entry in recording.meta["missing"]]


def test_contexts_and_metadata() -> None:
    recording = recorded(
        whole(
            event("alloc", compile_context="N/A", user_metadata=""),
            event("alloc", compile_context="Torch-Compiled Region: 0/1", user_metadata="epoch 3"),
            event("alloc", user_metadata={"layer": 3, "name": "q\ud800"}),
            event("alloc", user_metadata={}),
        )
    )

    assert column(recording, "events", "compile_context") == [
        None,
        "Torch-Compiled Region: 0/1",
        None,
        None,
    ]
    metadata = column(recording, "events", "user_metadata")
    assert [metadata[0], metadata[1], metadata[3]] == [None, "epoch 3", None]
    assert json.loads(metadata[2]) == {"layer": 3, "name": "q\\ud800"}


def test_pools_of_events_and_segments_are_the_same() -> None:
    recording = recorded(
        whole(
            event("alloc", pool_id=(0, 0)),
            event("alloc", pool_id=(3, 0)),
            event("alloc", pool_id=[3, 0]),
            event("alloc"),
            segments=[segment(segment_pool_id=(3, 0)), segment(0x9000)],
        )
    )

    pools = recording.meta["pools"]
    named = [None if row is None else pools[row] for row in column(recording, "events", "pool")]
    assert named == [[0, 0], [3, 0], [3, 0], None]
    assert [pools[row] for row in column(recording, "segments", "pool")] == [[3, 0], [0, 0]]


def test_frames_keep_what_the_compiler_adds() -> None:
    fx = frame("forward", fx_node_op="call_function", fx_node_name="relu", fx_original_trace="…")
    recording = recorded(
        whole(event("alloc", frames=[fx, frame("main")]), event("alloc", frames=[frame("main")]))
    )

    [first, second] = column(recording, "events", "stack")
    assert stack(recording, first) == [("forward", "train.py", 1), ("main", "train.py", 1)]
    assert stack(recording, second) == [("main", "train.py", 1)]
    assert json.loads(rows(recording, "frames")[0]["extra"])["fx_node_name"] == "relu"
    assert rows(recording, "frames")[1]["extra"] is None


def test_forward_frames_are_read_from_their_lines_innermost_first() -> None:
    lines = [
        '  File "train.py", line 10, in main\n    loss = step()\n',
        '  File "model.py", line 20, in forward\n    return self.a(x)\n',
        "something else",
    ]
    recording = recorded(
        whole(
            event("alloc", forward_frames=lines),
            event("alloc", forward_frames=list(lines)),
            event("alloc", forward_frames=[]),
            segments=[segment(blocks=[block(forward_frames=lines)], forward_frames=lines)],
        )
    )

    first, second, third = column(recording, "events", "forward_stack")
    assert first == second == column(recording, "blocks", "forward_stack")[0]
    assert third is None
    assert stack(recording, first) == [
        ("something else", "", 0),
        ("forward", "model.py", 20),
        ("main", "train.py", 10),
    ]


def test_frames_that_say_little() -> None:
    odd = [{"name": "f", "filename": "", "line": 1 << 40}, {"name": None}, "plain text"]
    recording = recorded(whole(event("alloc", frames=odd), event("alloc", frames=[])))

    first, second = column(recording, "events", "stack")
    assert stack(recording, first) == [("f", "", 0), ("", "", 0), ("plain text", "", 0)]
    assert second is None


def test_marks_of_failures_and_snapshots() -> None:
    recording = recorded(
        whole(
            event("snapshot", 0, 1000, time_us=5),
            {"action": "oom", "size": 300, "device_free": 200, "stream": 0, "time_us": 7},
            {"action": "oom", "size": 301, "stream": 0, "time_us": 8},
        )
    )

    marks = rows(recording, "marks")
    assert [(mark["event"], mark["time"], mark["kind"]) for mark in marks] == [
        (0, 0, "snapshot"),
        (1, 2_000, "out_of_memory"),
        (2, 3_000, "out_of_memory"),
    ]
    assert [json.loads(mark["values"]) for mark in marks] == [
        {"allocated": 1000},
        {"requested": 300, "device_free": 200},
        {"requested": 301},
    ]
    assert column(recording, "events", "address") == [0, None, None]


def test_categories_of_births_and_of_what_was_there_before() -> None:
    recording = recorded(
        whole(
            event("alloc", 0x1000, category="parameter"),
            event("free_completed", 0x1000, category="parameter"),
            event("alloc", 0x2000, category="something new"),
            segments=[
                segment(
                    blocks=[
                        block(0x2000, category="something new"),
                        block(0x3000, category="optimizer_state"),
                        block(0x4000, category="gradient", state="inactive"),
                    ]
                )
            ],
        )
    )

    labels = rows(recording, "labels")
    assert [(row["event"], row["address"], row["category"]) for row in labels] == [
        (-1, 0x3000, Category.OPTIMIZER_STATE),
        (0, 0x1000, Category.PARAMETER),
        (2, 0x2000, Category.UNKNOWN),
    ]
    assert [row["inferred"] for row in labels] == [False, False, False]


def test_categories_of_many_final_blocks_on_several_devices() -> None:
    """Labels of blocks that no event of their own device allocated, and of no others."""
    recorded_blocks = [
        segment(device=device, blocks=[block(address, category="parameter")])
        for device in (0, 1)
        for address in range(0x1000, 0x1040)
    ]
    traces = [
        [event("alloc", address) for address in range(0x1000, 0x1040) if address % 2 == device]
        for device in (0, 1)
    ]
    recording = recorded({"segments": recorded_blocks, "device_traces": traces})

    assert [(row["device"], row["address"]) for row in rows(recording, "labels")] == [
        (device, address)
        for device in (0, 1)
        for address in range(0x1000, 0x1040)
        if address % 2 != device
    ]


def test_chunks_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_memory_plugin.readers import torch_events

    entries = [event("alloc", 0x1000 * (i + 1), i, frames=[frame(f"f{i % 5}")]) for i in range(57)]
    entries[20] = {"action": "oom", "size": 9, "device_free": 0, "stream": 0}
    entries[33]["user_metadata"] = "late"
    together = recorded(whole(*entries))
    monkeypatch.setattr(torch_events, "CHUNK", 8)
    apart = recorded(whole(*entries))

    for name in ("events", "marks", "frames", "stacks"):
        assert apart.table(name).equals(together.table(name)), name
