"""The list of all events: its filters against plain Python, its places against a plain list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.event_allocations import allocations_of
from tb_memory_plugin.analysis.event_list import EventList, event_list
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.worlds import ruins, worlds

STACKS = [[("forward", "model.py", 88), ("main", "train.py", 4)], [("step", "adam.py", 1)]]


def made() -> Recording:
    return derive(
        history(
            [
                ("segment", 0x1000, 4096, {"pool": 0}),  # 0
                ("alloc", 0x1000, 100, {"stack": 0, "pool": 1}),  # 1
                ("alloc", 0x1200, 3000, {"stack": 1, "user_metadata": "weights of layer 3"}),  # 2
                ("request", 0x1000, 100, {"stack": 1}),  # 3
                ("free", 0x1000, 100, {"stream": 7}),  # 4
                ("oom", 0, 1 << 30, {"address": None}),  # 5
                ("snapshot", 0, 3000, {"address": None}),  # 6
                ("free", 0x1200, 3000),  # 7
            ],
            segments=[{"address": 0x1000, "size": 4096}],
            blocks=[],
            stacks=STACKS,
            labels=[{"event": 1, "address": 0x1000, "category": "gradient", "op": "aten::mm"}],
            spans=[
                {"kind": "step", "name": "0", "step": 0, "begin": 0, "end": 2500},
                {"kind": "step", "name": "1", "step": 1, "begin": 4000, "end": 6000},
            ],
        )
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", range(8)),
        ("action:alloc", [1, 2]),
        ("action:free", [3, 4, 7]),
        ("action:free_completed", [4, 7]),
        ("action:segment", [0]),
        ("action:oom", [5]),
        ("-action:alloc -action:free", [0, 5, 6]),
        ("size>=3000", [0, 2, 5, 6, 7]),
        ("size<1KiB", [1, 3, 4]),
        ("address:0x1000", [0, 1, 3, 4]),
        ("address:0x1300", [0, 2, 7]),
        ("model.py", [1]),
        ("stack:adam", [2, 3]),
        ("category:gradient", [1, 3, 4]),
        ("mm", [1, 3, 4]),
        ('"layer 3"', [2]),
        ("stream:7", [4]),
        ("pool:0,1", [1, 3, 4]),
        ("step:0", [0, 1, 2]),
        ("step>=0", [0, 1, 2, 4, 5]),
        ("step:none", [3, 6, 7]),
        ("event>=6", [6, 7]),
        ("action:alloc size>1KiB", [2]),
        ("/^step adam/", [2, 3]),
    ],
)
def test_what_passes_a_filter(text: str, expected: Any) -> None:
    recording = made()
    listed = event_list(recording, recording.devices[0], text)
    assert listed.ordinals(0, 100).tolist() == list(expected)


@pytest.mark.parametrize(
    "text", ["action:nothing", "event:x", "address>3", "size>much", "/(/", "colour:red"]
)
def test_what_makes_no_sense_is_refused(text: str) -> None:
    recording = made()
    with pytest.raises(QueryError):
        event_list(recording, recording.devices[0], text)


def test_allocations_are_not_asked_about_events() -> None:
    from tb_memory_plugin.analysis import filters

    with pytest.raises(QueryError, match="nothing to filter by"):
        filters.parse("action:alloc")


@examples(60)
@given(
    st.lists(st.booleans(), max_size=60), st.integers(1, 400), st.integers(0, 70), st.integers(0, 9)
)
def test_any_part_of_a_list_can_be_entered(
    pattern: list[bool], times: int, offset: int, limit: int
) -> None:
    passing = np.array(pattern * times, dtype=bool)
    plain = np.flatnonzero(passing).tolist()
    listed = _listed(passing)
    offset *= max(len(plain) // 60, 1)
    assert listed.count == len(plain)
    assert listed.ordinals(offset, limit).tolist() == plain[offset : offset + limit]
    for ordinal in {0, offset, len(passing) // 2, len(passing), len(passing) + 5}:
        assert listed.row(ordinal) == sum(one < ordinal for one in plain)


def _listed(passing: Any) -> EventList:
    recording = derive(history([("alloc" if each else "snapshot", 0, 1) for each in passing]))
    return event_list(recording, recording.devices[0], "action:alloc")


@given(st.one_of(worlds().map(lambda world: world.recording), ruins()))
def test_events_know_their_allocation(recording: Recording) -> None:
    found = derive(recording)
    device = found.devices[0]
    count = len(found.values("events", "action", device))
    lives = found.table("allocations").to_pylist()
    expected = []
    for event in range(count):
        born = [row for row, life in enumerate(lives) if life["birth"] == event]
        died = [row for row, life in enumerate(lives) if life["death"] == event]
        asked = [row for row, life in enumerate(lives) if life["free_requested"] == event]
        expected.append((*born, *died, *asked, -1)[0])
    every = np.arange(count)
    assert allocations_of(found, device, every).tolist() == expected
    some = every[1::2]
    assert allocations_of(found, device, some).tolist() == expected[1::2]
