"""A window of the trace as a file for Perfetto: what is in it, and that viewers take all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views.trace import export
from tests.fixtures import chrome
from tests.fixtures.histories import history
from tests.fixtures.programs import Program, programs

bounds = st.one_of(st.none(), st.integers(0, 5000))


def exported(recording: Recording, **window: Any) -> list[dict[str, Any]]:
    return chrome.check(json.loads("".join(export.trace_file(recording, **window))))


@given(programs(), bounds, st.integers(1, 5000))
def test_the_exported_trace_holds_every_span_of_the_window(
    program: Program, begin: int | None, length: int
) -> None:
    recording = program.recording()
    end = None if begin is None else begin + length
    events = exported(recording, begin=begin, end=end)
    spans = {event["args"]["span"]: event for event in events if event["ph"] == "X"}
    drawn = {row["span"]: row for row in recording.table("span_order").to_pylist()}
    low = 0 if begin is None else begin
    high = 1 << 60 if end is None else end
    assert set(spans) == {
        row
        for row, at in drawn.items()
        if at["begin"] < high and (at["end"] > low or at["begin"] == low)
    }
    for row, event in spans.items():
        assert round(event["ts"] * 1000) == drawn[row]["begin"]
        assert round(event["dur"] * 1000) == drawn[row]["end"] - drawn[row]["begin"]
        assert (event["name"], event["cat"]) == tuple(
            program.spans[row][name] for name in ("name", "kind")
        )
    counters = [event["args"]["allocated"] for event in events if event["ph"] == "C"]
    level = sum(one.change for one in program.moved if one.time < low)
    expected = [level]
    for one in program.moved:
        if low <= one.time < high:
            level += one.change
            expected.append(level)
    assert counters == expected


def test_a_recording_without_any_time_has_no_trace() -> None:
    with pytest.raises(QueryError, match="Nothing in this recording has a time"):
        export.trace_file(history([("alloc", 512, 1)], timed=False))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["thread 1", "cuda:0 stream 7", "steps"]),
            st.integers(0, 40),
            st.integers(0, 30),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_spans_that_merely_overlap_are_in_threads_of_their_own(
    rows: list[tuple[str, int, int]],
) -> None:
    kinds = {"thread 1": "op", "cuda:0 stream 7": "kernel", "steps": "step"}
    spans = [
        {"track": track, "kind": kinds[track], "name": track, "begin": begin, "end": begin + length}
        for track, begin, length in rows
    ]
    events = exported(derive(history([("alloc", 512, 1)], spans=spans)))
    told = [event for event in events if event["ph"] == "X"]
    assert sorted(
        (event["name"], round(1_000 * event["ts"]), round(1_000 * event["dur"])) for event in told
    ) == sorted(rows)
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    for event in told:
        assert names[event["pid"], event["tid"]].partition(", level ")[0] == event["name"]


def test_what_only_nests_is_in_one_thread() -> None:
    rows = [(0, 90), (10, 50), (10, 20), (20, 50), (50, 90), (50, 50)]
    spans = [
        {"track": "t", "kind": "op", "name": "a", "begin": begin, "end": end} for begin, end in rows
    ]
    events = exported(derive(history([("alloc", 512, 1)], spans=spans)))
    assert len({event["tid"] for event in events if event["ph"] == "X"}) == 1
    step = {"track": "t", "kind": "step", "name": "step", "begin": 60, "end": 120}
    events = exported(derive(history([("alloc", 512, 1)], spans=[*spans, step])))
    (apart,) = (event for event in events if event["name"] == "step")
    (named,) = (
        event for event in events if event["name"] == "thread_name" and event["tid"] == apart["tid"]
    )
    assert named["args"]["name"].startswith("t, level ")
    assert all(event["tid"] != apart["tid"] for event in events if event["name"] == "a")


@pytest.mark.parametrize(
    "name",
    [
        "traces/h100_bert_small.json.gz",
        "traces/mi300_vit.json.gz",
        "traces/v100_torch19_resnet50.pt.trace.json.gz",
        "xla/tpu_4device.xplane.pb",
    ],
)
def test_real_recordings_lose_no_span_in_a_viewer(shared_data: Path, name: str) -> None:
    recording = load_path(shared_data / name)
    events = exported(recording)
    ids = [event["args"]["span"] for event in events if event["ph"] == "X"]
    assert sorted(ids) == list(range(recording.table("spans").num_rows))
    own = {event["tid"] for event in events if event["ph"] == "X"}
    tracks = recording.table("span_tracks").num_rows
    assert tracks <= len(own) <= 2 * tracks + int(np.sqrt(len(ids)))
    times = recording.values("span_order", "begin")
    assert sum(event["ts"] for event in events if event["ph"] == "X") == pytest.approx(
        times.sum() / 1_000
    )
    counted = {event["name"] for event in events if event["ph"] == "C"}
    assert counted == {
        device.name
        for device in recording.devices
        if len(recording.values("usage", "event", device)) > 1
    }
