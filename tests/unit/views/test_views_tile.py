"""Tiles of the picture of lives beside what a column of it is by brute force."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import usage
from tb_memory_plugin.views.tile import fixed, gaps, stacked
from tb_memory_plugin.views.tile import merged as merging
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.worlds import World, worlds
from tests.unit.views.tiles import decoded, drawn


def alive(recording: Recording, event: int) -> list[tuple[int, int]]:
    """Row and bytes of every allocation alive after ``event``, the oldest first."""
    rows = recording.table("allocations").to_pylist()
    return [
        (row, life["requested"])
        for row, life in enumerate(rows)
        if (life["birth"] is None or life["birth"] <= event)
        and (life["death"] is None or life["death"] > event)
    ]


def asked(recording: Recording, **question: Any) -> bytes:
    plain = {"axis": "event", "level": 0, "index": 0, "by": "stack", "height": 1 << 20}
    return tile(recording, recording.devices[0], **{**plain, **question})


@examples(60)
@given(worlds(), st.integers(0, 4), st.sampled_from(["event", "time"]))
def test_columns_hold_what_is_alive_in_order_of_birth(world: World, level: int, axis: str) -> None:
    recording = derive(world.recording)
    if axis == "time":
        assume(len(recording.table("events")))
        level += 9  # an event happens every 1000 ns
    columns = drawn(asked(recording, level=level, axis=axis, height=1 << 20))
    seen_in: dict[int, int] = {}
    for column in columns:
        for row, _ in alive(recording, column.event):
            seen_in[row] = seen_in.get(row, 0) + 1
    for column in columns:
        expected = alive(recording, column.event)
        assert column.total == sum(size for _, size in expected)
        assert column.count == len(expected)
        at = 0
        is_only = len(columns) == 1  # of one instant nothing is merged
        longer = [(row, size) for row, size in expected if seen_in[row] > 1 or is_only]
        rows = []
        for row, size in longer:
            if size:  # what has no bytes is no pixel tall
                rows.append((row, at, size))
            at += size
        assert column.rows == rows
        shorter = sum(size for row, size in expected if seen_in[row] == 1 and not is_only)
        assert sum(each["bytes"] for each in column.merged) == shorter
        for each in column.merged:
            if each["count"] == 1:
                assert seen_in[each["allocation"]] == 1


@examples(80)
@given(worlds(), st.integers(0, 3), st.integers(1, 40), st.data())
def test_any_window_of_bytes_shows_the_same_picture(
    world: World, level: int, height: int, data: st.DataObject
) -> None:
    recording = derive(world.recording)
    whole = drawn(asked(recording, level=level))
    peak = max([column.total for column in whole], default=1)
    low = data.draw(st.integers(0, max(peak - 1, 0)))
    high = data.draw(st.integers(low + 1, max(peak + 10, low + 1)))
    answer = asked(recording, level=level, low=low, high=high, height=height)
    pixel = decoded(answer)[0]["pixel"]
    for column, truth in zip(drawn(answer), whole, strict=True):
        parts = column.base + column.gaps + sum(size for _, _, size in column.rows)
        assert parts + sum(each["bytes"] for each in column.merged) == truth.total == column.total
        places = {row: at for row, at, _ in column.rows}
        for row, at, size in truth.rows:
            if at < high and at + size > low:
                assert (row in places) == (size >= pixel)
            if row in places:
                found = places[row]
                if found < high and found + size > low:
                    assert abs(found - at) <= max(pixel // 2, 1)
                else:
                    assert at + size <= low + pixel or at >= high - pixel


@pytest.mark.parametrize("most", [gaps.MOST_CHANGES, 30])
@examples(60)
@given(world=worlds(), level=st.integers(0, 3), height=st.integers(1, 40))
def test_what_is_not_drawn_stands_where_it_is(
    most: int, world: World, level: int, height: int
) -> None:
    recording = derive(world.recording)
    answer = asked(recording, level=level)
    whole = drawn(answer)
    bands = {row["allocation"]: row["band"] for row in decoded(answer)[1][1].to_pylist()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaps, "MOST_CHANGES", most)
        answer = asked(recording, level=level, height=height)
    pixel = decoded(answer)[0]["pixel"]
    off = max(4 * pixel // 2, 1)
    for column, truth in zip(drawn(answer), whole, strict=True):
        for at, size, told in column.parts:
            if most == gaps.MOST_CHANGES and told:
                off = max(pixel // 2, 1)
                assert size <= 3 * pixel
            for band, amount in told.items():
                near = [
                    life
                    for row, place, life in truth.rows
                    if bands[row] == band and place >= at - off and place + life <= at + size + off
                ]
                # Of so little it does not matter where it is: it may be moved past what is drawn.
                assert sum(near) + off >= amount


@given(worlds(), st.integers(0, 4))
def test_columns_are_those_of_the_usage_table(world: World, level: int) -> None:
    recording = derive(world.recording)
    device = recording.devices[0]
    width = max(-(-len(recording.table("events")) >> level), 1)
    table = pa.ipc.open_stream(
        usage.window(
            recording, device, axis="event", begin=0, end=width << level, width=width, by="op"
        )
    ).read_all()
    told = json.loads(table.schema.metadata[b"window"])
    about, (columns, *_) = decoded(asked(recording, level=level))
    assert told["bin"] == about["bin"]
    allocated = table.column("allocated").to_pylist()
    for name in ("begin", "event"):
        assert columns.column(name).to_pylist() == table.column(name).to_pylist()
    assert columns.column("total").to_pylist() == allocated
    assert max(allocated, default=0) == max(
        recording.values("usage", "allocated", device).max(initial=0), 0
    )


@examples(60)
@given(worlds(), st.integers(0, 3), st.sampled_from(["address", "lane"]))
def test_fixed_lives_do_not_overlap_and_are_the_same_ones(
    world: World, level: int, layout: str
) -> None:
    recording = derive(world.recording)
    answer = asked(recording, level=level, layout=layout)
    about, (columns, rows, _, merged) = decoded(answer)
    lives, cells = rows.to_pylist(), merged.to_pylist()
    for number, column in enumerate(columns.to_pylist()):
        here = [life for life in lives if life["first"] <= number <= life["last"]]
        short = [cell for cell in cells if cell["column"] == number]
        expected = alive(recording, column["event"])
        assert {life["allocation"] for life in here} <= {row for row, _ in expected}
        assert len(here) + sum(cell["count"] for cell in short) == len(
            [size for _, size in expected if size]
        )
        at = sorted((life["offset"], life["bytes"]) for life in here)
        for (first, size), (second, _) in pairwise(at):
            # By address, what a history says to overlap does.
            assert layout == "address" or first + size <= second
        assert all(begin >= 0 and begin + size <= about["extent"] for begin, size in at)


@pytest.mark.parametrize("layout", ["address", "lane"])
def test_what_lives_shortly_is_as_tall_as_it_is(layout: str) -> None:
    events: list[Any] = [("alloc", 0x1000, 900), ("free", 0x1000, 900), ("snapshot", 0, 0)]
    recording = derive(history(events))
    _, (columns, rows, _, merged) = decoded(asked(recording, layout=layout, height=9))
    assert columns.column("total").to_pylist() == [900, 0, 0]
    (row,) = rows.to_pylist()
    assert (row["first"], row["last"], row["bytes"]) == (0, 0, 900)
    assert len(merged) == 0
    _, (_, rows, _, merged) = decoded(asked(recording, layout=layout, height=1, high=900))
    assert (len(rows), merged.column("bytes").to_pylist()) == (0, [900])


def test_fixed_lives_that_are_too_many_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed, "MOST_ROWS", 3)
    events: list[Any] = [("alloc", 512 * place, 100 + place) for place in range(8)]
    about, (_, rows, _, merged) = decoded(asked(derive(history(events)), layout="lane"))
    assert len(rows) == 3
    whole = sum(100 + place for place in range(8))
    hidden = whole - sum(rows.column("bytes").to_pylist())
    nothing = {"left": 0, "left_bytes": 0, "ranges": 0, "range_bytes": 0}
    assert about["hidden"] == {"rows": 5, "bytes": hidden, **nothing}
    assert sum(merged.column("count").to_pylist()) == 5
    monkeypatch.setattr(merging, "MOST_CELLS", 2)
    about, (_, rows, _, merged) = decoded(asked(derive(history(events)), layout="lane"))
    assert len(merged) == 2
    left = whole - sum(merged.column("bytes").to_pylist()) - sum(rows.column("bytes").to_pylist())
    cut = {"left": 3, "left_bytes": left}
    assert about["hidden"] == {**nothing, "rows": 5, "bytes": hidden, **cut}


def test_short_lives_are_all_there_however_many_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MOST_CELLS", 2)
    events: list[Any] = []
    for place in range(12):
        events += [("alloc", 512, 100 + place), ("snapshot", 0, 0), ("free", 512, 100 + place)]
    answer = asked(derive(history(events)), by="size", top=40, level=1)
    for column in drawn(answer):
        parts = column.base + column.gaps + sum(size for _, _, size in column.rows)
        assert parts + sum(each["bytes"] for each in column.merged) == column.total
    assert len(decoded(answer)[1][3]) > 2


def test_a_window_as_tall_as_can_be_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaps, "MOST_CHANGES", 4)
    blocks = [{"address": 4096 * place, "requested": 100 + place} for place in range(6)]
    recording = derive(history([("snapshot", 0, 0)] * 3, blocks=blocks, segments=[]))
    columns = drawn(asked(recording, by="size", height=1, high=1 << 62))
    assert [(column.gaps, column.total) for column in columns] == [(615, 615)] * len(columns)


def test_address_keeps_distances_inside_a_segment() -> None:
    recording = derive(
        history(
            [
                ("map", 0x1000, 0x1000),
                ("map", 0x90000, 0x1000),
                ("alloc", 0x1100, 0x100),
                ("alloc", 0x90200, 0x80),
                ("snapshot", 0, 0),
            ],
            blocks=[],
            segments=[],
        )
    )
    about, (_, rows, _, _) = decoded(asked(recording, layout="address"))
    assert [(row["offset"], row["bytes"]) for row in rows.to_pylist()] == [
        (0x100, 0x100),
        (0x1200, 0x80),
    ]
    assert [each["address"] for each in about["segments"]] == ["0x1000", "0x90000"]


@given(worlds(), st.integers(0, 4))
def test_bands_keep_their_bytes_drawn_or_not(world: World, level: int) -> None:
    recording = derive(world.recording)
    fine = bands(asked(recording, level=level, by="size", height=1 << 40))
    assert bands(asked(recording, level=level, by="size", height=1)) == fine


def bands(answer: bytes) -> list[dict[int, int]]:
    """The bytes of longer lives by column and band."""
    _, (columns, rows, gaps, _) = decoded(answer)
    found = []
    for column in range(len(columns)):
        sums: dict[int, int] = {}
        for each in gaps.to_pylist():
            if each["column"] <= column:
                sums[each["band"]] = sums.get(each["band"], 0) + each["bytes"]
        for each in rows.to_pylist():
            if each["first"] <= column <= each["last"]:
                sums[each["band"]] = sums.get(each["band"], 0) + each["bytes"]
        found.append({band: size for band, size in sums.items() if size})
    return found


def test_changes_of_gaps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    events: list[Any] = []
    living: list[tuple[int, int]] = []
    for number in range(400):
        if living and random.random() < 0.45:
            address, size = living.pop(int(random.integers(len(living))))
            events += [("free", address, size)]
        else:
            size = int(2 ** random.uniform(1, 14))
            living.append((number << 20, size))
            events.append(("alloc", number << 20, size))
    recording = derive(history(events))
    unbounded = asked(recording, level=1, height=50)
    monkeypatch.setattr(gaps, "MOST_CHANGES", 210)
    monkeypatch.setattr(stacked, "MOST_ROWS", 30)
    answer = asked(recording, level=1, height=50)
    about, tables = decoded(answer)
    assert len(tables[1]) == 30
    shown = set(tables[1].column("allocation").to_pylist())
    every, (_, rows, _, _) = decoded(unbounded)
    left = [row["bytes"] for row in rows.to_pylist() if row["allocation"] not in shown]
    assert (every["hidden"]["rows"], len(left) > 0) == (0, True)
    assert about["hidden"]["rows"] == len(left)
    assert about["hidden"]["bytes"] == sum(left)
    assert len(tables[2]) <= 210
    for column in drawn(answer):
        parts = column.base + column.gaps + sum(size for _, _, size in column.rows)
        assert parts + sum(each["bytes"] for each in column.merged) == column.total


@pytest.mark.parametrize(
    "question",
    [
        {"level": -1},
        {"level": 62},
        {"layout": "pile"},
        {"only": "some"},
        {"of": "tensors"},
        {"find": 'size>"'},
        {"axis": "space"},
    ],
)
def test_what_cannot_be_asked_is_refused(question: dict[str, Any]) -> None:
    recording = derive(history([("alloc", 0x100, 10)]))
    with pytest.raises(QueryError):
        asked(recording, **question)


def test_tiles_beside_the_axis_are_empty() -> None:
    recording = derive(history([("alloc", 0x100, 10)]))
    for index in (-3, 5):
        _, tables = decoded(asked(recording, index=index))
        assert [len(table) for table in tables] == [0, 0, 0, 0]


def test_only_and_minimum_leave_out_and_find_does_not() -> None:
    recording = derive(
        history(
            [
                ("alloc", 0x100, 10),
                ("alloc", 0x200, 20),
                ("alloc", 0x300, 300),
                ("free", 0x200, 20),
                ("snapshot", 0, 0),
            ]
        )
    )
    rows = {
        name: [row["allocation"] for row in decoded(asked(recording, **question))[1][1].to_pylist()]
        for name, question in {
            "all": {},
            "freed": {"only": "freed"},
            "never": {"only": "never"},
            "alive": {"only": "alive", "at": "event:3"},
            "large": {"minimum": 20},
            "passing": {"filter": "size<100"},
            "both": {"filter": "size<100", "minimum": 20},
        }.items()
    }
    assert rows == {
        "all": [0, 1, 2],
        "freed": [1],
        "never": [0, 2],
        "alive": [0, 2],
        "large": [1, 2],
        "passing": [0, 1],
        "both": [1],
    }
    found = decoded(asked(recording, find="size>100"))[1][1].to_pylist()
    assert [(row["allocation"], row["hit"]) for row in found] == [(0, 0), (1, 0), (2, 1)]
    found = decoded(asked(recording, find="size>15", filter="size<100"))[1][1].to_pylist()
    assert [(row["allocation"], row["hit"]) for row in found] == [(0, 0), (1, 1)]
