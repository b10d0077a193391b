"""Memory by span and steps laid over each other, against slow walks."""

from __future__ import annotations

import csv
import io
from statistics import median_low
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.trace import steps, sums
from tests.fixtures.programs import BY_TIME, KINDS, Moved, Program, programs

bounds = st.one_of(st.none(), st.integers(0, 5000))


def asked(recording: Recording, kind: str, **more: Any) -> dict[str, Any]:
    return sums.page(recording, recording.devices[0], kind=kind, **more)


def again(program: Program, row: int) -> bool:
    """Whether a span is inside of one of the same kind and name."""
    own = program.spans[row]
    at = own["parent"]
    while at is not None:
        other = program.spans[at]
        if (other["kind"], other["name"]) == (own["kind"], own["name"]):
            return True
        at = other["parent"]
    return False


def self_moved(program: Program, row: int) -> list[Moved]:
    """What happened in a span and in none of its kind inside."""
    kind = program.spans[row]["kind"]
    found = []
    for one in program.within(row):
        if kind in BY_TIME:
            during = [
                other
                for other, span in enumerate(program.spans)
                if span["kind"] == kind and one in program.within(other)
            ]
            # The one that began last; of those that began together the one that ends first.
            inner = max(during, key=lambda at: (program.ends(at)[0], -program.ends(at)[1], at))
        else:
            inner = [at for at in one.inside if program.spans[at]["kind"] == kind][-1]
        if inner == row:
            found.append(one)
    return found


@given(programs(), st.sampled_from(sorted({*KINDS})), bounds, bounds)
def test_sums_are_those_of_a_walk(
    program: Program, kind: str, begin: int | None, end: int | None
) -> None:
    recording = program.recording()
    if kind not in {span["kind"] for span in program.spans}:
        with pytest.raises(QueryError, match="no spans of kind"):
            asked(recording, kind)
        return
    told = {row["name"]: row for row in asked(recording, kind, begin=begin, end=end)["rows"]}
    low, high = 0 if begin is None else begin, 1 << 60 if end is None else end
    of_kind = [
        row
        for row, span in enumerate(program.spans)
        if span["kind"] == kind and low <= program.ends(row)[0] < high
    ]
    assert set(told) == {program.spans[row]["name"] for row in of_kind}
    drawn = recording.table("span_order").to_pylist()
    lasts = {row["span"]: row["end"] - row["begin"] for row in drawn}
    peaks = {row["span"]: row["peak"] for row in recording.table("span_memory").to_pylist()}
    for name, row in told.items():
        spans = [one for one in of_kind if program.spans[one]["name"] == name]
        once = [one for one in spans if not again(program, one)]
        moved = [one.change for span in once for one in program.within(span)]
        assert row["calls"] == len(spans)
        assert row["time"] == sum(lasts[one] for one in once)
        assert row["allocated"] == sum(one for one in moved if one > 0)
        assert row["freed"] == -sum(one for one in moved if one < 0)
        assert row["net"] == sum(moved)
        assert row["births"] == sum(one > 0 for one in moved)
        assert row["frees"] == sum(one < 0 for one in moved)
        assert row["peak"] == max((peaks.get(one, 0) for one in spans), default=0)
        assert program.ends(int(row["first"]))[0] == min(program.ends(one)[0] for one in spans)
        if kind not in BY_TIME:
            own = [one.change for span in spans for one in self_moved(program, span)]
            assert row["self_net"] == sum(own)
            assert row["self_allocated"] == sum(one for one in own if one > 0)


@given(programs(), st.sampled_from(sorted({*KINDS})))
def test_all_spans_of_a_kind_and_what_is_outside_are_what_usage_says(
    program: Program, kind: str
) -> None:
    recording = program.recording()
    if kind not in {span["kind"] for span in program.spans}:
        return
    answer = asked(recording, kind)
    own = sum(row["self_net"] for row in answer["rows"])
    outside = answer["outside"]["allocated"] - answer["outside"]["freed"]
    assert own + outside == answer["usage"]["after"] - answer["usage"]["before"]
    assert own == answer["total"]["allocated"] - answer["total"]["freed"]
    assert min(answer["outside"].values()) >= 0


def saw_tooth(steps: int = 5) -> Program:
    """Steps that allocate 100 bytes in ``forward`` and free them again; the third 300."""
    program = Program()
    for step in range(steps):
        program.enter(0, "step", f"step {step}")
        for size in (100, 200) if step == 2 else (100,):
            program.enter(0, "op", "forward")
            program.time += 10
            program.move(0, 512 * size, size)
            program.time += 10
            program.leave(0)
        program.enter(0, "op", "backward")
        for size in (100, 200) if step == 2 else (100,):
            program.time += 10
            program.move(0, 512 * size, size)
        program.time += 10
        program.leave(0)
        program.leave(0)
        program.time += 5
    return program


def test_the_spread_over_steps_shows_the_step_that_differs() -> None:
    recording = saw_tooth().recording()
    rows = {row["name"]: row for row in asked(recording, "op")["rows"]}
    assert rows["forward"]["steps"] == {"count": 5, "least": 100, "median": 100, "most": 300}
    assert rows["backward"]["steps"] == {"count": 5, "least": 0, "median": 0, "most": 0}
    later = asked(recording, "op", begin=150)["rows"]
    assert {row["name"]: row["steps"]["count"] for row in later} == {"forward": 2, "backward": 2}


@given(programs())
def test_the_spread_over_steps_is_that_of_a_walk(program: Program) -> None:
    recording = program.recording()
    numbered = [row for row, span in enumerate(program.spans) if span["kind"] == "step"]
    begins = sorted({program.ends(row)[0] for row in numbered})
    for row in asked(recording, "op")["rows"]:
        if not begins:
            assert row["steps"] is None
            continue
        last = max(
            program.ends(step)[1] for step in numbered if program.ends(step)[0] == begins[-1]
        )
        per_step = dict.fromkeys(range(len(numbered)), 0)
        for span, about in enumerate(program.spans):
            begin = program.ends(span)[0]
            wanted = (about["kind"], about["name"]) == ("op", row["name"])
            if not wanted or again(program, span) or not begins[0] <= begin < last:
                continue
            step = sum(program.ends(one)[0] <= begin for one in numbered) - 1
            per_step[step] += sum(max(one.change, 0) for one in program.within(span))
        values = sorted(per_step.values())
        assert row["steps"] == {
            "count": len(numbered),
            "least": values[0],
            "median": median_low(values),
            "most": values[-1],
        }


def test_order_search_pages_and_csv_agree() -> None:
    recording = saw_tooth().recording()
    names = [row["name"] for row in asked(recording, "op", sort="name")["rows"]]
    assert names == ["backward", "forward"]
    assert asked(recording, "op", sort="-name")["rows"][0]["name"] == "forward"
    assert asked(recording, "op", sort="calls")["rows"][0]["name"] == "backward"
    found = asked(recording, "op", find="FOR")
    assert (found["found"], [row["name"] for row in found["rows"]]) == (1, ["forward"])
    second = asked(recording, "op", sort="name", offset=1, limit=1)
    assert [row["name"] for row in second["rows"]] == ["forward"]
    text = "".join(sums.whole(recording, recording.devices[0], kind="op", sort="name"))
    told = list(csv.DictReader(io.StringIO(text)))
    assert [row["name"] for row in told] == names
    assert (told[1]["allocated"], told[1]["most_per_step"]) == ("700", "300")
    with pytest.raises(QueryError, match="Cannot sort by 'size'"):
        asked(recording, "op", sort="size")


def test_csv_leaves_out_the_spread_where_there_are_no_steps() -> None:
    program = Program()
    program.enter(0, "op", "forward")
    program.time += 10
    program.move(0, 512, 100)
    program.leave(0)
    recording = program.recording()
    text = "".join(sums.whole(recording, recording.devices[0], kind="op"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows
    assert {row["median_per_step"] for row in rows} == {""}


def test_only_the_tracks_that_were_chosen_count() -> None:
    program = saw_tooth()
    program.enter(1, "op", "forward")
    program.time += 10
    program.move(1, 64, 7)
    recording = program.recording()
    names = [track["name"] for track in recording.table("span_tracks").to_pylist()]
    (row,) = asked(recording, "op", tracks=(names.index("thread 1"),))["rows"]
    assert (row["calls"], row["allocated"]) == (1, 7)
    with pytest.raises(QueryError, match="no track 5"):
        asked(recording, "op", tracks=(5,))


def test_steps_laid_over_each_other_begin_together() -> None:
    recording = saw_tooth().recording()
    listed = steps.steps(recording, recording.devices[0], ids=[], width=100)["steps"]
    assert [row["name"] for row in listed] == [f"step {number}" for number in range(5)]
    assert [row["peak"] for row in listed] == [100, 100, 300, 100, 100]
    assert all(row["before"] == row["after"] == 0 for row in listed)
    chosen = [listed[0]["id"], listed[2]["id"]]
    answer = steps.steps(recording, recording.devices[0], ids=chosen, width=1000)
    assert [one["id"] for one in answer["curves"]] == chosen
    plain, odd = answer["curves"]
    assert plain["offset"][0] == 0 and plain["highest"] == [0, 100, 100]
    assert plain["last"] == [0, 100, 0] and max(odd["highest"]) == 300
    with pytest.raises(QueryError, match="is no step"):
        steps.steps(recording, recording.devices[0], ids=["1"], width=10)


@given(programs(), st.integers(1, 2000))
def test_curves_of_steps_are_those_of_a_walk(program: Program, width: int) -> None:
    recording = program.recording()
    own = [row for row, span in enumerate(program.spans) if span["kind"] == "step"]
    answer = steps.steps(recording, recording.devices[0], ids=list(map(str, own)), width=width)
    pixel = answer["pixel"]
    for curve in answer["curves"]:
        begin, end = program.ends(int(curve["id"]))
        level = sum(one.change for one in program.moved if one.time < begin)
        expected: dict[int, tuple[int, int]] = {}
        points = [(0, level, level)]
        for one in program.moved:
            if begin <= one.time < end:
                at = (one.time - begin) // pixel * pixel
                before = expected.get(at, (level, level))[0]
                level += one.change
                expected[at] = (max(before, level), level)
        points += [(at, *levels) for at, levels in sorted(expected.items())]
        assert list(zip(curve["offset"], curve["highest"], curve["last"], strict=True)) == points
