"""The most that pools held, bin by bin, against the allocator's state after every event in it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.places import places
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views import bands, pools, usage
from tb_memory_plugin.views.segments_groups import groups_of
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.simulated import simulated
from tests.unit.analysis.worlds import ruins, worlds


def ask(recording: Recording, **question: Any) -> tuple[pa.Table, dict[str, Any]]:
    whole = {"axis": "event", "width": 9, **question}
    table = pa.ipc.open_stream(pools.window(recording, recording.devices[0], **whole)).read_all()
    return table, json.loads(table.schema.metadata[b"window"])


def alive(rows: list[dict[str, Any]], event: int) -> list[dict[str, Any]]:
    return [
        row
        for row in rows
        if (row["birth"] is None or row["birth"] <= event)
        and (row["death"] is None or row["death"] > event)
    ]


def events_in(recording: Recording, row: dict[str, Any]) -> range:
    """The events of which the state is seen in a bin by event; -1 is before the first."""
    begin, end = row["begin"], min(row["end"], len(recording.table("events")))
    return range(begin if begin > 0 else -1, max(begin, end))


def key(recording: Recording, row: dict[str, Any]) -> str:
    pool, stream = row["pool"], row["stream"]
    first = "?" if pool is None else "{},{}".format(*recording.meta["pools"][pool])
    return f"{first}@{'?' if stream is None else hex(stream)}"


@examples(40)
@given(
    st.one_of(
        worlds().map(lambda world: world.recording),
        ruins(),
        st.integers(0, 50).map(lambda seed: simulated(seed, expandable=False, calls=30).recording),
    ),
    st.integers(0, 20),
    st.integers(1, 40),
    st.integers(1, 12),
)
def test_every_bin_is_the_most_that_was_held_in_it(
    recording: Recording, begin: int, length: int, width: int
) -> None:
    found = derive(recording)
    question: dict[str, Any] = {
        "axis": "event",
        "begin": begin,
        "end": begin + length,
        "width": width,
    }
    table, about = ask(found, **question)
    curve = pa.ipc.open_stream(
        usage.window(found, found.devices[0], by="pool", **question)
    ).read_all()
    for name in ("begin", "end", "event", "time"):
        assert table.column(name).equals(curve.column(name))
    segments = found.table("segment_lives").to_pylist()
    allocations = found.table("allocations").to_pylist()
    rows = table.to_pylist()
    for row, told in zip(rows, curve.to_pylist(), strict=True):
        most_reserved, most_allocated = [], []
        for place, group in enumerate(about["groups"]):
            held = [s for s in segments if key(found, s) == group["key"]]
            own = [a for a in allocations if key(found, a) == group["key"]]
            inside = events_in(found, row)
            most_reserved.append(max(sum(s["size"] for s in alive(held, e)) for e in inside))
            most_allocated.append(max(sum(a["requested"] for a in alive(own, e)) for e in inside))
            assert row[f"r{place}"] == most_reserved[-1]
            assert row[f"a{place}"] == most_allocated[-1]
        assert sum(most_allocated) >= told["allocated"]
        total = sum(s["size"] for s in alive(segments, row["event"]))
        if told["reserved"] is not None and total != told["reserved"]:
            assert about["problems"]


def test_private_pools_have_an_envelope_of_their_own() -> None:
    recording = derive(
        history(
            [
                ("segment", 0, 4096, {"pool": 0}),
                ("segment", 8192, 1024, {"pool": 1, "stream": 5}),
                ("alloc", 8192, 1000, {"pool": 1, "stream": 5}),
                ("unsegment", 0, 4096, {"pool": 0}),
            ],
            segments=[{"address": 8192, "size": 1024, "pool": 1, "stream": 5}],
            blocks=[{"address": 8192, "requested": 1000, "size": 1024}],
        )
    )
    table, about = ask(recording)
    assert [(g["key"], g["label"], g["reserved_peak"]) for g in about["groups"]] == [
        ("0,0@0x0", "default pool, default stream", 4096),
        ("0,1@0x5", "private pool 0,1, stream 0x5", 1024),
    ]
    assert about["problems"] == []
    # The curve's first bin shows what was before the first event: nothing is allocated after it.
    assert table.column("event").to_pylist()[0] == -1
    assert table.column("r0").to_pylist() == [4096, 4096, 4096, 0]
    assert table.column("r1").to_pylist() == [0, 1024, 1024, 1024]
    assert table.column("a1").to_pylist() == [0, 0, 1000, 1000]


def test_more_places_than_columns_share_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MOST", 3)
    events: list[Any] = [
        ("segment", 4096 * place, 100 * (place + 1), {"stream": place}) for place in range(6)
    ]
    recording = derive(
        history(
            events,
            segments=[
                {"address": 4096 * place, "size": 100 * (place + 1), "stream": place}
                for place in range(6)
            ],
            blocks=[],
        )
    )
    table, about = ask(recording)
    assert [group["key"] for group in about["groups"]] == ["0,0@0x4", "0,0@0x5", pools.REST_KEY]
    assert table.to_pylist()[-1]["r2"] == 100 + 200 + 300 + 400


def test_an_allocator_that_holds_nothing_has_no_envelopes() -> None:
    recording = derive(history([("snapshot", 0, 0), ("snapshot", 0, 0)], segments=[], blocks=[]))
    table, about = ask(recording)
    assert (about["groups"], about["problems"]) == ([], [])
    assert table.column("event").to_pylist() == [-1, -1]


@examples(40)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(1, 9), st.booleans()), min_size=1, max_size=30
    )
)
def test_the_peak_of_a_pool_is_its_highest_after_any_event(
    moves: list[tuple[int, int, bool]],
) -> None:
    events: list[Any] = []
    held: dict[int, int] = {}
    highest: dict[str, int] = {}
    for place, size, comes in moves:
        if comes and place not in held:
            held[place] = size
            events.append(("segment", 4096 * place, size, {"stream": place % 3}))
        elif not comes and place in held:
            events.append(("unsegment", 4096 * place, held.pop(place), {"stream": place % 3}))
        for stream in {place % 3 for place in held}:
            now = sum(size for place, size in held.items() if place % 3 == stream)
            highest[f"0,0@{stream:#x}"] = max(highest.get(f"0,0@{stream:#x}", 0), now)
    final = [
        {"address": 4096 * place, "size": size, "stream": place % 3} for place, size in held.items()
    ]
    events = [(*event[:3], {"pool": 0, **event[3]}) for event in events]
    _, about = ask(derive(history(events, segments=final, blocks=[])))
    assert {group["key"]: group["reserved_peak"] for group in about["groups"]} == highest


def test_pools_stand_in_the_order_of_their_numbers() -> None:
    recording = derive(
        history(
            [],
            segments=[{"address": 4096 * place, "size": 100, "pool": place} for place in range(3)],
            blocks=[],
            pools=[[0, 2], [0, 0], [0, 1]],
        )
    )
    state = segment_state(recording, recording.devices[0], -1)
    assert state.segments.address.tolist() == [4096, 8192, 0]
    found, (of_segments,) = places(recording, recording.devices[0], "segment_lives")
    assert [place.pool for place in found] == [(0, 0), (0, 1), (0, 2)]
    assert of_segments.tolist() == [2, 0, 1]


@pytest.mark.parametrize("many", [3, 400])
def test_places_are_pairs_of_pool_and_stream_however_many(many: int) -> None:
    pairs = [(place * 7 % many, (place * 11) % many) for place in range(2 * many)]
    events = [
        ("segment", 4096 * (place + 1), 100, {"pool": pool, "stream": stream << 40})
        for place, (pool, stream) in enumerate(pairs)
    ]
    pools = [[pool, 1] for pool in range(many)]
    recording = derive(history(events, segments=[], blocks=[], pools=pools))
    found, (ranks,) = places(recording, recording.devices[0], "segment_lives")
    expected = sorted(set(pairs))
    assert [(place.pool, place.stream) for place in found] == [
        ((pool, 1), stream << 40) for pool, stream in expected
    ]
    # Lives are in the order of their births.
    assert ranks.tolist() == [expected.index(pair) for pair in pairs]


@pytest.mark.parametrize("width", [3, 40, 1000])
@pytest.mark.parametrize("expandable", [False, True])
def test_pools_hold_what_the_states_of_their_bins_say(expandable: bool, width: int) -> None:
    recording = simulated(2, expandable=expandable, calls=60).recording
    table, about = ask(recording, width=width)
    states = {}
    for event in range(-1, len(recording.table("events"))):
        groups, _ = groups_of(recording, segment_state(recording, recording.devices[0], event))
        states[event] = {g["key"]: (g["reserved"], g["requested"]) for g in groups}
    for row in table.to_pylist():
        for place, group in enumerate(about["groups"]):
            held = [states[event].get(group["key"], (0, 0)) for event in events_in(recording, row)]
            assert row[f"r{place}"] == max(reserved for reserved, _ in held)
            assert row[f"a{place}"] == max(requested for _, requested in held)


@pytest.mark.parametrize("name", ["oom_expandable_3gpu", "no_time_us_segments"])
def test_no_pool_of_a_real_snapshot_loses_its_peak_at_any_zoom(
    name: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bands, "_CHUNK", 1 << 9)  # several pieces of rows
    recording = load_path(shared_data / "snapshots" / f"{name}.pickle", cache=False)
    device = recording.devices[0]
    _, about = ask(recording, width=1)
    segments, allocations = (
        recording.table(table)[recording.rows(table, device)].to_pylist()
        for table in ("segment_lives", "allocations")
    )
    count = recording.rows("events", device).stop
    for place, group in enumerate(about["groups"]):
        held = after_every_event([s for s in segments if key(recording, s) == group["key"]], count)
        own = after_every_event(
            [a for a in allocations if key(recording, a) == group["key"]], count
        )
        assert group["reserved_peak"] == max(held)
        for width in (1, 7, 100, 1500):
            table, _ = ask(recording, width=width)
            for row in table.to_pylist():
                inside = events_in(recording, row)
                low, high = inside.start + 1, inside.stop + 1
                assert row[f"r{place}"] == max(held[low:high])
                assert row[f"a{place}"] == max(own[low:high])


def after_every_event(rows: list[dict[str, Any]], events: int) -> list[int]:
    """The bytes of lives before the first event, then after each."""
    moved = [0] * (events + 1)
    for row in rows:
        size = row["requested"] if "requested" in row else row["size"]
        moved[0 if row["birth"] is None else row["birth"] + 1] += size
        if row["death"] is not None:
            moved[row["death"] + 1] -= size
    return list(itertools.accumulate(moved))
