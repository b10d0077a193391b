"""Tiles of a part of the lives: what is drawn and the remainder are the total, by brute force."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.tile import fixed, merged, stacked
from tb_memory_plugin.views.tile.window import LAYOUTS, tile
from tests.properties import examples
from tests.unit.analysis.worlds import World, worlds
from tests.unit.views.tiles import decoded, drawn

#: How many lives are drawn by themselves, and cells there are of the others, at most.
FEW = {"usual": None, "few": (3, 2), "one": (1, 1)}


def kept(recording: Recording, question: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The allocations that a question leaves, by row."""
    moment = int(question["at"].partition(":")[2])
    only: dict[str, Any] = {
        "all": lambda _: True,
        "alive": lambda life: alive(life, moment),
        "freed": lambda life: life["death"] is not None,
        "never": lambda life: life["death"] is None,
    }
    least = max(question["minimum"], int(question["filter"].rpartition("=")[2] or 0))
    return {
        row: life
        for row, life in enumerate(recording.table("allocations").to_pylist())
        if only[question["only"]](life) and life["requested"] >= least
    }


def alive(life: dict[str, Any], event: int) -> bool:
    born = life["birth"] is None or life["birth"] <= event
    return born and (life["death"] is None or life["death"] > event)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    least = st.sampled_from([0, 1, 700, 2500, 4900])
    return {
        "only": draw(st.sampled_from(["all", "alive", "freed", "never"])),
        "at": f"event:{draw(st.integers(0, 20))}",
        "minimum": draw(least),
        "filter": f"size>={size}" if (size := draw(least)) else "",
        "find": f"size>={size}" if (size := draw(least)) else "",
    }


@pytest.mark.parametrize("most", FEW)
@pytest.mark.parametrize("layout", LAYOUTS)
@examples(40)
@given(
    world=worlds(),
    question=questions(),
    level=st.integers(0, 3),
    height=st.sampled_from([1, 9, 1 << 20]),
)
def test_what_is_drawn_and_the_remainder_are_the_total(
    layout: str, most: str, world: World, question: dict[str, Any], level: int, height: int
) -> None:
    recording = derive(world.recording)
    events = len(recording.table("events"))
    if not events:
        return
    question["at"] = f"event:{int(question['at'][6:]) % events}"
    with pytest.MonkeyPatch.context() as patch:
        if few := FEW[most]:
            patch.setattr(fixed, "MOST_ROWS", few[0])
            patch.setattr(stacked, "MOST_ROWS", few[0])
            patch.setattr(merged, "MOST_CELLS", few[1])
        asked = {"axis": "event", "level": level, "index": 0, "by": "size", "layout": layout}
        answer = tile(recording, recording.devices[0], **asked, height=height, **question)
    about, (columns, rows, _, cells) = decoded(answer)
    lives = kept(recording, question)
    shown = [
        [row for row, life in lives.items() if alive(life, event)]
        for event in columns.column("event").to_pylist()
    ]
    sums = [sum(lives[row]["requested"] for row in there) for there in shown]
    assert columns.column("total").to_pylist() == sums
    assert columns.column("count").to_pylist() == [len(there) for there in shown]

    # Every life that is seen is a row, in a cell, or said to be left out; none is two of them.
    least = int(question["find"].rpartition("=")[2] or 0)
    drawn_rows = rows.to_pylist()
    assert len({row["allocation"] for row in drawn_rows}) == len(drawn_rows)
    for row in drawn_rows:
        at = row["allocation"]
        life = lives[at]["requested"]
        assert (row["bytes"], row["hit"]) == (life, life >= least)
        seen = [number for number, there in enumerate(shown) if at in there]
        assert [*range(row["first"], row["last"] + 1)] == seen
    if few:
        assert len(drawn_rows) <= few[0]
    if layout == "stacked":
        for column, total, there in zip(drawn(answer), sums, shown, strict=True):
            parts = [size for _, _, size in column.rows] + [each["bytes"] for each in column.merged]
            assert column.base + column.gaps + sum(parts) == total
            counts = sum(each["count"] for each in column.merged)
            assert len(column.rows) + column.gap_count + counts == len(there)
    else:
        whole = {row for there in shown for row in there if lives[row]["requested"]}
        hidden = about["hidden"]
        count = len(drawn_rows) + sum(cells.column("count").to_pylist()) + hidden["left"]
        assert count == len(whole)
        size = sum(row["bytes"] for row in drawn_rows) + sum(cells.column("bytes").to_pylist())
        assert size + hidden["left_bytes"] == sum(lives[row]["requested"] for row in whole)
        assert not few or len(cells) <= few[1]

    hits = [life["requested"] for life in lives.values() if life["requested"] >= least]
    wanted = {"count": len(hits), "bytes": sum(hits)} if question["find"] else None
    assert about["hits"] == wanted
