"""Spans laid out in lanes, and what memory did in each, against a slow walk."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.trace.around import around
from tb_memory_plugin.analysis.trace.lanes import lanes
from tb_memory_plugin.analysis.trace.memory import BY_TIME
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import history
from tests.fixtures.programs import Program, programs


def memory_rows(recording: Recording) -> dict[int, dict[str, int]]:
    return {row["span"]: row for row in recording.table("span_memory").to_pylist()}


def sums(moved: list[int]) -> tuple[int, int, int, int]:
    born, freed = [one for one in moved if one > 0], [-one for one in moved if one < 0]
    return len(born), len(freed), sum(born), sum(freed)


def told(row: dict[str, int], which: str = "") -> tuple[int, ...]:
    return tuple(row[which + name] for name in ("births", "frees", "allocated", "freed"))


@given(programs())
def test_memory_of_every_span_is_that_of_a_walk(program: Program) -> None:
    recording = program.recording()
    rows = memory_rows(recording)
    for span in range(len(program.spans)):
        within = program.within(span)
        if not within:
            assert span not in rows
            continue
        row = rows[span]
        assert told(row) == sums([one.change for one in within])
        assert row["on_thread"] == (program.spans[span]["kind"] not in BY_TIME)


@given(programs())
def test_peaks_of_every_span_are_those_of_a_walk(program: Program) -> None:
    for span, row in memory_rows(program.recording()).items():
        begin, end = program.ends(span)
        before = sum(one.change for one in program.moved if one.time < begin)
        level, highest = before, before
        for one in program.moved:
            if begin <= one.time < end:
                level += one.change
                highest = max(highest, level)
        assert row["peak"] == highest - before


@given(programs())
def test_what_spans_of_a_kind_did_themselves_adds_up_to_usage(program: Program) -> None:
    recording = program.recording()
    rows = memory_rows(recording)
    for kind in {str(span["kind"]) for span in program.spans}:
        of_kind = [row for span, row in rows.items() if program.spans[span]["kind"] == kind]
        seen = [0, 0, 0, 0]
        for one in program.moved:
            if kind in BY_TIME:
                spans = [row for row in range(len(program.spans)) if one in program.within(row)]
                inside = any(program.spans[row]["kind"] == kind for row in spans)
            else:
                inside = any(program.spans[row]["kind"] == kind for row in one.inside)
            if inside:
                seen = [a + b for a, b in zip(seen, sums([one.change]), strict=True)]
        own = [sum(column) for column in zip(*(told(row, "self_") for row in of_kind), strict=True)]
        assert (own or [0, 0, 0, 0]) == seen


@given(programs())
def test_every_span_has_a_place_in_which_nothing_covers_it(program: Program) -> None:
    recording = program.recording()
    if not program.spans:
        assert not recording.table("span_order").num_rows
        return
    order = recording.table("span_order").to_pylist()
    places = recording.table("span_places").to_pylist()
    assert sorted(row["span"] for row in order) == list(range(len(program.spans)))
    assert all(order[row["place"]]["span"] == span for span, row in enumerate(places))
    tracks = recording.table("span_tracks").to_pylist()
    lane_rows = recording.table("span_lanes").to_pylist()
    for at, track in enumerate(tracks):
        own = lane_rows[track["first"] : track["stop"]]
        assert [lane["track"] for lane in own] == [at] * len(own)
        assert [lane["depth"] for lane in own] == list(range(len(own)))
        for lane in own:
            held = order[lane["first"] : lane["stop"]]
            assert {program.spans[row["span"]]["track"] for row in held} == {track["name"]}
            assert all(a["end"] <= b["begin"] for a, b in itertools.pairwise(held))
    assert sum(track["spans"] for track in tracks) == len(program.spans)


@given(programs())
def test_without_threads_events_are_in_the_innermost_span_of_their_time(program: Program) -> None:
    recording = program.recording(threads=False)
    found = around(recording, recording.devices[0]).tolist()
    for one, span in zip(program.moved, found, strict=True):
        during = [
            row
            for row in range(len(program.spans))
            if program.ends(row)[0] <= one.time < program.ends(row)[1]
        ]
        assert span in during if during else span == -1
        if during:
            assert program.ends(span)[0] == max(program.ends(row)[0] for row in during)


def test_steps_that_end_in_calls_are_not_inside_of_each_other() -> None:
    # Each step ends, and the next begins, in a call that a step began before.
    rows = [(0, 2_000)]
    for step in range(50):
        rows += [(20 * step + 10, 20 * step + 29), (20 * step + 25, 20 * step + 32)]
    begin, end = (10_000 * np.array(column) for column in zip(*sorted(rows), strict=True))
    found = lanes(begin, end, parallel=False)
    assert found[0] == 0 and found[1:].min() == 1 and found.max() <= 3


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9))))
def test_lanes_of_threads_do_not_cover_each_other(rows: list[tuple[int, int]]) -> None:
    begin, length = (np.array([row[at] for row in rows], np.int64) for at in range(2))
    end = begin + length
    order = np.lexsort((-end, begin))
    begin, end = begin[order], end[order]
    lane = lanes(begin, end, parallel=False)
    for row in range(len(rows)):
        over = np.flatnonzero((begin < end[row]) & (end > begin[row]) & (lane == lane[row]))
        assert set(over.tolist()) <= {row}


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9))))
def test_lanes_of_parallel_tracks_are_as_few_as_can_be(rows: list[tuple[int, int]]) -> None:
    begin, length = (np.array([row[at] for row in rows], np.int64) for at in range(2))
    end = begin + length
    order = np.lexsort((-end, begin))
    begin, end = begin[order], end[order]
    lane = lanes(begin, end, parallel=True)
    for row in range(len(rows)):
        over = np.flatnonzero((begin < end[row]) & (end > begin[row]) & (lane == lane[row]))
        assert set(over.tolist()) <= {row}
    until = np.maximum(end, begin + 1)  # an instant takes room too
    at_once = [int(((begin <= time) & (until > time)).sum()) for time in range(41)]
    assert lane.max(initial=-1) < max(1, *at_once)


def test_recordings_without_spans_have_no_tables_of_them() -> None:
    recording = Program().recording()
    assert not recording.table("span_tracks").num_rows
    assert "span_memory" not in recording.tables


def test_annotations_count_what_other_threads_do_meanwhile() -> None:
    program = Program()
    program.enter(0, "annotation", "backward")
    program.time = 5
    program.enter(1, "op", "mm")
    program.time = 6
    program.move(1, 512, 100)
    program.time = 7
    program.leave(1)
    program.leave(0)
    rows = memory_rows(program.recording())
    assert rows[0]["allocated"] == rows[1]["allocated"] == 100
    assert not rows[0]["on_thread"] and rows[1]["on_thread"]


def test_events_without_times_are_in_no_span() -> None:
    events = [("alloc", 512, 10), ("free", 512, 10)]
    spans = [{"track": "t", "kind": "op", "name": "a", "begin": 0, "end": 9}]
    recording = derive(history(events, spans=spans, timed=False))
    assert not recording.table("span_memory").num_rows
    assert recording.table("span_order").num_rows == 1
