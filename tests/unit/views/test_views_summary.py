"""What the page knows before it draws."""

from __future__ import annotations

import json
from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.summary import brief, default_grouping, summary
from tests.fixtures.histories import history
from tests.fixtures.training import training


def ask(recording: Recording) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        json.dumps(summary(recording, version="v1", run="llm/train", name="a.pickle"))
    )
    return answer


def test_the_summary_of_a_small_training() -> None:
    answer = ask(training())
    assert {name: answer[name] for name in ("version", "format", "basis", "run", "name")} == {
        "version": "v1",
        "format": "test",
        "basis": "requested",
        "run": "llm/train",
        "name": "a.pickle",
    }
    assert answer["axes"] == ["time", "event"]
    assert not answer["live"]
    assert [grouping["key"] for grouping in answer["groupings"]] == [
        "category",
        "stack",
        "op",
        "module",
        "dtype_shape",
        "step",
        "annotation",
        "pool",
        "stream",
        "size",
        "lifetime",
        "age",
        "pattern",
    ]
    first, second = answer["devices"]
    assert first == {
        "key": "0",
        "name": "cuda:0",
        "capacity": None,
        "events": 10,
        "begin_time": 0,
        "end_time": 9000,
        "default_grouping": "category",
        "allocs": 4,
        "frees": 2,
        "allocated_start": 1300,
        "allocated_end": 2276,
        "allocated_peak": 4560,
        "peak_event": 3,
        "peak_time": 3000,
        "peak_step": 3,
        "reserved_start": 0x6000,
        "reserved_end": 0x7000,
        "reserved_peak": 0x7000,
        "reserved_at_peak": 0x7000,
        "blocks_before_window": 2,
        "sums_before_window": 0,
        "allocator": None,
        "areas": [],
        "addresses": True,
        "segments": True,
        "bytes_before_window": 1300,
        "lifetime_peak": None,
        "oom": [{"event": 9, "time": 9000, "requested": 9999, "device_free": 12}],
        "oom_count": 1,
        "steps": 2,
        "modules": 0,
    }
    assert (second["events"], second["begin_time"], second["peak_event"]) == (0, None, -1)
    assert second["allocated_peak"] == 5


def test_only_groupings_that_tell_something_apart_are_offered() -> None:
    answer = ask(derive(history([("alloc", 1, 1)], timed=False)))
    offered = [grouping["key"] for grouping in answer["groupings"]]
    assert offered == ["stack", "stream", "size", "lifetime", "age", "pattern"]
    assert answer["axes"] == ["event"]


def test_a_recording_of_nothing() -> None:
    answer = ask(derive(history(devices=0)))
    assert answer["devices"] == []
    assert brief(derive(history(devices=0))) == {
        "events": 0,
        "steps": 0,
        "devices": 0,
        "modules": 0,
        "peak_bytes": 0,
        "peak_device": None,
        "capacity": None,
    }


def labelled(known: int, unknown: int, **events: Any) -> str:
    recording = derive(
        history(
            [("alloc", 1, known, events), ("alloc", 2, unknown, events)],
            labels=[{"event": 0, "address": 1, "category": "gradient", "op": "mm"}],
            stacks=[[("f", "a.py", 1)]],
        )
    )
    return default_grouping(recording, recording.devices[0])


def test_grouping_starts_with_category_where_over_half_have_one() -> None:
    assert labelled(51, 49) == "category"
    assert labelled(50, 50, stack=0) == "stack"
    assert labelled(50, 50) == "op"


def test_a_brief() -> None:
    found = brief(training())
    assert found.pop("peak_device") == training().devices[0].name
    assert found.pop("capacity") == training().devices[0].capacity
    assert found == {"events": 10, "steps": 2, "devices": 2, "modules": 0, "peak_bytes": 4560}
