"""The window query against a look at every state, at every zoom."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.grouping import GROUPINGS
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.usage import window
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.worlds import ruins, worlds


def ask(recording: Recording, **question: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows of the answer and what its metadata says of them."""
    whole = {"axis": "event", "width": 8, "by": "stack", **question}
    table = pa.ipc.open_stream(window(recording, recording.devices[0], **whole)).read_all()
    return table.to_pylist(), json.loads(table.schema.metadata[b"window"])


def states(recording: Recording, axis: str) -> list[tuple[int, int, int]]:
    """(from, to, event): how long every state of the device is seen on the axis, in order."""
    times = recording.table("events").column("time").to_pylist()
    places = list(range(len(times))) if axis == "event" else times
    if not places:
        return [(0, 1, -1)]
    ends = [*places[1:], places[-1] + 1]
    found = [(places[0], places[0], -1)]
    return found + list(zip(places, ends, range(len(places)), strict=True))


def alive(recording: Recording, event: int) -> list[dict[str, Any]]:
    return [
        row
        for row in recording.table("allocations").to_pylist()
        if (row["birth"] is None or row["birth"] <= event)
        and (row["death"] is None or row["death"] > event)
    ]


def reserved(recording: Recording, event: int) -> int | None:
    rows = [row for row in recording.table("usage").to_pylist() if row["event"] <= event]
    found: int | None = rows[-1]["reserved"]
    return found


def expected(recording: Recording, axis: str, begin: int, end: int) -> tuple[int, int | None]:
    """The highest allocated and reserved of what is seen in a bin: states that last into it,
    states that are there for no time at all, and, where the axis begins, what was before."""
    first = states(recording, axis)[0][0]
    seen = [
        event
        for since, until, event in states(recording, axis)
        if (event >= 0 or begin <= first)
        and since < end
        and (until > begin or (since == until and since >= begin) or event < 0)
    ]
    highest = max(sum(row["requested"] for row in alive(recording, event)) for event in seen)
    mapped = [reserved(recording, event) for event in seen]
    return highest, None if None in mapped else max(mapped)  # type: ignore[type-var]


@examples(150)
@given(
    worlds(),
    st.sampled_from(["event", "time"]),
    st.integers(0, 40),
    st.integers(1, 60),
    st.integers(1, 30),
)
def test_every_bin_shows_its_highest_state(
    world: Any, axis: str, begin: int, length: int, width: int
) -> None:
    recording = derive(world.recording)
    count = recording.table("events").num_rows
    if axis == "time":
        if not count:
            with pytest.raises(QueryError, match="no time stamps"):
                ask(recording, axis=axis, begin=0, end=9)
            return
        begin, length = begin * 777, length * 777
    rows, about = ask(recording, axis=axis, begin=begin, end=begin + length, width=width)
    size = about["bin"]
    assert size & (size - 1) == 0
    assert size == 1 or width <= length / size < 2 * width
    last = states(recording, axis)[-1][1]
    bins = {row["begin"] for row in rows}
    wanted = range(begin // size * size, min(begin + length, last), size)
    assert bins == {edge for edge in wanted if edge < last and edge + size > 0}
    for row in rows:
        assert row["end"] - row["begin"] == size
        highest, mapped = expected(recording, axis, row["begin"], row["end"])
        assert row["allocated"] == highest
        assert row["allocated"] == sum(a["requested"] for a in alive(recording, row["event"]))
        assert row["reserved"] == reserved(recording, row["event"])
        assert row["reserved_max"] == mapped


@examples(60)
@given(worlds(), st.integers(1, 50), st.integers(1, 3))
def test_groups_add_up_and_are_what_is_alive(world: Any, width: int, top: int) -> None:
    recording = derive(world.recording)
    rows, about = ask(recording, width=width, top=top)
    groups = about["groups"]
    names = {
        f"{name} · a.py:{line}": place
        for place, (name, line) in enumerate([("f", 1), ("g", 2), ("h", 3)])
    }
    for row in rows:
        sums = [row[f"g{place}"] for place in range(len(groups))]
        assert sum(sums) == row["allocated"]
        truth = Counter[int | None]()
        for life in alive(recording, row["event"]):
            truth[life["birth_stack"]] += life["requested"]
        for group, found in zip(groups, sums, strict=True):
            if group["label"] in names:
                assert found == truth[names[group["label"]]]
            elif group["key"] in ("…before", "…unknown"):
                assert found == truth[None]


@examples(100)
@given(ruins(), st.sampled_from(sorted(GROUPINGS)), st.integers(1, 40))
def test_no_history_loses_its_peak_or_a_byte(recording: Recording, by: str, width: int) -> None:
    recording = derive(recording)
    peak = max(recording.table("usage").column("allocated").to_pylist())
    for axis in ("event", "time") if recording.table("events").num_rows else ("event",):
        pattern = "f" if by == "pattern" else ""
        rows, about = ask(recording, axis=axis, by=by, pattern=pattern, width=width)
        assert max(row["allocated"] for row in rows) == peak
        for row in rows:
            sums = [row[f"g{place}"] for place in range(len(about["groups"]))]
            assert sum(sums) == row["allocated"]


def many(count: int) -> Recording:
    """A long history whose values follow a rule: many blocks of the helpers are filled."""
    events: list[Any] = []
    for number in range(count):
        events.append(("alloc", number, (number * 7919) % 1013 + 1, {"stack": number % 5}))
        if number >= 40:
            old = number - 40 + (number % 3)
            events.append(("free", old, (old * 7919) % 1013 + 1))
    return derive(history(events, stacks=[[(f"f{place}", "a.py", place)] for place in range(5)]))


@pytest.mark.parametrize("width", [1, 3, 17, 100, 2000])
def test_a_long_history_is_right_at_every_zoom(width: int) -> None:
    recording = many(4000)
    usage = recording.table("usage").to_pylist()
    level: dict[int, int] = {row["event"]: row["allocated"] for row in usage}
    count = recording.table("events").num_rows
    for begin, end in ((0, count), (1000, 1900), (2047, 2049), (count - 65, count)):
        rows, about = ask(recording, begin=begin, end=end, width=width, top=2)
        assert about["groups"][-1]["key"] == "…rest"
        for row in rows:
            own = [level[e] for e in range(row["begin"], min(row["end"], count)) if e in level]
            carried = [level[-1]] if row["begin"] == 0 else []
            before = row["begin"]
            while before not in level:
                before -= 1
            if before != row["begin"]:
                carried.append(level[before])
            assert row["allocated"] == max(own + carried)
            truth = Counter[int]()
            for life in alive_fast(recording, row["event"]):
                truth[life[0]] += life[1]
            shown = [int(group["label"][1]) for group in about["groups"][:-1]]
            for place, stack in enumerate(shown):
                assert row[f"g{place}"] == truth.pop(stack, 0)
            assert row[f"g{len(shown)}"] == sum(truth.values())


def alive_fast(recording: Recording, event: int) -> list[tuple[int, int]]:
    birth, death = (recording.values("allocations", name) for name in ("birth", "death"))
    chosen = (birth <= event) & (death > event)
    stack = recording.values("allocations", "birth_stack")[chosen]
    size = recording.values("allocations", "requested")[chosen]
    return list(zip(stack.tolist(), size.tolist(), strict=True))


def test_sums_beyond_what_floats_hold_stay_exact() -> None:
    huge = (1 << 59) - 1
    recording = derive(
        history(
            [
                ("alloc", 1, huge, {"stack": 0}),
                ("alloc", 2, huge - 3, {"stack": 1}),
                ("free", 1, huge),
                ("alloc", 3, 5, {"stack": 0}),
            ],
            stacks=[[("f", "a.py", 1)], [("g", "a.py", 2)]],
        )
    )
    rows, _ = ask(recording)
    assert [(row["g0"], row["g1"]) for row in rows] == [
        (huge, 0),
        (huge, huge - 3),
        (0, huge - 3),
        (5, huge - 3),
    ]


def test_an_end_state_alone_is_one_bin() -> None:
    recording = derive(
        history(blocks=[{"address": 1, "requested": 7}], segments=[{"address": 0, "size": 512}])
    )
    rows, about = ask(recording)
    assert rows == [
        {
            "begin": 0,
            "end": 1,
            "event": -1,
            "time": None,
            "allocated": 7,
            "reserved": 512,
            "reserved_max": 512,
            "g0": 7,
        }
    ]
    assert about["groups"] == [{"key": "…before", "label": "before the window"}]
    assert about["has_reserved"]


def test_answers_are_bounded_by_the_screen() -> None:
    recording = many(20000)
    answer = window(
        recording, recording.devices[0], axis="event", width=10**6, by="stack", top=10**6
    )
    assert len(answer) <= 1 << 20


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"axis": "program"}, "no axis 'program'; choose time or event"),
        ({"begin": 5, "end": 5}, "a beginning before its end, not 5 … 5"),
        ({"width": 0}, "at least one pixel"),
        ({"by": "colour"}, "Cannot group by 'colour'; choose one of category, stack"),
        ({"by": "pattern"}, "needs a pattern"),
        ({"by": "pattern", "pattern": "/(/"}, "is not a regular expression"),
    ],
)
def test_what_cannot_be_asked_is_said_in_words(question: dict[str, Any], words: str) -> None:
    recording = derive(history([("alloc", 1, 1)]))
    with pytest.raises(QueryError) as error:
        ask(recording, **question)
    assert words in str(error.value)


def test_no_peak_is_lost_where_time_stamps_go_back() -> None:
    """The first event that moves memory bears an earlier time than the first event of all."""
    recording = derive(
        history(
            [
                ("snapshot", 0, 0, {"time": 5000}),
                ("free", 4096, 1000, {"time": 0}),
                ("alloc", 4096, 10, {"time": 7000}),
            ]
        )
    )
    rows, about = ask(recording, axis="time", width=1)
    assert (about["begin"], about["end"]) == (5000, 7001)
    assert max(row["allocated"] for row in rows) == 1000
    rows, _ = ask(recording, axis="time", width=5000)
    assert [row["allocated"] for row in rows[:2]] == [1000, 0]
    assert rows[-1]["allocated"] == 10
