"""Groups in the flame graph: which one a box is of, and how much of it is of the one picked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.flame_paths import BEFORE, LIBRARY, NONE
from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import source_lines
from tests.fixtures.training import MODEL, TORCH, TRAIN, training
from tests.unit.analysis.test_analysis_flame_tree import Stack, stacked, told
from tests.unit.views.test_views_flame import Answer, _wide, asked, nodes

KINDS = {"folded": LIBRARY, "before": BEFORE, "none": NONE}


def ways(answer: Answer) -> list[tuple[Any, ...]]:
    """Of every node the frames on the way to it, a run of library frames as one."""
    names = [answer["frames"][name] for name in ("kind", "function", "file", "line")]
    found: list[tuple[Any, ...]] = []
    for place, parent in enumerate(answer["nodes"]["parent"]):
        kind, *frame = (column[answer["nodes"]["frame"][place]] for column in names)
        found.append((*found[parent], KINDS.get(kind, tuple(frame))) if place else ())
    return found


def way_of(stack: Stack | None, **shape: bool) -> tuple[Any, ...]:
    """The same of where a stack ends."""
    steps = told(stack, **shape)
    return tuple(step[0] if isinstance(step, tuple) and len(step) == 2 else step for step in steps)


@given(stacked(), st.booleans(), st.booleans(), st.data())
def test_a_box_has_the_group_of_all_that_it_weighs(
    made: tuple[Recording, list[tuple[Stack | None, int]]],
    inverted: bool,
    folded: bool,
    data: st.DataObject,
) -> None:
    recording, alive = made
    shape = {"inverted": inverted, "folded": folded}
    last = len(recording.table("events")) - 1
    picked = data.draw(st.sampled_from([size for _, size in alive] or [1]))
    question = {"by": "size", "bands": True, "top": 99, "group": str(picked), "at": f"event:{last}"}
    answer = asked(recording, width=1 << 20, **question, **shape)
    keys = [group["key"] for group in answer["groups"]]
    of = [(way_of(stack, **shape), size) for stack, size in alive]
    for way, node in zip(ways(answer), nodes(answer), strict=True):
        sizes = [size for other, size in of if other[: len(way)] == way]
        common = str(sizes[0]) if len({*sizes}) == 1 else None
        assert (keys[node["band"]] if node["band"] >= 0 else None) == common
        if alive:
            assert node["picked"] == sum(size for size in sizes if size == picked)


@pytest.mark.parametrize("of", [of for of in OF if of != "passing"])
def test_groups_are_of_what_is_weighed(of: str) -> None:
    answer = asked(of=of, by="category", bands=True, group="gradient", filter="size>=512")
    bands = {
        node["label"]: answer["groups"][node["band"]]["key"] if node["band"] >= 0 else None
        for node in nodes(answer)
        if node["value"]
    }
    # Of what is older one is known to be a parameter, the other too small for the filter.
    older = {} if of in ("allocations", "kept") else {"before the window": "parameter"}
    freed = {} if of == "kept" else {"softmax · functional.py:7": "activation"}
    assert {name: bands.get(name) for name in ("all", "aten::mm", "linear · functional.py:9")} == {
        "all": None,
        "aten::mm": "gradient",
        "linear · functional.py:9": "activation",
    }
    assert {**bands, **older, **freed} == bands
    hits = {node["label"]: node["picked"] for node in nodes(answer)}
    assert hits["all"] == hits["aten::mm"] > 0 == hits["linear · functional.py:9"]
    passing = asked(of="passing", by="category", group="activation")
    assert {*passing["nodes"]["picked"]} == {passing["total"]} == {2048}


def test_the_smaller_groups_are_one_and_so_is_what_is_merged() -> None:
    answer = asked(_wide(100), width=60, by="stack", bands=True, top=12, group="…rest")
    *shown, rest = answer["groups"]
    assert (len(shown), rest["key"]) == (12, "…rest")
    named = nodes(answer)
    assert [node["band"] for node in named] == [-1, -1, *range(12), 12, 12, 12, 12, -1]
    assert named[0]["picked"] == 88 * 89 // 2
    assert [node["picked"] for node in named[13:]] == [0, 88, 87, 86, 85, 84 * 85 // 2]
    # All of one group, and so is what is merged.
    several = asked(_wide(100), width=60, by="pattern", pattern="main", bands=True)
    assert {node["band"] for node in nodes(several)} == {0}


def test_what_was_picked_elsewhere_is_nothing_here() -> None:
    assert "picked" not in asked(by="stack", group="0123456789abcdef")["nodes"]
    assert "band" not in asked()["nodes"]
    assert "groups" not in asked()
    with pytest.raises(QueryError, match="Cannot group by"):
        asked(training(), by="colour", bands=True)


def test_lines_tell_how_much_of_them_is_of_the_picked_group() -> None:
    recording = training()
    question = {"by": "category", "group": "activation", "filter": "size>600 -category:gradient"}
    answer = source_lines.page(recording, recording.devices[0], **question)
    told = {
        (file["file"], line["line"]): (line["picked"], line["through"])
        for file in answer["files"]
        for line in file["lines"]
    }
    assert told == {(MODEL, 90): (2048,) * 2, (TRAIN, 41): (2048,) * 2, (TORCH, 7): (2048,) * 2}
    first = answer["files"][0]
    assert (first["file"], first["picked"]) == (MODEL, 2048)
    assert answer["nowhere"] == [
        {"label": "before the window", "value": 1000, "count": 1, "picked": 0}
    ]
    nothing = source_lines.page(
        recording, recording.devices[0], **{**question, "group": "parameter"}
    )
    assert [file["picked"] for file in nothing["files"]] == [0, 0, 0]
    assert nothing["nowhere"][0]["picked"] == 1000
    without = source_lines.page(recording, recording.devices[0])
    assert all("picked" not in file for file in without["files"])
