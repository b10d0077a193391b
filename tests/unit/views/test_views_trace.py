"""Windows of tracks against brute force, the next of a name, and what is told of a span."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.trace import items as items_module
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import span as span_view
from tb_memory_plugin.views.trace import find, layout, window
from tests.fixtures.programs import BY_TIME, Program, programs


def decoded(content: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    table = pa.ipc.open_stream(io.BytesIO(content)).read_all()
    return json.loads(table.schema.metadata[b"window"]), table.to_pylist()


def asked(
    recording: Recording, begin: int, end: int, width: int, **more: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (device,) = recording.devices
    tracks = range(recording.table("span_tracks").num_rows)
    return decoded(
        window.window(
            recording, device, begin=begin, end=end, width=width, tracks=list(tracks), **more
        )
    )


def lanes_of(recording: Recording) -> Iterator[tuple[list[Any], list[dict[str, Any]]]]:
    order = recording.table("span_order").to_pylist()
    for lane in recording.table("span_lanes").to_pylist():
        yield [str(lane["track"]), lane["depth"]], order[lane["first"] : lane["stop"]]


def by_hand(
    recording: Recording, about: dict[str, Any]
) -> list[tuple[list[Any], list[dict[str, Any]]]]:
    """The items of every lane: one span, or those that are narrow and begin in one pixel."""
    pixel, found = about["pixel"], []
    for lane, rows in lanes_of(recording):
        seen = [row for row in rows if row["end"] >= about["begin"] and row["begin"] < about["end"]]
        last: tuple[int, bool] | None = None
        for row in seen:
            narrow = row["end"] - row["begin"] < pixel
            at = (row["begin"] // pixel, narrow)
            if narrow and last == at:
                found[-1][1].append(row)
            else:
                found.append((lane, [row]))
            last = at
    return found


@given(programs(), st.integers(0, 9000), st.integers(1, 9000), st.integers(1, 40), st.booleans())
def test_windows_hold_what_brute_force_finds(
    program: Program, begin: int, length: int, width: int, dense: bool
) -> None:
    recording = program.recording()
    # Long lanes are cut by looking pixels up, short ones span by span: both must find the same.
    with patch.object(items_module, "DENSE", 0 if dense else 4):
        about, rows = asked(recording, begin, begin + length, width, find="A")
    assert about["begin"] <= begin and about["end"] >= begin + length
    assert about["pixel"] <= max(length / width, 1) and about["begin"] % about["pixel"] == 0
    memory = {row["span"]: row for row in recording.table("span_memory").to_pylist()}
    for row, (lane, held) in zip(rows, by_hand(recording, about), strict=True):
        spans = [one["span"] for one in held]
        lengths = [one["end"] - one["begin"] for one in held]
        assert about["lanes"][row["lane"]] == lane
        assert row["count"] == len(held) and row["span"] in spans
        assert lengths[spans.index(row["span"])] == max(lengths)
        assert row["begin"] == held[0]["begin"] - about["begin"]
        assert row["end"] == held[-1]["end"] - about["begin"]
        assert row["busy"] == sum(lengths)
        nets = [memory[one]["allocated"] - memory[one]["freed"] for one in spans if one in memory]
        assert row["net"] == sum(nets)
        assert row["hits"] == sum(program.spans[one]["name"] == "a" for one in spans)
        assert about["names"][row["name"]] == program.spans[row["span"]]["name"]
        assert about["kinds"][row["kind"]] == program.spans[row["span"]]["kind"]


@given(programs(), st.integers(1, 20))
def test_answers_are_bounded_and_nothing_is_lost(program: Program, most: int) -> None:
    recording = program.recording()
    lanes = recording.table("span_lanes").num_rows
    with patch.object(window, "MOST_ITEMS", max(most, lanes)):
        _, rows = asked(recording, 0, program.time + 1, 1 << 14)
    assert len(rows) <= max(most, lanes)
    assert sum(row["count"] for row in rows) == len(program.spans)


def test_of_too_many_lanes_the_outermost_are_told() -> None:
    program = Program()
    for depth in range(30):
        program.enter(0, "op", f"level {depth}")
        program.time += 10
    for _ in range(30):
        program.time += 10
        program.leave(0)
    recording = program.recording()
    device = recording.devices[0]
    with patch.multiple(window, MOST_ITEMS=16, MOST_LANES=8):
        content = window.window(recording, device, begin=0, end=600, width=600, tracks=(0,))
    about, rows = decoded(content)
    assert about["lanes"] == [["0", depth] for depth in range(8)]
    assert sorted(about["names"][row["name"]] for row in rows) == [f"level {n}" for n in range(8)]


def test_names_are_those_of_the_longest_items_as_far_as_there_is_room() -> None:
    program = Program()
    for place, name in enumerate(["short", "longest", "long"]):
        program.enter(0, "op", name)
        program.time += (10, 900, 500)[place]
        program.leave(0)
    with patch.object(window, "MOST_NAMES", len("longest") + 1):
        about, rows = asked(program.recording(), 0, program.time, 1000)
    assert about["names"] == ["longest", "long"]
    assert [row["name"] for row in rows] == [-1, 0, 1]


def test_windows_that_are_none_and_tracks_that_are_not_there_are_refused() -> None:
    program = Program()
    program.enter(0, "op", "a")
    recording = program.recording()
    (device,) = recording.devices
    with pytest.raises(QueryError, match="a beginning before its end"):
        window.window(recording, device, begin=5, end=5, width=10, tracks=[0])
    with pytest.raises(QueryError, match="There is no track 1; there are 1"):
        window.window(recording, device, begin=0, end=5, width=10, tracks=[0, 1])


@given(programs(), st.sampled_from(["next", "previous"]), st.integers(0, 60))
def test_the_next_of_a_name_comes_round(program: Program, way: str, start: int) -> None:
    recording = program.recording()
    wanted = [row for row, span in enumerate(program.spans) if span["name"] == "b"]
    after = str(start % len(program.spans))
    answer = find.find(recording, text="b", kind="", exactly=True, way=way, after=after)
    assert answer["count"] == len(wanted)
    if not wanted:
        assert answer["span"] is None and answer["place"] is None
        return
    # Rows of a program are in order of time.
    later = [row for row in wanted if row > int(after)]
    earlier = [row for row in wanted if row < int(after)]
    expected = (later or wanted)[0] if way == "next" else (earlier or wanted)[-1]
    assert answer["span"]["id"] == str(expected)
    assert answer["place"] == wanted.index(expected)


def test_names_are_found_by_expressions_too() -> None:
    program = Program()
    for name in ("aten::mm", "aten::addmm", "mm"):
        program.enter(0, "op", name)
        program.time += 5
        program.leave(0)
    recording = program.recording()
    question: dict[str, Any] = {"kind": "op", "exactly": False, "way": "first", "after": ""}
    for text, count in (("MM", 3), ("/::mm$/", 1), ("/^mm/", 1), ("none", 0)):
        assert find.find(recording, text=text, **question)["count"] == count
    with pytest.raises(QueryError, match="expression"):
        find.find(recording, text="/(/", **question)


def test_what_cannot_be_found_is_said() -> None:
    recording = Program().recording()
    question: dict[str, Any] = {"kind": "", "exactly": False, "after": ""}
    with pytest.raises(QueryError, match="Name what is to be found"):
        find.find(recording, text="", way="next", **question)
    with pytest.raises(QueryError, match="no way 'up'"):
        find.find(recording, text="a", way="up", **question)


@given(programs())
def test_what_is_told_of_a_span_is_what_a_walk_finds(program: Program) -> None:
    recording = program.recording()
    (device,) = recording.devices
    for row, span in enumerate(program.spans):
        card = span_view.card(recording, device, str(row))
        begin, end = program.ends(row)
        within = program.within(row)
        born = [one for one in within if one.change > 0]
        freed = [one for one in within if one.change < 0]
        assert card["born"] == {"count": len(born), "bytes": sum(one.change for one in born)}
        assert card["freed"] == {"count": len(freed), "bytes": -sum(one.change for one in freed)}
        kept = [one for one in born if one.gone is None or one.gone >= end]
        assert card["kept"]["count"] == len(kept)
        assert card["kept"]["bytes"] == sum(one.change for one in kept)
        assert len(card["left"]) == min(len(kept), 20)
        assert card["on_thread"] == (span["kind"] not in BY_TIME)
        around = []
        at = span["parent"]
        while at is not None:
            assert isinstance(at, int)
            around.append(str(at))
            at = program.spans[at]["parent"]
        assert [one["id"] for one in card["inside"]] == around[::-1]
        below = [one for one in program.spans if one["parent"] == row]
        assert card["below"]["calls"] == len(below)
        assert sum(one["calls"] for one in card["below"]["rows"]) == len(below)
        assert card["place"]["begin"] == begin


def test_links_are_told_at_both_of_their_ends() -> None:
    program = Program()
    for name in ("launch", "kernel", "other"):
        program.enter(0, "op", name)
        program.time += 5
        program.move(0, 512, 4)
        program.time += 5
        program.leave(0)
    program.links = [(0, 1, "launch"), (0, 2, "async")]
    recording = program.recording()
    (device,) = recording.devices
    told = span_view.card(recording, device, "0")["links"]
    assert [(one["kind"], one["way"], one["span"]["name"]) for one in told] == [
        ("launch", "to", "kernel"),
        ("async", "to", "other"),
    ]
    (back,) = span_view.card(recording, device, "2")["links"]
    assert (back["kind"], back["way"], back["span"]["name"]) == ("async", "from", "launch")


def test_tracks_that_allocate_come_first() -> None:
    program = Program()
    program.enter(0, "op", "idle")
    program.enter(1, "op", "busy")
    program.time = 5
    program.move(1, 512, 4)
    recording = program.recording()
    (device,) = recording.devices
    told = layout.layout(recording, device)
    assert [(one["name"], one["events"]) for one in told["tracks"]] == [
        ("thread 1", 1),
        ("thread 0", 0),
    ]
    assert (told["begin"], told["end"], told["hidden"]) == (0, 6, 0)
    assert told["notes"] == []
    assert layout.layout(program.recording(threads=False), device)["notes"] == [layout.NOTE_BY_TIME]


def test_what_is_too_deep_to_be_drawn_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program()
    for _ in range(3):
        program.enter(0, "op", "a")
        program.time += 1
    program.move(0, 512, 4)
    recording = program.recording()
    (device,) = recording.devices
    assert layout.layout(recording, device)["notes"] == []
    monkeypatch.setattr(layout, "MOST_LANES", 2)
    assert layout.layout(recording, device)["notes"] == [layout.NOTE_DEEP]
