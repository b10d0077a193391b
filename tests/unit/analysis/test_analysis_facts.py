"""Facts of recordings written by hand."""

from __future__ import annotations

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tests.fixtures.histories import history
from tests.fixtures.training import training


def test_the_facts_of_a_small_training() -> None:
    found = facts(training())
    assert found["annotations"] == 2 * 5 - 2
    assert found["devices"]["0"] == {
        "events": 10,
        "allocated_start": 1300,
        "allocated_end": 1000 + 512 + 700 + 64,
        "allocated_peak": 1300 + 512 + 2048 + 700,
        "allocated_peak_event": 3,
        "reserved_start": 0x6000,
        "reserved_end": 0x7000,
        "reserved_peak": 0x7000,
        "live_blocks_end": 4,
        "blocks_before_window": 2,
        "allocs": 4,
        "frees": 2,
        "distinct_stacks": 3,
        "distinct_frames": 7,
        "peak_bytes_by_stack_top5": [2048, 1300, 700, 512],
        "oom": [{"event": 9, "requested": 9999, "device_free": 12}],
        "pools": [[0, 0]],
        "streams": 1,
        "pending_free_blocks": 1,
        "time_span_us": 9,
    }
    other = found["devices"]["1"]
    assert (other["events"], other["time_span_us"]) == (0, None)
    assert (other["allocated_peak"], other["allocated_peak_event"]) == (5, -1)


def test_stacks_are_told_apart_by_what_they_say_not_by_their_rows() -> None:
    same = [("f", "a.py", 1), ("g", "a.py", 2)]
    recording = history(
        [("alloc", place, 10, {"stack": place}) for place in range(4)],
        stacks=[same, list(reversed(same)), same[:1], [("f", "a.py", 2)]],
    )
    found = facts(derive(recording))["devices"]["0"]
    assert (found["distinct_stacks"], found["distinct_frames"]) == (4, 3)
    assert found["peak_bytes_by_stack_top5"] == [10, 10, 10, 10]


def test_steps_that_nobody_recorded_are_no_annotations() -> None:
    spans = [
        {"kind": "step", "name": "step 0", "begin": 0, "end": 5, "args": '{"inferred": true}'},
        {"kind": "step", "name": "ProfilerStep#1", "begin": 5, "end": None},
        {"kind": "op", "name": "mm", "begin": 5, "end": 6},
    ]
    assert facts(derive(history(spans=spans)))["annotations"] == 1


def test_a_recording_without_an_end_state_does_not_know_what_is_reserved() -> None:
    found = facts(derive(history([("alloc", 1, 7)])))["devices"]["0"]
    assert (found["reserved_start"], found["reserved_end"], found["reserved_peak"]) == (None,) * 3
    assert (found["pools"], found["streams"], found["live_blocks_end"]) == ([], 0, 0)
