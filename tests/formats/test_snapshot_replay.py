"""Made-up training loops, written, read and derived, against a slow replay of their history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.readers import torch_snapshot
from tb_memory_plugin.readers.torch_structure import from_structure
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action
from tests.fixtures.allocator import MIB
from tests.fixtures.snapshots import Options, Snapshot, snapshot, write_json, write_pickle
from tests.properties import examples

_GROWS = ("segment_alloc", "segment_map")
_SHRINKS = ("segment_free", "segment_unmap")


def replayed(made: Snapshot, device: int) -> dict[str, Any]:
    """What is alive and mapped before, after and at most, event by event in plain dictionaries."""
    trace = made["device_traces"][device]
    segments = [segment for segment in made["segments"] if segment["device"] == device]
    final = {
        block["address"]: block["requested_size"]
        for segment in segments
        for block in segment["blocks"]
        if block["state"] != "inactive"
    }
    born: set[int] = set()
    before: dict[int, int] = {}
    for event in trace:
        if event["action"] == "alloc":
            born.add(event["addr"])
        elif event["action"] == "free_completed":
            if event["addr"] in born:
                born.remove(event["addr"])
            else:
                before[event["addr"]] = event["size"]
    extra = {address: size for address, size in final.items() if address not in born}
    allocated = sum(before.values()) + sum(extra.values())
    mapped = sum(segment["total_size"] for segment in segments)
    for event in trace:
        mapped -= event["size"] * (event["action"] in _GROWS)
        mapped += event["size"] * (event["action"] in _SHRINKS)
    curve, reserved = [allocated], [mapped]
    for event in trace:
        change = (event["action"] == "alloc") - (event["action"] == "free_completed")
        curve.append(curve[-1] + change * event["size"])
        change = (event["action"] in _GROWS) - (event["action"] in _SHRINKS)
        reserved.append(reserved[-1] + change * event["size"])
    assert curve[-1] == sum(final.values())
    stacks = {
        tuple((f["name"], f["filename"], f["line"]) for f in event["frames"])
        for event in trace
        if event.get("frames")
    }
    return {
        "events": len(trace),
        "allocs": sum(event["action"] == "alloc" for event in trace),
        "frees": sum(event["action"] == "free_completed" for event in trace),
        "allocated_start": curve[0],
        "allocated_end": curve[-1],
        "allocated_peak": max(curve),
        "allocated_peak_event": curve.index(max(curve)) - 1,
        "reserved_start": reserved[0],
        "reserved_end": reserved[-1],
        "reserved_peak": max(reserved),
        "live_blocks_end": len(final),
        "blocks_before_window": len(before) + len(extra),
        "distinct_stacks": len(stacks),
        "distinct_frames": len({frame for stack in stacks for frame in stack}),
        "oom": [
            {"event": place, "requested": event["size"], "device_free": event["device_free"]}
            for place, event in enumerate(trace)
            if event["action"] == "oom"
        ],
    }


options = st.builds(
    Options,
    events=st.integers(40, 900),
    seed=st.integers(0, 10_000),
    devices=st.integers(1, 3),
    stacks=st.integers(1, 60),
    depth=st.integers(1, 9),
    shared_lists=st.booleans(),
    shared_frames=st.booleans(),
    step_events=st.integers(20, 300),
    steps=st.booleans(),
    optimizer=st.booleans(),
    window=st.none() | st.integers(1, 400),
    expandable=st.booleans(),
    capacity=st.sampled_from([40 * MIB, 120 * MIB, 1 << 50]),
    pending=st.sampled_from([0.0, 0.2]),
    private_pools=st.booleans(),
    event_pools=st.booleans(),
    time=st.booleans(),
    extras=st.booleans(),
    frames=st.booleans(),
    base=st.sampled_from([0x7F00_0000_0000, (1 << 64) - (1 << 46)]),
    snapshot_marks=st.booleans(),
)


@examples(60)
@given(options)
def test_replay_identities(chosen: Options) -> None:
    made = snapshot(chosen)

    found = facts(derive(from_structure(made, "made.pickle")))

    for device in range(chosen.devices):
        expected = replayed(made, device)
        got = found["devices"][str(device)]
        assert {key: got[key] for key in expected} == expected


@examples(30)
@given(options)
def test_every_entry_is_the_row_it_was(chosen: Options) -> None:
    made = snapshot(chosen)
    recording = from_structure(made, "made.pickle")
    origin = recording.meta["time_origin_ns"]
    pools = recording.meta["pools"]

    entries = [(d, e) for d, trace in enumerate(made["device_traces"]) for e in trace]
    rows = recording.table("events").to_pylist()
    assert len(rows) == len(entries)
    for row, (device, entry) in zip(rows, entries, strict=True):
        assert row["device"] == device
        assert Action(row["action"]).name.lower() == entry["action"]
        assert row["address"] == entry.get("addr")
        assert (row["size"], row["stream"]) == (entry["size"], entry["stream"])
        time = entry.get("time_us")
        assert row["time"] == (None if time is None else time * 1_000 - origin)
        pool = entry.get("pool_id")
        assert (None if row["pool"] is None else tuple(pools[row["pool"]])) == pool
        assert _frames(recording, row["stack"]) == _content(entry.get("frames"))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("suffix", [".pickle", ".pickle.gz"])
def test_every_way_to_write_one_reads_the_same(tmp_path: Path, protocol: int, suffix: str) -> None:
    made = snapshot(events=600, devices=2, window=300, pending=0.1)
    expected = from_structure(made, "made")

    read = torch_snapshot.read(write_pickle(made, tmp_path / f"made{suffix}", protocol))

    _assert_same(read, expected)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_json_reads_the_same(tmp_path: Path, suffix: str) -> None:
    made = snapshot(events=600, devices=2, event_pools=True, base=(1 << 64) - (1 << 46))
    expected = from_structure(made, "made")

    _assert_same(torch_snapshot.read(write_json(made, tmp_path / f"made{suffix}")), expected)


def test_a_list_of_segments_reads_as_a_snapshot_without_history(tmp_path: Path) -> None:
    segments = snapshot(events=300)["segments"]

    read = torch_snapshot.read(write_pickle(segments, tmp_path / "list.pkl"))

    assert read.meta["has_history"] is False
    assert read.table("segments").num_rows == len(segments)


def test_reading_reports_progress_that_only_grows(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=60_000, depth=4), tmp_path / "made.pickle")
    told: list[tuple[float, str]] = []

    torch_snapshot.read(path, lambda part, phase: told.append((part, phase)))

    parts = [part for part, _ in told]
    assert parts == sorted(parts) and parts[0] >= 0 and parts[-1] <= 1
    assert {phase for _, phase in told} == {"reading", "indexing events"}


def _frames(recording: Recording, row: int | None) -> list[tuple[str, str, int]]:
    if row is None:
        return []
    ids = recording.table("stacks").column("frames")[row].as_py()
    frames = recording.table("frames")
    return [
        tuple(frames.column(name)[i].as_py() for name in ("function", "file", "line")) for i in ids
    ]


def _content(frames: list[dict[str, Any]] | None) -> list[tuple[str, str, int]]:
    return [(f["name"], f["filename"], f["line"]) for f in frames or ()]


def _assert_same(read: Recording, expected: Recording) -> None:
    for name, table in expected.tables.items():
        assert read.table(name).equals(table), name
    assert {**read.meta, "source": None} == {**expected.meta, "source": None}
