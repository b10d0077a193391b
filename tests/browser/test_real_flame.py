"""The flame graph of snapshots of real GPUs, beside a plain walk of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.telling import is_library
from tests.browser.conftest import Watched
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.picturing import Picture
from tests.browser.test_flame import LIBRARY, OWN, QUIET, ROW
from tests.browser.walked import NAMES, Real, serve, show, total, values
from tests.browser.weighed import Frame, has
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

WEIGHTS = {
    "alive": "alive",
    "highest": "highest",
    "× lifetime": "lifetime",
    "allocations": "allocations",
    "kept": "kept",
    "passing": "passing",
}


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots that may show code."""
    folder = tmp_path_factory.mktemp("real-flame")
    with serve(shared_data, folder, "--memory_show_source") as running:
        yield running


@pytest.fixture(scope="module", params=NAMES)
def real(request: pytest.FixtureRequest, shared_data: Path) -> Real:
    return Real(request.param, shared_data / "snapshots")


def by_end(weights: Counter[Any], end: int) -> list[int]:
    """What the outermost (0) or innermost (-1) frames weigh, the largest first."""
    sums: Counter[Any] = Counter()
    for stack, weight in weights.items():
        sums[stack if isinstance(stack, str) else stack[end]] += weight
    return sorted(sums.values(), reverse=True)


def as_shown(value: int) -> int:
    """Past 2⁵³ the page knows fifteen digits, and says that it does."""
    if value < 1 << 53:
        return value
    return int(f"{Decimal(float(value)):.14e}".partition("e")[0].replace(".", "")) * 10 ** (
        len(str(value)) - 15
    )


def test_all_weights_are_those_of_a_plain_walk(
    watched: Watched, server: TensorBoardServer, real: Real
) -> None:
    flame = show(watched, server, real, calls="unfolded")
    rows = flame.frame.locator("table.calls tbody tr:has(button)")
    for label, of in WEIGHTS.items():
        flame.frame.get_by_role("radio", name=label, exact=True).click()
        settle(flame.page)
        meaning = flame.frame.get_by_test_id("weighed-meaning").inner_text()
        assert ("memray" in meaning) == (of in ("highest", "kept"))
        weights = real.weights(of)
        assert weights.total() > 0
        assert total(flame) == as_shown(weights.total()), of
        shown = values(rows, 2)
        assert shown, of
        assert shown == [as_shown(weight) for weight in by_end(weights, 0)[: len(shown)]], of
    flame.frame.get_by_role("radio", name="alive", exact=True).click()
    flame.frame.get_by_role("button", name="inverted").click()
    settle(flame.page)
    shown = values(rows, 2)
    assert shown == by_end(real.weights(), -1)[: len(shown)]
    assert total(flame) == real.facts["allocated_peak"]


def test_the_graph_grows_up_or_down_and_folds(
    watched: Watched, server: TensorBoardServer, real: Real, pictures: Any
) -> None:
    flame = show(watched, server, real)
    rows = int(flame.box.evaluate("box => box.scrollHeight")) // ROW
    assert flame.pixel(0.3, 0) == QUIET
    names = flame.frame.locator("table.calls").inner_text()
    flame.frame.get_by_role("radio", name="flame", exact=True).click()
    settle(flame.page)
    shown = int(flame.canvas.evaluate("canvas => canvas.clientHeight")) // ROW
    # The root is the last row, and it is that row which is scrolled to.
    assert flame.pixel(0.3, shown - 1) == QUIET
    assert flame.frame.locator("table.calls").inner_text() == names
    pictures(flame.page)
    flame.frame.get_by_role("radio", name="icicle", exact=True).click()
    flame.frame.get_by_role("button", name="libraries folded").click()
    settle(flame.page)
    unfolded = int(flame.box.evaluate("box => box.scrollHeight")) // ROW
    deepest = max(len(stack) for stack in real.weights() if not isinstance(stack, str))
    assert rows < unfolded <= deepest + 1
    assert words_of(settled_address(flame.page, "memory.calls"))["calls"] == "unfolded"


def test_a_search_finds_what_a_plain_walk_finds(
    watched: Watched, server: TensorBoardServer, real: Real
) -> None:
    flame = show(watched, server, real, calls="unfolded")
    lives = [life for life in real.truth.lives if life.alive(real.peak)]
    function = commonest(real)[0]
    asked = re.compile(re.escape(function), re.IGNORECASE)
    hits = [life for life in lives if has(life.stack, asked)]
    assert len(hits) > 0
    flame.frame.get_by_role("searchbox", name="Search the graph").fill(f'stack:"{function}"')
    found = flame.frame.get_by_test_id("flame-found")
    found.wait_for()
    settle(flame.page)
    text = re.sub(r"[\u202f\u00a0]", "", found.inner_text())
    assert re.search(rf"in{len(hits)}allocations?$", text.replace(" ", "")), text
    part = 100 * sum(life.bytes for life in hits) / real.facts["allocated_peak"]
    assert f"({part:.1f}%)" in text.replace(" ", "")
    # Of a box that nothing is found in, nothing keeps its colour.
    flame.frame.get_by_role("searchbox", name="Search the graph").fill("size>1TiB")
    found.filter(has_text="nothing found").wait_for()
    settle(flame.page)
    assert flame.pixel(0.3, 1) not in (OWN, LIBRARY, QUIET)


def commonest(real: Real) -> Frame:
    """The frame of the user's own that most of the peak's bytes went through, but not all."""
    sums: Counter[Frame] = Counter()
    weights = real.weights()
    for stack, weight in weights.items():
        if not isinstance(stack, str):
            for frame in set(stack):
                sums[frame] += weight
    most = real.facts["allocated_peak"]
    return next(
        frame
        for frame, weight in sums.most_common()
        if weight < most and not is_library(frame[1]) and re.fullmatch(r"\w+", frame[0])
    )


def test_a_frame_narrows_down_all_other_views(
    watched: Watched, server: TensorBoardServer, real: Real
) -> None:
    flame = show(watched, server, real, calls="unfolded")
    frame = flame.frame
    rows = frame.locator("table.calls tbody tr:has(td.name:not([title=''])):has(button)")
    # Where the most went, four calls in; all that has that frame anywhere in its stack passes.
    title = ""
    for _ in range(4):
        title = rows.locator("td.name").first.get_attribute("title") or ""
        rows.locator("button").first.click()
        frame.locator(".flame-way strong").wait_for()
        settle(flame.page)
    frame.get_by_role("button", name="filter by this frame").click()
    field = frame.get_by_role("searchbox", name="Filter allocations")
    settle(flame.page)
    expression = re.fullmatch(r"stack:/(.*)/", field.input_value())
    assert expression
    asked = re.compile(expression[1].replace("\\/", "/"))
    assert title.splitlines()[0] in expression[1].replace("\\", "")
    passing = [life for life in real.truth.lives if has(life.stack, asked)]
    assert 0 < len(passing) < len(real.truth.lives)
    alive = [life for life in passing if life.alive(real.peak)]
    assert total(flame) == sum(life.bytes for life in alive)
    frame.get_by_role("tab", name="Source").click()
    frame.locator("table.lines").wait_for()
    settle(flame.page)
    assert total(flame) == sum(life.bytes for life in alive)
    frame.get_by_role("tab", name="Profile").click()
    heading = frame.locator(".breakdown .at .quiet")
    counted = re.compile(rf"in {len(alive):,}\s?blocks?$".replace(",", r"\D?"))
    heading.filter(has_text=counted).wait_for()
    frame.get_by_role("tab", name="Allocations").click()
    shown = Picture(flame.page, frame)
    begin, end = real.window
    narrowed = replace(real.truth, lives=passing)
    at = narrowed.highest(begin, end)
    assert shown.highest() == (narrowed.allocated(at), sum(life.alive(at) for life in passing))
    frame.get_by_role("tab", name="Segments").click()
    events = sum(has(stack, asked) for stack in real.truth.stacks)
    told = re.compile(rf"^{events:,}(\s*of|$)".replace(",", r"\D?"))
    frame.get_by_test_id("events-count").filter(has_text=told).wait_for()
