"""Lives with fixed places that are too many to be drawn by themselves: strips of those alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.tile import fixed
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.worlds import World, worlds
from tests.unit.views.tiles import beside, decoded


def asked(recording: Recording, **question: Any) -> bytes:
    plain = {"axis": "event", "level": 0, "index": 0, "by": "size"}
    return tile(recording, recording.devices[0], **{**plain, **question})


@examples(60)
@given(worlds(), st.integers(0, 3), st.sampled_from(["address", "lane"]), st.integers(1, 60))
def test_what_is_alive_is_in_a_row_or_a_strip_and_nothing_else_is(
    world: World, level: int, layout: str, height: int
) -> None:
    recording = derive(world.recording)
    question = {"level": level, "layout": layout}
    # On so many pixels every life of two bytes and more is drawn by itself.
    whole = asked(recording, **question, height=1 << 50)
    _, (_, every, _, small) = decoded(whole)
    blocks = beside(whole)[1] if layout == "address" else every.select(["bytes"])
    assume(len(small) == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixed, "MOST_ROWS", 2)
        about, (columns, rows, _, strips) = decoded(asked(recording, **question, height=height))
    pixel, groups = about["pixel"], rows.to_pylist()
    drawn = {row["allocation"] for row in groups}
    assert len(drawn) <= 2
    lives = [
        {**row, "tall": tall}
        for row, tall in zip(every.to_pylist(), blocks.column(0).to_pylist(), strict=True)
        if row["allocation"] not in drawn
    ]
    for column in range(len(columns)):
        expected = {
            (life["offset"] // pixel, max(life["tall"] // pixel, 1), life["band"])
            for life in lives
            if life["first"] <= column <= life["last"]
        }
        shown = {
            (strip["offset"] // pixel, strip["tall"], strip["band"])
            for strip in strips.to_pylist()
            if strip["column"] <= column <= strip["last"]
        }
        assert shown == expected
    assert sum(strips.column("count").to_pylist()) == len(lives)
    assert sum(strips.column("bytes").to_pylist()) == sum(life["bytes"] for life in lives)
    places = strips.column("offset").to_pylist()
    assert places == sorted(places), "what is higher is drawn over what reaches up to it"


def test_lives_in_one_place_that_overlap_are_one_strip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed, "MOST_ROWS", 0)
    events: list[Any] = [
        ("alloc", 0x1000, 8),  # 0 … 3
        ("alloc", 0x1008, 8),  # 1 … 4
        ("snapshot", 0, 0),
        ("snapshot", 0, 0),
        ("free", 0x1000, 8),
        ("free", 0x1008, 8),
        ("alloc", 0x1000, 8),  # 6 … 7, after a break
        ("snapshot", 0, 0),
    ]
    recording = derive(history(events, blocks=[], segments=[]))
    _, (_, _, _, strips) = decoded(asked(recording, layout="address", height=1))
    assert [
        (strip["column"], strip["last"], strip["count"], strip["bytes"], strip["allocation"])
        for strip in strips.to_pylist()
    ] == [(0, 4, 2, 16, -1), (6, 7, 1, 8, 2)]
