"""The answer of ``GET segments`` against the state it is made from."""

from __future__ import annotations

import csv
import json
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.ranking import ranking
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import events, segments, segments_csv
from tb_memory_plugin.views.segments_whole import whole
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.simulated import simulated


def ask(recording: Recording, **question: Any) -> tuple[dict[str, Any], pa.Table, pa.Table]:
    """What the metadata says, the segments and the blocks."""
    body = segments.window(recording, recording.devices[0], **question)
    tables = []
    while body:
        length = int.from_bytes(body[:4], "little")
        tables.append(pa.ipc.open_stream(body[4 : 4 + length]).read_all())
        body = body[4 + length :]
    first, second = tables
    return json.loads(first.schema.metadata[b"state"]), first, second


@examples(40)
@given(
    st.integers(0, 30),
    st.booleans(),
    st.integers(-1, 60),
    st.integers(0, 27),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_what_is_merged_adds_up(
    seed: int, expandable: bool, event: int, power: int, one: float, other: float
) -> None:
    recording = simulated(seed, expandable=expandable, calls=60).recording
    device = recording.devices[0]
    state = segment_state(recording, device, event)
    low, high = sorted(int(share * state.mapped) for share in (one, other))
    about, rows, blocks = ask(recording, at=f"event:{event}", pixel=1 << power, begin=low, end=high)
    assert about["pixel"] == 1 << power
    place = np.cumsum(state.segments.size) - state.segments.size
    inside = [
        row
        for row, (begin, size) in enumerate(
            zip(place.tolist(), state.segments.size.tolist(), strict=True)
        )
        if begin < high and begin + size > low
    ]
    assert rows.column("address").to_pylist() == state.segments.address[inside].tolist()
    assert rows.column("place").to_pylist() == place[inside].tolist()
    expected: list[dict[str, int]] = []
    one_by_one = state.blocks
    last: tuple[int, int] | None = None
    for number in range(len(one_by_one.size)):
        segment, offset, size = (
            int(column[number])
            for column in (one_by_one.segment, one_by_one.offset, one_by_one.size)
        )
        at = int(place[segment]) + offset
        if not (at < high and at + size > low):
            continue
        cell = (segment, offset >> power)
        small = size < 1 << power
        values = {
            "count": 1,
            "used": size,
            "requested": int(one_by_one.requested[number]),
            "pending": size if one_by_one.pending[number] else 0,
            "end": offset + size,
        }
        if small and last == cell:
            for name in ("count", "used", "requested", "pending"):
                expected[-1][name] += values[name]
            expected[-1]["end"] = values["end"]
        else:
            expected.append({"segment": inside.index(segment), "offset": offset, **values})
        last = cell if small else None
    found = [
        {
            **{name: row[name] for name in ("segment", "offset", "count", "used", "requested")},
            "pending": row["pending"],
            "end": row["offset"] + row["size"],
        }
        for row in blocks.to_pylist()
    ]
    assert (
        found == [{name: row[name] for name in found[0]} for row in expected]
        if found
        else not expected
    )
    for row in blocks.to_pylist():
        assert (row["allocation"] >= 0) == (row["count"] == 1)


def test_too_many_blocks_are_merged_coarser(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = simulated(3, expandable=True).recording
    fine, _, every = ask(recording, pixel=1)
    assert every.num_rows > 10
    monkeypatch.setattr(segments, "MOST_BLOCKS", 10)
    coarse, _, merged = ask(recording, pixel=1)
    assert merged.num_rows <= 10 < every.num_rows
    assert coarse["pixel"] > fine["pixel"] == 1
    for name in ("used", "requested", "pending", "count"):
        assert sum(merged.column(name).to_pylist()) == sum(every.column(name).to_pylist())


def test_too_many_segments_leave_out_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = simulated(5, expandable=False).recording
    _, every, _ = ask(recording)
    sizes = every.column("size").to_pylist()
    monkeypatch.setattr(segments, "MOST_SEGMENTS", 2)
    about, rows, blocks = ask(recording)
    assert sorted(rows.column("size").to_pylist()) == sorted(sizes)[-2:]
    assert about["hidden"] == {
        "segments": len(sizes) - 2,
        "bytes": sum(sizes) - sum(sorted(sizes)[-2:]),
    }
    assert about["count"] == len(sizes)
    assert set(blocks.column("segment").to_pylist()) <= {0, 1}


def many_pools(pools: int, segments_each: int, blocks_each: int) -> Recording:
    """An end state of private pools, the later the larger, each block a quarter of its share."""
    rows, blocks = [], []
    for number in range(pools * segments_each):
        size = 4096 * (1 + number // segments_each)
        address = number << 32
        rows.append({"address": address, "size": size, "pool": number // segments_each})
        share = size // blocks_each
        blocks += [
            {"address": address + part * share, "requested": share // 4, "segment": number}
            for part in range(blocks_each)
        ]
    known = [[1, pool] for pool in range(pools)]
    return derive(history(blocks=blocks, segments=rows, pools=known))


def test_thousands_of_pools_are_less_than_a_megabyte_and_add_up() -> None:
    recording = many_pools(5_000, 1, 4)
    body = segments.window(recording, recording.devices[0])
    assert len(body) <= 1_000_000
    about, rows, blocks = ask(recording)
    assert len(about["pools"]) == segments.MOST_GROUPS
    rest = about["pools"][-1]
    assert (rest["key"], rest["label"]) == ("…rest", "4 801 smaller pools and streams")
    every = whole(recording, recording.devices[0])
    assert len(every["pools"]) == 5_000
    for name in ("reserved", "used", "requested", "pending", "free", "segments", "blocks"):
        assert sum(pool[name] for pool in about["pools"]) == sum(
            pool[name] for pool in every["pools"]
        )
    smallest = sorted(pool["largest_free"] for pool in every["pools"])[:4801]
    assert rest["largest_free"] == max(smallest)
    # The page looks blocks and segments up by halving.
    assert rows.column("group").to_pylist() == sorted(rows.column("group").to_pylist())
    assert blocks.column("segment").to_pylist() == sorted(blocks.column("segment").to_pylist())


def test_smaller_pools_come_last_on_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = many_pools(6, 3, 2)
    before, every, _ = ask(recording)
    monkeypatch.setattr(segments, "MOST_GROUPS", 3)
    about, rows, blocks = ask(recording)
    assert [pool["label"] for pool in about["pools"]] == [
        "private pool 1,4, default stream",
        "private pool 1,5, default stream",
        "4 smaller pools and streams",
    ]
    assert sorted(rows.column("address").to_pylist()) == sorted(every.column("address").to_pylist())
    place = 0
    for row in rows.to_pylist():
        assert row["place"] == place
        place += row["size"]
    assert place == before["mapped"]
    sums = Counter[int]()
    for block in blocks.to_pylist():
        sums[block["segment"]] += block["used"]
    for number, row in enumerate(rows.to_pylist()):
        assert sums[number] == row["used"]
        assert row["group"] == (number // 3 if number < 6 else 2)
    middle = rows.column("place").to_pylist()[4]
    _, part, inside = ask(recording, begin=middle, end=middle + 1)
    assert part.column("address").to_pylist() == [rows.column("address").to_pylist()[4]]
    assert set(inside.column("segment").to_pylist()) == {0}


@pytest.mark.parametrize("seed", range(4))
def test_the_whole_state_says_the_same(seed: int) -> None:
    recording = simulated(seed, expandable=seed % 2 == 0, start=0.3).recording
    about, rows, blocks = ask(recording, at="peak")
    answer = whole(recording, recording.devices[0], "peak")
    for name in ("event", "allocated", "reserved", "used", "requested", "pending", "free", "pools"):
        assert answer[name] == about[name]
    assert [segment["address"] for segment in answer["segments"]] == [
        hex(address) for address in rows.column("address").to_pylist()
    ]
    inside = [block for segment in answer["segments"] for block in segment["blocks"]]
    assert [int(block["allocation"]) for block in inside] == blocks.column("allocation").to_pylist()
    for segment, largest in zip(
        answer["segments"], rows.column("largest_offset").to_pylist(), strict=True
    ):
        holes = {hole["offset"]: hole["size"] for hole in segment["holes"]}
        assert sum(holes.values()) == segment["free"]
        assert holes[largest] == max(holes.values()) if holes else largest == -1
    assert sum(pool["reserved"] for pool in answer["pools"]) == answer["reserved"]
    assert answer["largest_free"] == max(pool["largest_free"] for pool in answer["pools"])


@pytest.mark.parametrize("by", ["category", "stack", "size"])
@pytest.mark.parametrize("pixel", [1, 4096, 1 << 22])
def test_blocks_have_the_band_of_their_group(by: str, pixel: int) -> None:
    recording = simulated(5, expandable=False).recording
    device = recording.devices[0]
    about, _, rows = ask(recording, at="peak", pixel=pixel, by=by, top=3)
    _, _, finest = ask(recording, at="peak", by=by, top=3)
    first = recording.rows("allocations", device).start
    ids = group_ids(recording, device, by).ids
    ranked = ranking(recording, device, by, "", 3)
    expected = {
        (row["segment"], row["offset"]): int(ranked.band[ids[row["allocation"] - first]])
        for row in finest.to_pylist()
    }
    assert len(about["groups"]) == ranked.bands
    for row in rows.to_pylist():
        inside = {
            band
            for (segment, offset), band in expected.items()
            if segment == row["segment"] and row["offset"] <= offset < row["offset"] + row["size"]
        }
        assert row["band"] == (inside.pop() if len(inside) == 1 else -1)
    assert "band" not in ask(recording, at="peak")[2].column_names


def test_a_moment_that_is_none_is_refused() -> None:
    recording = simulated(0, expandable=False, calls=5).recording
    with pytest.raises(QueryError, match="no event"):
        ask(recording, at="event:1000000")


def test_the_state_as_csv_covers_every_segment() -> None:
    recording = simulated(8, expandable=False).recording
    device = recording.devices[0]
    lines = "".join(segments_csv.state(recording, device, "peak")).splitlines()
    rows = list(csv.DictReader(lines))
    covered: Counter[str] = Counter()
    for row in rows:
        assert int(row["offset"]) == covered[row["segment"]]
        covered[row["segment"]] += int(row["size"])
    state = whole(recording, device, "peak")
    assert covered == {each["address"]: each["size"] for each in state["segments"]}
    assert {row["state"] for row in rows} <= {"allocated", "pending", "free"}
    assert sum(int(row["requested"] or 0) for row in rows) == state["allocated"]


def test_events_as_csv_are_whole_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = simulated(8, expandable=False).recording
    device = recording.devices[0]
    monkeypatch.setattr(events, "MOST", 7)
    rows = list(csv.DictReader("".join(segments_csv.listed(recording, device, "")).splitlines()))
    assert [int(row["event"]) for row in rows] == list(range(len(rows)))
    assert len(rows) == len(recording.values("events", "action", device))
    monkeypatch.setattr(segments_csv, "MOST_EVENTS", 5)
    with pytest.raises(QueryError, match="narrow the filter"):
        segments_csv.listed(recording, device, "")
    assert "".join(segments_csv.listed(recording, device, "event<5")).count("\n") == 6


@examples(30)
@given(st.integers(0, 30), st.integers(-1, 60), st.integers(0, 27), st.integers(9, 24))
def test_what_passes_a_filter_is_told_of_every_block(
    seed: int, event: int, power: int, size: int
) -> None:
    recording = simulated(seed, expandable=bool(seed % 2), calls=60).recording
    state = segment_state(recording, recording.devices[0], event)
    lives = recording.table("allocations").to_pylist()
    question = {"at": f"event:{event}", "pixel": 1 << power}
    about, _, blocks = ask(recording, filter=f"size>={1 << size}", **question)
    passing = [
        (int(used), int(requested))
        for used, requested, row in zip(
            state.blocks.size, state.blocks.requested, state.blocks.allocation, strict=True
        )
        if lives[int(row)]["requested"] >= 1 << size
    ]
    assert about["passing"] == {
        "blocks": len(passing),
        "requested": sum(requested for _, requested in passing),
        "used": sum(used for used, _ in passing),
    }
    assert sum(blocks.column("passing").to_pylist()) == sum(used for used, _ in passing)
    for row in blocks.to_pylist():
        assert 0 <= row["passing"] <= row["used"]
        if row["count"] == 1:
            passes = lives[row["allocation"]]["requested"] >= 1 << size
            assert row["passing"] == (row["used"] if passes else 0)
    # The same blocks in the same rows as without it.
    plain, _, every = ask(recording, **question)
    assert blocks.drop_columns(["passing"]).equals(every)
    assert "passing" not in plain
    with pytest.raises(QueryError):
        ask(recording, filter="size>nonsense")
