"""Annotations of a snapshot to steps and annotations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tb_memory_plugin.errors import SourceError
from tests.formats.snapshot_dicts import event, recorded, rows, whole


def note(name: str, stage: str, time: int, device: int = 0) -> dict[str, Any]:
    return {"name": name, "stage": stage, "device": device, "time_us": time}


def spans(*annotations: dict[str, Any], last: int = 1000) -> list[dict[str, Any]]:
    """The spans of a snapshot that begins at 0 and whose last event is at ``last`` µs."""
    return rows(
        recorded(
            whole(
                event("alloc", time_us=0),
                event("alloc", time_us=last),
                external_annotations=list(annotations),
            )
        ),
        "spans",
    )


def test_nested_annotations() -> None:
    found = spans(
        note("outer", "START", 10),
        note("inner", "START", 20),
        note("inner", "END", 30),
        note("inner", "START", 40),
        note("innermost", "START", 41),
        note("innermost", "END", 42),
        note("inner", "END", 50),
        note("outer", "END", 60),
    )

    assert [(s["name"], s["begin"], s["end"], s["depth"], s["parent"]) for s in found] == [
        ("outer", 10_000, 60_000, 0, None),
        ("inner", 20_000, 30_000, 1, 0),
        ("inner", 40_000, 50_000, 1, 0),
        ("innermost", 41_000, 42_000, 2, 2),
    ]
    assert {span["kind"] for span in found} == {"annotation"}


def test_ends_belong_to_the_latest_start_of_their_name() -> None:
    found = spans(
        note("f", "START", 1), note("f", "START", 2), note("f", "END", 3), note("f", "END", 4)
    )

    assert [(s["begin"], s["end"]) for s in found] == [(1_000, 4_000), (2_000, 3_000)]


def test_unpaired_annotations_are_kept_with_an_open_end() -> None:
    found = spans(note("early", "END", 5), note("late", "START", 9))

    assert [(s["name"], s["begin"], s["end"]) for s in found] == [
        ("early", None, 5_000),
        ("late", 9_000, None),
    ]


def test_overlapping_annotations_never_share_a_place() -> None:
    found = spans(
        note("a", "START", 0),
        note("b", "START", 5),
        note("a", "END", 10),
        note("c", "START", 11),
        note("c", "END", 14),
        note("b", "END", 15),
        note("d", "START", 20),
        note("d", "END", 21),
    )

    assert {s["name"]: s["depth"] for s in found} == {"a": 0, "b": 1, "c": 2, "d": 0}
    names = [s["name"] for s in found]
    assert {s["name"]: s["parent"] for s in found} == {
        "a": None,
        "b": None,
        "c": names.index("b"),
        "d": None,
    }


def test_profiler_steps_number_what_begins_in_them() -> None:
    found = spans(
        note("before", "START", 1),
        note("before", "END", 2),
        note("ProfilerStep#7", "START", 10),
        note("work", "START", 11),
        note("ProfilerStep#7", "END", 20),
        note("ProfilerStep#8", "START", 20),
        note("work", "END", 25),
        note("other", "START", 26),
        note("other", "END", 27),
        note("ProfilerStep#8", "END", 30),
        note("after", "START", 30),
        note("after", "END", 31),
    )

    assert [(s["kind"], s["name"], s["step"]) for s in found] == [
        ("step", "ProfilerStep#7", 7),
        ("step", "ProfilerStep#8", 8),
        ("annotation", "before", None),
        ("annotation", "work", 7),
        ("annotation", "other", 8),
        ("annotation", "after", None),
    ]
    assert [s["args"] for s in found] == [None] * 6


def test_steps_are_inferred_from_the_optimizer() -> None:
    step = "Optimizer.step#AdamW.step"
    found = spans(
        note(step, "START", 100),
        note(step, "END", 110),
        note("Optimizer.step#SGD.step", "START", 120),
        note("Optimizer.step#SGD.step", "END", 130),
        note(step, "START", 200),
        note(step, "END", 210),
    )
    steps = [s for s in found if s["kind"] == "step"]

    assert [(s["begin"], s["end"], s["step"]) for s in steps] == [
        (None, 110_000, 0),
        (110_000, 210_000, 1),
        (210_000, None, 2),
    ]
    assert all(json.loads(s["args"]) == {"inferred": True} for s in steps)
    assert [s["step"] for s in found if s["kind"] == "annotation"] == [0, 1, 1]


def test_one_optimizer_step_tells_nothing() -> None:
    found = spans(
        note("Optimizer.step#A.step", "START", 1), note("Optimizer.step#A.step", "END", 2)
    )

    assert [s["kind"] for s in found] == ["annotation"]


def test_real_steps_come_before_inferred_ones() -> None:
    found = spans(
        note("ProfilerStep#0", "START", 1),
        *(note("Optimizer.step#A.step", stage, t) for t, stage in enumerate(["START", "END"] * 2)),
        note("ProfilerStep#0", "END", 9),
    )

    assert [s["name"] for s in found if s["kind"] == "step"] == ["ProfilerStep#0"]


def test_devices_are_apart_and_unknown_ones_are_nobodys() -> None:
    structure = whole(
        event("alloc", time_us=0),
        event("alloc", time_us=9),
        external_annotations=[
            note("f", "START", 1, device=0),
            note("f", "END", 2, device=5),
            note("g", "START", 3, device=-1),
        ],
    )
    found = rows(recorded(structure), "spans")

    assert sorted((s["name"], s["device"] is None) for s in found) == [
        ("f", False),
        ("f", True),
        ("g", True),
    ]
    assert recorded(structure).meta["annotation_entries"] == 3


def test_nightly_builds_put_annotations_into_the_history() -> None:
    def marked(stage: str, time: int) -> dict[str, Any]:
        frames = [{"name": stage, "filename": "forward", "line": 0}]
        return event("user_defined", 0, 0, frames=frames, time_us=time)

    found = rows(
        recorded(whole(marked("START", 3), event("alloc", time_us=4), marked("END", 5))), "spans"
    )

    assert [(s["name"], s["begin"], s["end"]) for s in found] == [("forward", 0, 2_000)]


def test_other_stages_are_left_out_and_told() -> None:
    recording = recorded(
        whole(event("alloc", time_us=0), external_annotations=[note("f", "PAUSE", 1)])
    )

    assert recording.table("spans").num_rows == 0
    assert "'PAUSE'" in recording.meta["problems"][0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 5},
        {"stage": None},
        {"device": "0"},
    ],
)
def test_wrong_annotations_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match="of annotation 0"):
        recorded(whole(event("alloc"), external_annotations=[note("f", "START", 1) | wrong]))


@pytest.mark.parametrize("time", [None, -1, 1 << 60, "now"])
def test_annotations_without_a_valid_time_are_left_out_and_told(time: Any) -> None:
    notes = [note("f", "START", 1) | {"time_us": time}, note("g", "START", 1)]
    recording = recorded(whole(event("alloc", time_us=0), external_annotations=notes))

    assert [row["name"] for row in recording.table("spans").to_pylist()] == ["g"]
    assert recording.meta["problems"][0].startswith(
        "1 annotation without a valid time stamp left out"
    )


def test_many_that_never_end_take_no_time() -> None:
    found = spans(*(note(f"n{i}", "START", i) for i in range(20_000)), last=30_000)

    assert [s["depth"] for s in found] == list(range(20_000))
