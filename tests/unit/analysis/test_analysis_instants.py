"""Moments as users name them."""

from __future__ import annotations

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.instants import Instant, at_any_time, resolve
from tb_memory_plugin.errors import QueryError
from tests.fixtures.histories import history
from tests.fixtures.training import training


@pytest.mark.parametrize(
    ("at", "event", "time"),
    [
        ("peak", 3, 3000),
        ("event:-1", -1, None),
        ("-1", -1, None),
        ("event:4", 4, 4000),
        ("9", 9, 9000),
        ("time:0", 0, 0),
        ("time:999", 0, 0),
        ("time:9000", 9, 9000),
        ("step:3", 3, 3000),
        ("step:4", 3, 3000),  # what is carried into a step is seen in it
    ],
)
def test_moments(at: str, event: int, time: int | None) -> None:
    recording = training()
    found = resolve(recording, recording.devices[0], at)
    assert (found.event, found.time) == (event, time)
    moved = recording.values("usage", "event", recording.devices[0])
    assert moved[found.row] <= event
    assert found.row + 1 == len(moved) or moved[found.row + 1] > event


def test_a_step_s_highest_moment_is_within_it() -> None:
    recording = derive(
        history(
            [("alloc", 1, 10), ("free", 1, 10), ("alloc", 2, 4), ("alloc", 3, 9)],
            spans=[{"kind": "step", "name": "s", "begin": 1500, "end": 2500, "step": 0}],
        )
    )
    assert resolve(recording, recording.devices[0], "step:0") == Instant(2, 3, 2000)


def test_what_a_step_begins_with_is_within_it() -> None:
    recording = derive(
        history(
            [("alloc", 1, 10), ("free", 1, 10), ("alloc", 2, 4)],
            spans=[{"kind": "step", "name": "s", "begin": 500, "end": 2500, "step": 0}],
        )
    )
    assert resolve(recording, recording.devices[0], "step:0") == Instant(0, 1, 0)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("noon", "'noon' is not a moment; write it as peak, event:N, time:NANOSECONDS or step:N"),
        ("event:10", "cuda:0 has no event 10; they go from -1 to 9"),
        ("event:-2", "they go from -1 to 9"),
        ("time:9001", "9001 ns is outside the window of cuda:0, which goes from 0 to 9000 ns"),
        ("time:-1", "outside the window"),
        ("step:5", "no step 5; they go from 3 to 4"),
        ("event:" + "9" * 30, "is not a moment"),
    ],
)
def test_other_moments_are_refused_with_what_would_do(at: str, words: str) -> None:
    recording = training()
    with pytest.raises(QueryError) as error:
        resolve(recording, recording.devices[0], at)
    assert words in str(error.value)


def test_an_end_state_has_the_moment_before_events_only() -> None:
    recording = training()
    device = recording.devices[1]
    assert resolve(recording, device, "peak") == Instant(-1, 0, None)
    for at, words in (
        ("event:0", "cuda:1 has no event 0; only -1"),
        ("time:0", "The events of cuda:1 have no time stamps"),
        ("step:3", "The events of cuda:1 have no time stamps"),
    ):
        with pytest.raises(QueryError, match=words):
            resolve(recording, device, at)


def test_times_that_go_back_count_as_the_time_before() -> None:
    recording = derive(
        history([("alloc", 1, 1, {"time": 10}), ("alloc", 2, 1, {"time": 5}), ("alloc", 3, 1)])
    )
    assert resolve(recording, recording.devices[0], "time:10").event == 1


def test_the_moment_of_another_device_may_be_any() -> None:
    recording = training()
    one, other = recording.devices
    for at, event in (("time:-5", -1), ("time:3999", 3), ("time:1000000", 9), ("peak", 3)):
        found = at_any_time(recording, one, at)
        assert (at, found) == (at, resolve(recording, one, f"event:{event}"))
        # Of this one nothing but its end is known.
        assert at_any_time(recording, other, at).event == -1
    untimed = derive(history([("alloc", 1, 10)], timed=False))
    with pytest.raises(QueryError, match="no time stamps"):
        at_any_time(untimed, untimed.devices[0], "time:0")
