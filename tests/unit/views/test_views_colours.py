"""Colours of drawings are those of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.views.colours import (
    CATEGORIES,
    QUIET,
    STACKS,
    STOPS,
    colours,
    fnv,
    sequential,
)

THEME = Path(__file__).parents[3] / "frontend" / "src" / "theme"
_COLOUR = re.compile(r'"(#[0-9a-f]{6})"')


def of_page(file: str, begin: str, end: str) -> tuple[str, ...]:
    """The colours in a part of a file of the page."""
    text = (THEME / file).read_text()
    return tuple(_COLOUR.findall(text[text.index(begin) :].partition(end)[0]))


def test_palettes_are_those_of_the_page() -> None:
    assert tuple(CATEGORIES.values()) == of_page("palette.ts", "CATEGORY_COLOURS", "};")
    assert tuple(QUIET.values()) == of_page("palette.ts", "QUIET", "dark:")
    assert of_page("palette.ts", "const STACKS", "];") == STACKS
    assert of_page("sequential.ts", "const STOPS", "dark:") == STOPS
    assert {*CATEGORIES} == {category.label for category in Category}


def test_a_group_has_the_colour_of_its_key_category_or_place() -> None:
    assert fnv("a") == 0xE40C292C
    keys = [{"key": f"stack {number}"} for number in range(16)]
    assert len({*colours(keys)}) == 16
    assert colours([*keys, {"key": "one more"}])[:16] == colours(keys)
    assert colours([{"key": "a"}]) == [STACKS[0xE40C292C % 16]]
    assert colours([{"key": "x", "category": "output"}, {"key": "…rest"}]) == [
        "#ffaabb",
        "#868686",
    ]
    assert colours([{"key": "8 B", "shade": 0.0}]) == [STOPS[0]]


@pytest.mark.parametrize(
    ("shade", "colour"), [(0, STOPS[0]), (1, STOPS[-1]), (0.5, STOPS[3]), (1 / 12, "#a1ddc2")]
)
def test_the_scale_goes_from_light_to_dark(shade: float, colour: str) -> None:
    assert sequential(shade) == colour
