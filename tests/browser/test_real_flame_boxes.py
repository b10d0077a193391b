"""Boxes of the flame graph of real snapshots: as wide as a plain walk says, hovered and clicked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.telling import is_library
from tests.browser.conftest import Watched
from tests.browser.flaming import LIBRARY, OWN, QUIET, ROW, Flame
from tests.browser.looking import settle
from tests.browser.walked import NAMES, Real, serve, show
from tests.browser.weighed import Stack
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

#: Pixels from which on a box is looked at, and those at its ends that are not.
WIDE, BESIDE = 6, 2


@dataclass(frozen=True)
class Box:
    """A frame, or why there is none, in a row; it begins and ends at shares of the width."""

    row: int
    begin: float
    end: float
    weight: int
    path: tuple[Any, ...]

    @property
    def middle(self) -> float:
        return (self.begin + self.end) / 2

    @property
    def colour(self) -> str:
        frame = self.path[-1]
        return QUIET if isinstance(frame, str) else LIBRARY if is_library(frame[1]) else OWN


def boxes(weights: Counter[Stack], looked: tuple[Any, ...] = ()) -> Iterator[Box]:
    """What is below the root, or below the frame looked into, the heaviest first."""
    paths = [((s,) if isinstance(s, str) else s, weight) for s, weight in weights.items()]
    inside = [each for each in paths if each[0][: len(looked)] == looked]
    whole = sum(weight for _, weight in inside)

    def below(path: tuple[Any, ...], own: list[tuple[Any, int]], begin: int) -> Iterator[Box]:
        sums: Counter[Any] = Counter()
        for stack, weight in own:
            if len(stack) > len(path):
                sums[stack[len(path)]] += weight
        for frame, weight in sums.most_common():
            down = (*path, frame)
            ends = begin / whole, (begin + weight) / whole
            yield Box(len(down), *ends, weight, down)
            yield from below(down, [one for one in own if one[0][: len(down)] == down], begin)
            begin += weight

    yield from below(looked, inside, 0)


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots."""
    with serve(shared_data, tmp_path_factory.mktemp("real-boxes")) as running:
        yield running


@pytest.mark.parametrize("name", NAMES[:2])
def test_boxes_are_where_a_plain_walk_has_them(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any, name: str
) -> None:
    real = Real(name, shared_data / "snapshots")
    weights = real.weights()
    whole = list(boxes(weights))
    flame = show(watched, server, real, calls="unfolded")
    assert compared(flame, whole, 0) > 10
    # The row that most can be told apart in.
    wide = Counter(box.row for box in whole if box.end - box.begin > 0.01)
    row = max(wide, key=lambda each: wide[each])
    scroll = max(row - 5, 0)
    flame.box.evaluate("(box, top) => { box.scrollTop = top; }", scroll * ROW)
    assert compared(flame, whole, scroll) > 10
    there = sorted((box for box in whole if box.row == row), key=lambda box: -box.weight)
    # Of those that weigh the same, either may be first.
    often = Counter(box.weight for box in there)
    shown = [box for box in there if often[box.weight] == 1][:3]
    assert len(shown) > 1
    for box in shown:
        said = flame.told(box.middle, row - scroll)
        assert said.startswith(box.path[-1][0])
        assert said.endswith(f" {box.weight} bytes")
    chosen = shown[1]
    flame.click(chosen.middle, row - scroll)
    function, file, line = chosen.path[-1]
    flame.frame.locator(".flame-way strong", has_text=f"{Path(file).name}:{line}").wait_for()
    settle(flame.page)
    part = f"{100 * chosen.weight / weights.total():.1f} % of all"
    assert f"› {function}" in flame.way() and flame.way().endswith(part)
    flame.box.evaluate("(box, top) => { box.scrollTop = top; }", scroll * ROW)
    assert compared(flame, list(boxes(weights, chosen.path)), scroll) > 0
    pictures(flame.page)


def compared(flame: Flame, truth: list[Box], scroll: int) -> int:
    """That what is in view is in the colour of its box up to both ends; how many boxes are."""
    flame.page.mouse.move(5, 400)
    settle(flame.page)
    lines = flame.lines()
    seen = 0
    for box in truth:
        line = lines[box.row - scroll] if 0 <= box.row - scroll < len(lines) else []
        first, last = round(box.begin * len(line)), round(box.end * len(line))
        if last - first < WIDE:
            continue
        assert {*line[first + BESIDE : last - BESIDE]} == {box.colour}, box
        # A gap tells it from the next.
        assert {*line[last - BESIDE : last + BESIDE]} != {box.colour}, box
        seen += 1
    return seen
