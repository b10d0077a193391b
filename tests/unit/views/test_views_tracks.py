"""Steps, annotations and marks of a window."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import tracks
from tests.fixtures.histories import history
from tests.fixtures.training import training


def ask(recording: Recording, **question: Any) -> dict[str, Any]:
    whole = {"axis": "time", "width": 1000, **question}
    answer: dict[str, Any] = json.loads(
        json.dumps(tracks.window(recording, recording.devices[0], **whole))
    )
    return answer


def test_by_time() -> None:
    answer = ask(training())
    assert answer["steps"] == [
        {
            "id": "0",
            "name": "ProfilerStep#3",
            "begin": 0,
            "end": 4000,
            "count": 1,
            "begin_event": 0,
            "end_event": 4,
            "begin_time": 0,
            "end_time": 4000,
            "open": None,
        },
        {
            "id": "1",
            "name": "ProfilerStep#4",
            "begin": 4000,
            "end": 9001,
            "count": 1,
            "begin_event": 4,
            "end_event": 10,
            "begin_time": 4000,
            "end_time": None,
            "open": "end",
        },
    ]
    assert [(item["name"], item["depth"], item["open"]) for item in answer["annotations"]] == [
        ("load", 0, "begin"),
        ("fwd", 0, None),
        ("inner", 1, None),
    ]
    assert answer["marks"] == [
        {
            "kind": "out_of_memory",
            "event": 9,
            "time": 9000,
            "text": "9999 bytes did not fit",
        }
    ]
    assert answer["hidden"] == 0


def test_by_event_spans_hold_the_events_within_them() -> None:
    answer = ask(training(), axis="event")
    assert [(item["begin"], item["end"]) for item in answer["steps"]] == [(0, 4), (4, 10)]
    assert {item["name"]: (item["begin"], item["end"]) for item in answer["annotations"]} == {
        "load": (0, 1),
        "fwd": (1, 3),
        "inner": (1, 2),
    }


def test_only_what_touches_the_window() -> None:
    answer = ask(training(), begin=4500, end=8000)
    assert [item["name"] for item in answer["steps"]] == ["ProfilerStep#4"]
    assert answer["annotations"] == answer["marks"] == []


def recording_of(spans: Sequence[tuple[int, int, int]]) -> Recording:
    rows = [
        {"kind": "annotation", "name": f"s{n}", "begin": b, "end": b + length, "depth": depth}
        for n, (b, length, depth) in enumerate(spans)
    ]
    events: list[Any] = [("alloc", 1, 1, {"time": 0}), ("alloc", 2, 1, {"time": 100_000})]
    return derive(history(events, spans=rows))


@given(
    st.lists(
        st.tuples(st.integers(0, 99_000), st.integers(0, 1000), st.integers(0, 2)), max_size=40
    ),
    st.integers(1, 300),
)
def test_every_span_is_in_an_item_and_no_item_is_in_vain(
    spans: list[tuple[int, int, int]], width: int
) -> None:
    answer = ask(recording_of(spans), width=width)
    items = answer["annotations"]
    assert sum(item["count"] for item in items) == len(spans)
    pixel = 100_001 // width
    for begin, length, depth in spans:
        assert any(
            item["begin"] <= begin and begin + length <= item["end"] and item["depth"] == depth
            for item in items
        )
    alone = sorted((i["begin"], i["end"], i["depth"]) for i in items if i["count"] == 1)
    assert all((b, e - b, d) in spans for b, e, d in alone)
    for item in items:
        if item["count"] > 1:
            assert item["end"] - item["begin"] < 2 * pixel
    assert answer["hidden"] == 0


def test_a_merged_item_is_called_by_its_longest() -> None:
    (item,) = ask(recording_of([(0, 1, 0), (2, 5, 0), (8, 1, 0)]), width=10)["annotations"]
    assert (item["name"], item["begin"], item["end"], item["count"]) == ("s1", 0, 9, 3)


def test_answers_are_bounded_and_say_what_they_hide() -> None:
    count = tracks.MOST_ITEMS + 500
    recording = recording_of([(20 * n, 10, 0) for n in range(count)])
    answer = ask(recording, width=100_000)
    assert len(answer["annotations"]) == tracks.MOST_ITEMS
    assert answer["hidden"] == 500


def test_failures_are_the_last_marks_to_be_left_out() -> None:
    marks: list[dict[str, Any]] = [
        {"kind": "snapshot", "event": 0, "time": n, "text": ""} for n in range(600)
    ]
    marks[599]["kind"] = "out_of_memory"
    recording = derive(history([("snapshot", 0, 0, {"time": 1000})], marks=marks))
    answer = ask(recording, begin=0, end=2000)
    assert len(answer["marks"]) == tracks.MOST_MARKS
    assert answer["marks"][-1]["kind"] == "out_of_memory"
    assert answer["hidden"] == 100


def test_without_time_stamps_spans_have_no_place_but_marks_do() -> None:
    recording = derive(
        history(
            [("alloc", 1, 1), ("oom", 0, 5)],
            timed=False,
            spans=[{"kind": "step", "name": "s", "begin": 0, "end": 5, "step": 0}],
            marks=[{"kind": "out_of_memory", "event": 1, "text": "t"}],
        )
    )
    answer = ask(recording, axis="event")
    assert answer["steps"] == []
    assert [mark["event"] for mark in answer["marks"]] == [1]
    with pytest.raises(QueryError, match="no time stamps"):
        ask(recording)


def test_windows_that_are_none_are_refused() -> None:
    with pytest.raises(QueryError, match="a beginning before its end"):
        ask(training(), begin=5, end=5)


def modules(spans: Sequence[tuple[int | None, str, int, int]], devices: int = 1) -> Recording:
    """Runs of HLO modules: device, track, begin, end."""
    rows = [
        {
            "kind": "hlo_module",
            "name": f"jit_f({n})",
            "device": device,
            "track": track,
            "begin": begin,
            "end": end,
        }
        for n, (device, track, begin, end) in enumerate(spans)
    ]
    events: list[Any] = [
        ("alloc", place, 1, {"time": time, "device": device})
        for device in range(devices)
        for place, time in enumerate((0, 500, 100_000))
    ]
    return derive(history(events, spans=rows, devices=devices))


def test_modules_are_those_of_the_device() -> None:
    recording = modules([(0, "TPU:0", 100, 600), (1, "TPU:1", 0, 9)], devices=2)
    (module,) = ask(recording)["modules"]
    assert (module["name"], module["depth"], module["on"]) == ("jit_f(0)", 0, "TPU:0")
    assert (module["begin_time"], module["end_time"], module["begin"]) == (100, 600, 100)
    (module,) = ask(recording, axis="event")["modules"]
    assert (module["begin_time"], module["end_time"]) == (100, 600)
    assert (module["begin"], module["end"]) == (1, 2)


def test_modules_of_all_devices_where_none_is_known_to_be_of_this_one() -> None:
    recording = modules(
        [(None, "TPU:10", 5, 9), (None, "TPU:2", 0, 20), (None, "TPU:2", 20, 30), (1, "X", 0, 9)],
        devices=3,
    )
    found = tracks.window(recording, recording.devices[0], axis="time", width=100_001)["modules"]
    assert [(item["on"], item["depth"]) for item in found] == [
        ("X", 0),
        ("TPU:2", 1),
        ("TPU:10", 2),
        ("TPU:2", 1),
    ]
    own = tracks.window(recording, recording.devices[1], axis="time", width=100_001)["modules"]
    assert [item["on"] for item in own] == ["X"]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 900), st.integers(1, 300))))
def test_no_module_covers_another(spans: list[tuple[int, int, int]]) -> None:
    recording = modules([(0, f"T{t}", begin, begin + length) for t, begin, length in spans])
    found = ask(recording, width=100_001)["modules"]
    assert len(found) == len(spans)
    of_track: dict[int, set[str]] = {}
    for item in found:
        of_track.setdefault(item["depth"], set()).add(item["on"])
        others = [other for other in found if other is not item and other["depth"] == item["depth"]]
        assert all(o["end"] <= item["begin"] or o["begin"] >= item["end"] for o in others)
    assert all(len(names) == 1 for names in of_track.values())
