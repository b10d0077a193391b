"""Segments, blocks and devices of every version of torch."""

from __future__ import annotations

from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording.schema import BlockState
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


def test_segments_and_blocks_lie_by_device_and_address() -> None:
    recording = recorded(
        [
            segment(0x9000, device=3, blocks=[block(0x9200), block(0x9000)]),
            segment(0x5000, device=1, is_expandable=True, segment_type="large", stream=7),
            segment(0x1000, device=3, blocks=[block(0x1000)], frames=[frame("grow")]),
        ]
    )

    assert [device["key"] for device in recording.meta["devices"]] == ["1", "3"]
    assert [device["name"] for device in recording.meta["devices"]] == ["cuda:1", "cuda:3"]
    assert column(recording, "segments", "device") == [0, 1, 1]
    assert column(recording, "segments", "address") == [0x5000, 0x1000, 0x9000]
    assert column(recording, "segments", "kind") == ["large", "small", "small"]
    assert column(recording, "segments", "expandable") == [True, None, None]
    assert column(recording, "segments", "stream") == [7, 0, 0]
    assert column(recording, "blocks", "address") == [0x1000, 0x9000, 0x9200]
    assert column(recording, "blocks", "segment") == [1, 2, 2]
    assert column(recording, "blocks", "device") == [1, 1, 1]
    assert stack(recording, rows(recording, "segments")[1]["stack"]) == [("grow", "train.py", 1)]


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("active_allocated", BlockState.ACTIVE),
        ("active_pending_free", BlockState.PENDING_FREE),
        ("active_awaiting_free", BlockState.PENDING_FREE),
        ("inactive", BlockState.INACTIVE),
    ],
)
def test_states(word: str, state: BlockState) -> None:
    recording = recorded([segment(blocks=[block(state=word)])])

    assert column(recording, "blocks", "state") == [state]
    assert recording.meta["problems"] == []


def test_states_of_later_versions_are_counted_by_their_first_word() -> None:
    recording = recorded(
        [segment(blocks=[block(state="active_lent"), block(0x1200, state="moved")])]
    )

    assert column(recording, "blocks", "state") == [BlockState.ACTIVE, BlockState.INACTIVE]
    [problem] = recording.meta["problems"]
    assert "'active_lent'" in problem and "'moved'" in problem


def test_blocks_of_torch_2_0_have_a_history_and_no_address() -> None:
    def old(size: int, *history: dict[str, Any], state: str = "active_allocated") -> Any:
        made: dict[str, Any] = {"size": size, "state": state}
        return made | ({"history": list(history)} if history else {})

    recording = recorded(
        [
            segment(
                0x1000,
                0x1000,
                blocks=[
                    old(
                        0x400,
                        {"addr": 0x1000, "real_size": 1000, "frames": [frame("newest")]},
                        {"addr": 0x1200, "real_size": 100, "frames": [frame("older")]},
                    ),
                    old(0x200, {"addr": 0x1400, "real_size": 77}, state="inactive"),
                    old(0xA00, {"addr": 0x1600, "real_size": 2500}),
                ],
            )
        ]
    )

    assert column(recording, "blocks", "address") == [0x1000, 0x1400, 0x1600]
    assert column(recording, "blocks", "requested") == [1000, 0, 2500]
    stacks = column(recording, "blocks", "stack")
    assert stack(recording, stacks[0]) == [("newest", "train.py", 1)]
    assert stacks[1:] == [None, None]
    assert recording.meta["pools"] == [[0, 0]]


def test_later_entries_of_a_history_are_of_what_is_gone() -> None:
    newest = {"addr": 0x1000, "real_size": 1000, "frames": [frame("newest")]}
    older = [
        {"addr": 0x1000, "real_size": 300, "frames": [frame("older")]},
        {"addr": 0x1200, "real_size": 100, "frames": [frame("oldest")]},
    ]
    old = {"size": 0x400, "state": "active_allocated"}

    def read(*history: dict[str, Any]) -> Any:
        return recorded([segment(0x1000, 0x400, blocks=[{**old, "history": list(history)}])])

    all_of_it = read(newest, *older)
    assert column(all_of_it, "frames", "function") == ["newest"]
    for name in ("blocks", "segments", "events", "stacks", "frames"):
        assert all_of_it.table(name).equals(read(newest).table(name))
    assert column(derive(all_of_it), "allocations", "requested") == [1000]


def test_devices_are_those_with_segments_or_events() -> None:
    recording = recorded(
        {
            "segments": [segment(device=2)],
            "device_traces": [[], [event("alloc")], [], [event("snapshot", 0, 0)], []],
        }
    )

    assert [device["key"] for device in recording.meta["devices"]] == ["1", "2", "3"]
    assert column(recording, "events", "device") == [0, 2]
    assert column(recording, "segments", "device") == [1]


def test_pinned_host_memory_is_a_device_of_its_own() -> None:
    recording = recorded(
        {
            "segments": [segment(device=0)],
            "device_traces": [[event("alloc")]],
            "host_segments": [segment(0x70000, blocks=[block(0x70000)])],
            "host_traces": [[event("alloc", 0x70000), event("free_requested", 0x70000)]],
        }
    )

    assert [(d["key"], d["name"]) for d in recording.meta["devices"]] == [
        ("0", "cuda:0"),
        ("host", "host (pinned)"),
    ]
    assert column(recording, "events", "device") == [0, 1, 1]
    assert column(recording, "segments", "device") == [0, 1]


def test_host_traces_may_be_one_trace_and_stand_alone() -> None:
    recording = recorded({"host_traces": [event("alloc"), event("free_completed")]})

    assert [device["key"] for device in recording.meta["devices"]] == ["host"]
    assert recording.table("events").num_rows == 2


@pytest.mark.parametrize("entries", [[], [event("snapshot", 0, 9)], [event("free_completed")]])
def test_a_snapshot_without_history_says_how_to_record_one(entries: list[Any]) -> None:
    recording = recorded(whole(*entries, segments=[segment(blocks=[block()])]))

    assert recording.meta["has_history"] is False
    [missing] = recording.meta["missing"]
    assert missing["what"] == "history"
    assert "_record_memory_history" in missing["remedy"]
    assert recording.table("blocks").num_rows == 1


@pytest.mark.parametrize("place", ["top", "settings"])
@pytest.mark.parametrize(
    ("flag", "named"), [(True, "every device"), (1, "every device"), ([0, 1], "device 1")]
)
def test_a_full_history_is_told(place: str, flag: Any, named: str) -> None:
    key = {"trace_alloc_overflowed": flag}
    structure = whole(event("alloc"), event("alloc", 0x2000))
    structure |= key if place == "top" else {"allocator_settings": key}

    [problem] = recorded(structure).meta["problems"]
    assert named in problem and "max_entries" in problem


@pytest.mark.parametrize("flag", [False, 0, [], [0, 0], None])
def test_a_history_that_was_not_full_is_not_told(flag: Any) -> None:
    recording = recorded(whole(event("alloc"), trace_alloc_overflowed=flag))

    assert recording.meta["problems"] == []


def test_settings_are_kept_as_json_can_hold_them() -> None:
    settings: dict[Any, Any] = {
        "PYTORCH_CUDA_ALLOC_CONF": "",
        "garbage_collection_threshold": float("nan"),
        "huge": 1 << 5000,
        7: b"bytes",
    }
    settings["self"] = settings
    kept = recorded(whole(event("alloc"), allocator_settings=settings)).meta["allocator_settings"]

    assert kept["garbage_collection_threshold"] == "nan"
    assert kept["huge"] == "an integer of 5001 bits"
    assert kept["7"] == "a bytes"
    depth = 0
    while isinstance(kept, dict):
        kept, depth = kept["self"], depth + 1
    assert depth < 10


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (segment(1 << 64), "the address of segment 0 is wider than 64 bits"),
        (segment(-5), "the address of segment 0 is negative"),
        (segment(size=-1), "the total_size of segment 0 is negative"),
        (segment(device=-1), "the device of segment 0 is negative"),
        (segment(device=1 << 40), "the device of segment 0 is out of range"),
        (segment(device="cuda"), "the device of segment 0 is 'cuda'"),
        (segment(segment_type=5), "the segment_type of segment 0 is 5"),
        (segment(blocks={}), "blocks of segment 0 is a dict"),
        (segment(blocks=[5]), "block 0 of segment 0 is 5"),
        (segment(blocks=[block(size=-1)]), "the size of block 0 of segment 0 is negative"),
        (segment(blocks=[block(requested_size=-1)]), "the requested_size of block 0"),
        (segment(blocks=[block(address=1 << 64)]), "the address of block 0"),
        (segment(blocks=[block(state=None)]), "the state of block 0 of segment 0 is None"),
        (segment(blocks=[block(history=5)]), "the history of block 0"),
        (segment((1 << 64) - 8, blocks=[{"size": 8, "state": "inactive"}] * 2), "wider than 64"),
        ({"device": 0}, "segment 0 has neither a size nor blocks"),
        (5, "segment 0 is 5, not a dictionary"),
    ],
)
def test_wrong_values_are_refused_in_words(made: Any, words: str) -> None:
    with pytest.raises(SourceError) as refused:
        recorded({"segments": [made]})

    assert words in str(refused.value)


@pytest.mark.parametrize(
    "structure",
    [
        None,
        5,
        "segments",
        [],
        [1],
        {},
        {"a": 1},
        {"segments": 5},
        {"segments": [], "device_traces": []},
        {"segments": [], "device_traces": [[], []]},
        {"device_traces": 5},
        {"device_traces": {"0": []}},
        {"device_traces": [5]},
        {"segments": [], "device_traces": [[event("alloc")]], "external_annotations": 5},
    ],
)
def test_other_structures_are_refused(structure: Any) -> None:
    with pytest.raises(SourceError, match="not a valid memory snapshot"):
        recorded(structure)


def test_a_structure_that_holds_itself_is_refused() -> None:
    trace: list[Any] = []
    trace.append(trace)
    frames: list[Any] = []
    frames.append(frames)
    segments: list[Any] = []
    segments.append(segments)
    for structure in (
        {"device_traces": [trace]},
        {"device_traces": [[event("alloc", frames=frames)]]},
        segments,
    ):
        with pytest.raises(SourceError):
            recorded(structure)


def test_reading_from_memory_leaves_the_structure_as_it_was() -> None:
    structure = whole(event("alloc", frames=[frame("f")]), segments=[segment(blocks=[block()])])
    before = repr(structure)

    recorded(structure)

    assert repr(structure) == before
