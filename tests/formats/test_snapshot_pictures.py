"""Pictures of real snapshots: what PyTorch's own page gets wrong, and every identity.

Beside values that an independent replay found (facts.json).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import BlockState
from tb_memory_plugin.views import grid, holes
from tb_memory_plugin.views.tile import extents
from tb_memory_plugin.views.tile.window import BINS, LAYOUTS, tile
from tests.fixtures.histories import history
from tests.formats.test_snapshot_facts import FACTS, recorded
from tests.unit.views.tiles import beside, decoded

DRAWN = sorted(
    name
    for name, facts in FACTS.items()
    if any(device["events"] > 1 for device in facts["devices"].values())
)
shared = pytest.mark.skipif(not FACTS, reason="the shared real files are not here")


def whole(
    recording: Recording, device: Device, axis: str = "event", bins: int = 400, **question: Any
) -> list[Any]:
    """All tiles of an axis in about so many bins, taken apart."""
    of = grid.axis(recording, device, axis)
    level = max(((of.end - of.begin) // bins).bit_length() - 1, 0)
    first, last = (of.begin >> level) // BINS, ((of.end - 1) >> level) // BINS
    asked = {"axis": axis, "level": level, "by": "stack", **question}
    return [
        decoded(tile(recording, device, index=index, **asked)) for index in range(first, last + 1)
    ]


def sums(tables: Any) -> np.ndarray[Any, Any]:
    """Bytes drawn and not drawn in every column of a stacked answer."""
    columns, rows, gaps, merged = tables
    count = len(columns)
    moves = np.zeros(count + 1, dtype=np.int64)
    size = rows.column("bytes").to_numpy()
    np.add.at(moves, rows.column("first").to_numpy(), size)
    np.add.at(moves, rows.column("last").to_numpy().astype(np.int64) + 1, -size)
    np.add.at(moves, gaps.column("column").to_numpy(), gaps.column("bytes").to_numpy())
    found = columns.column("base").to_numpy() + np.cumsum(moves)[:count]
    np.add.at(found, merged.column("column").to_numpy(), merged.column("bytes").to_numpy())
    return found


@shared
@pytest.mark.parametrize("name", DRAWN or ["none"])
def test_every_picture_adds_up_and_none_loses_the_peak(name: str) -> None:
    recording = recorded(name)
    for device in recording.devices:
        facts = FACTS[name]["devices"][device.key]
        for axis in ("event", "time") if facts["time_span_us"] else ("event",):
            totals = {}
            for layout in LAYOUTS:
                tiles = whole(recording, device, axis, 800, layout=layout, height=500)
                totals[layout] = np.concatenate(
                    [columns.column("total").to_numpy() for _, (columns, *_) in tiles]
                )
                if layout == "stacked":
                    drawn = np.concatenate([sums(tables) for _, tables in tiles])
                    # The axis is as tall as the peak, however little of it is drawn.
                    assert tiles[0][0]["extent"] == max(facts["allocated_peak"], 1)
                assert tiles[0][0]["extent"] >= totals[layout].max()
            assert totals["stacked"].max() == facts["allocated_peak"]
            assert (drawn == totals["stacked"]).all()
            assert (totals["stacked"] == totals["address"]).all()
            assert (totals["stacked"] == totals["lane"]).all()


@shared
@pytest.mark.parametrize("name", DRAWN or ["none"])
def test_layouts_agree_on_what_is_alive_at_an_instant(name: str) -> None:
    recording = recorded(name)
    checked = 0
    for device in recording.devices:
        events = len(recording.values("events", "action", device))
        if not events:
            continue
        peak = max(FACTS[name]["devices"][device.key]["allocated_peak_event"], 0)
        size = recording.values("allocations", "requested", device)
        start = recording.rows("allocations", device).start
        birth, death = (recording.values("allocations", key, device) for key in ("birth", "death"))
        for bin_ in {0, events // 7, events // 2, peak, events - 1}:
            asked = {"axis": "event", "level": 0, "index": bin_ // BINS, "by": "stack"}
            for layout in LAYOUTS:
                answer = tile(recording, device, **asked, layout=layout, height=1 << 40)
                about, (columns, *tables) = decoded(answer)
                assert about["hidden"]["rows"] == about["hidden"]["left"] == 0
                # The first bin may show what was before it, if that is more.
                column = max(bisect_right(columns.column("begin").to_pylist(), bin_) - 1, 0)
                event = columns.column("event")[column].as_py()
                assert bin_ != peak or event in (peak, -1)
                alive = np.flatnonzero((birth <= event) & (death > event) & (size > 0))
                expected = {start + row: int(size[row]) for row in alive.tolist()}
                assert shown(tables, column, expected) == len(expected)
                checked += len(expected)
    assert checked


def shown(tables: Any, column: int, expected: dict[int, int]) -> int:
    """How many lives a column shows: each must be one of those ``expected``, all have their sum."""
    rows, _, merged = tables
    here = [row for row in rows.to_pylist() if row["first"] <= column <= row["last"]]
    found = {row["allocation"]: row["bytes"] for row in here}
    cells = [cell for cell in merged.to_pylist() if cell["column"] == column]
    found.update({cell["allocation"]: cell["bytes"] for cell in cells if cell["count"] == 1})
    several = [cell for cell in cells if cell["count"] > 1]
    assert found.items() <= expected.items()
    total = sum(found.values()) + sum(cell["bytes"] for cell in several)
    assert total == sum(expected.values())
    return len(found) + sum(cell["count"] for cell in several)


@shared
def test_expandable_segments_grow_in_their_timeline() -> None:
    name = "oom_expandable_3gpu.pickle"
    recording = recorded(name)
    device = recording.device("1")
    facts = FACTS[name]["devices"]["1"]
    tiles = whole(recording, device, of="segments", layout="stacked")
    totals = np.concatenate([tables[0].column("total").to_numpy() for _, tables in tiles])
    assert totals.max() == facts["reserved_peak"]
    assert totals[-1] == facts["reserved_end"]
    assert totals[0] < facts["reserved_peak"] // 2
    for _, tables in tiles:
        assert (sums(tables) == tables[0].column("total").to_numpy()).all()


@shared
@pytest.mark.parametrize("name", DRAWN or ["none"])
def test_by_address_what_is_mapped_and_free_is_the_state_of_the_segments(name: str) -> None:
    recording = recorded(name)
    for device in recording.devices:
        events = len(recording.values("events", "action", device))
        level = max((events // BINS).bit_length(), 0)
        answer = tile(
            recording, device, axis="event", level=level, index=0, by="stack", layout="address"
        )
        assert len(answer) <= 1_000_000
        about, (columns, *_) = decoded(answer)
        assert about["hidden"]["ranges"] == 0
        lives = beside(answer)[0]
        first, last, size = (lives.column(n).to_numpy() for n in ("first", "last", "size"))
        for column, event in list(enumerate(columns.column("event").to_pylist()))[::37]:
            state = segment_state(recording, device, event)
            assert size[(first <= column) & (last >= column)].sum() == state.mapped
            starts = extents.place_of(recording, device, state.segments.address)
            begins = starts[state.holes.segment] + state.holes.offset
            for row in range(0, len(begins), max(len(begins) // 5, 1)):
                begin, free = int(begins[row]), int(state.holes.size[row])
                for place in (begin, begin + free // 2, begin + free - 1):
                    hole = holes.under(recording, device, at=f"event:{event}", place=place)["hole"]
                    assert (hole["place"], hole["size"]) == (begin, free)


def test_a_block_that_waits_to_be_freed_is_drawn() -> None:
    recording = derive(
        history(
            [("snapshot", 0, 0), ("alloc", 0x900, 5)],
            blocks=[
                {"address": 0x100, "size": 512, "requested": 500, "state": BlockState.PENDING_FREE}
            ],
            segments=[{"address": 0x100, "size": 1024}],
        )
    )
    (device,) = recording.devices
    ((about, (columns, rows, _, _)),) = whole(recording, device)
    assert columns.column("total").to_pylist() == [500, 505]
    assert rows.to_pylist()[0]["bytes"] == 500
    assert about["extent"] == 505


def test_short_activations_of_a_thousand_steps_are_seen_from_afar() -> None:
    events: list[Any] = [("alloc", 0x100, 1000, {"stack": 0})]
    for step in range(1000):
        addresses = [0x1000 + 0x100 * place for place in range(5)]
        events += [("alloc", address, 40, {"stack": 1}) for address in addresses]
        events += [("free", address, 40) for address in reversed(addresses)]
        events += [("snapshot", step, 0)]
    recording = derive(history(events, stacks=[[("load", "a.py", 1)], [("forward", "a.py", 2)]]))
    (device,) = recording.devices
    ((about, (columns, rows, _, merged)),) = whole(recording, device, bins=256, height=100)
    assert len(columns) > 250
    assert len(rows) == 1
    band = [group["label"] for group in about["groups"]].index("forward · a.py:2")
    cells = merged.to_pylist()
    assert {cell["column"] for cell in cells} == set(range(len(columns)))
    assert all((cell["band"], cell["bytes"], cell["count"]) == (band, 200, 5) for cell in cells)


def test_axes_are_events_and_time_not_steps_of_a_drawing() -> None:
    events = [("alloc", 0x100 * place, 10, {"time": place**2 * 1000}) for place in range(1, 9)]
    recording = derive(history(events))
    (device,) = recording.devices
    ((_, (by_event, *_)),) = whole(recording, device, "event")
    assert by_event.column("begin").to_pylist() == list(range(8))
    ((_, (by_time, *_)),) = whole(recording, device, "time", bins=64)
    times = [time for time in by_time.column("time").to_pylist() if time is not None]
    assert sorted(set(times)) == [place**2 * 1000 for place in range(1, 9)]
