"""Tiles of what keeps its place: whatever part of the bytes is shown, all is where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.worlds import World, worlds
from tests.unit.views.tiles import decoded


def asked(recording: Recording, **question: Any) -> tuple[dict[str, Any], list[Any]]:
    """What a tile is about, and its columns, rows and strips."""
    plain = {"axis": "event", "level": 0, "index": 0, "by": "stack"}
    about, tables = decoded(tile(recording, recording.devices[0], **{**plain, **question}))
    return about, [tables[at].to_pylist() for at in (0, 1, 3)]


def seen(recording: Recording, columns: list[Any]) -> Iterator[tuple[int, int, int, int]]:
    """Row, first and last column of what is alive in some, and how tall it is by address."""
    events = [column["event"] for column in columns]
    for row, life in enumerate(recording.table("allocations").to_pylist()):
        birth = -1 if life["birth"] is None else life["birth"]
        death = max([*events, birth]) + 1 if life["death"] is None else life["death"]
        there = [at for at, event in enumerate(events) if birth <= event < death]
        if there:
            yield row, there[0], there[-1], max(life["size"] or 0, life["requested"])


@pytest.mark.parametrize("layout", ["address", "lane"])
@examples(60)
@given(
    world=worlds(),
    level=st.integers(0, 3),
    height=st.integers(1, 40),
    data=st.data(),
)
def test_any_window_of_bytes_leaves_all_where_they_are(
    layout: str, world: World, level: int, height: int, data: st.DataObject
) -> None:
    recording = derive(world.recording)
    lives = recording.table("allocations").to_pylist()
    places = recording.table("positions").column(layout).to_pylist()
    about, (columns, rows, _) = asked(recording, layout=layout, level=level, height=1 << 40)
    assert all(row["offset"] == places[row["allocation"]] for row in rows)
    extent = about["extent"]
    low = data.draw(st.integers(0, extent - 1))
    high = data.draw(st.integers(low + 1, extent + 10))
    window = {"low": low, "high": high, "height": height}
    about, (columns, rows, strips) = asked(recording, layout=layout, level=level, **window)
    pixel = about["pixel"]
    drawn = {row["allocation"]: row for row in rows}
    assert all(row["offset"] == places[key] for key, row in drawn.items())
    inside = set()
    for row, first, last, block in seen(recording, columns):
        size = lives[row]["requested"]
        begin = max(places[row], low)
        end = min(places[row] + (block if layout == "address" else size), high)
        if begin >= end:
            continue
        inside.add(row)
        if row in drawn:
            assert (drawn[row]["first"], drawn[row]["last"]) == (first, last)
            assert drawn[row]["bytes"] == size
            continue
        assert any(
            strip["column"] <= first
            and last <= strip["last"]
            and strip["offset"] <= begin < strip["offset"] + pixel
            and strip["tall"] == max((end - begin) // pixel, 1)
            for strip in strips
        )
    assert drawn.keys() <= inside
    assert len(drawn) + sum(strip["count"] for strip in strips) == len(inside)
    held = sum(lives[row]["requested"] for row in inside - drawn.keys())
    assert sum(strip["bytes"] for strip in strips) == held


def test_by_address_rounding_is_of_its_block_close_by_too() -> None:
    blocks = [{"address": 0x1000, "size": 0x400, "requested": 700}]
    segments = [{"address": 0x1000, "size": 0x1000}]
    recording = derive(history([("snapshot", 0, 0)] * 2, blocks=blocks, segments=segments))
    for low, count in ((0, 1), (700, 1), (0x3FF, 1), (0x400, 0)):
        _, (_, rows, strips) = asked(recording, layout="address", low=low, high=low + 40)
        assert (len(rows), strips) == (count, [])
