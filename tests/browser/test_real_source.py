"""Lines of code of snapshots of real GPUs, beside a plain walk of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.telling import is_library
from tests.browser.conftest import Watched
from tests.browser.walked import NAMES, Real, serve, show, values
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots that may show code."""
    folder = tmp_path_factory.mktemp("real-source")
    with serve(shared_data, folder, "--memory_show_source") as running:
        yield running


@pytest.fixture(scope="module", params=NAMES)
def real(request: pytest.FixtureRequest, shared_data: Path) -> Real:
    return Real(request.param, shared_data / "snapshots")


def test_lines_of_code_weigh_what_a_plain_walk_says(
    watched: Watched, server: TensorBoardServer, real: Real, pictures: Any
) -> None:
    flame = show(watched, server, real, "source")
    frame = flame.frame
    lines = frame.locator("table.lines")
    lines.wait_for()
    through: Counter[str] = Counter()
    passed: Counter[tuple[str, int]] = Counter()
    for stack, weight in real.weights().items():
        if isinstance(stack, str):
            continue
        for file in {each[1] for each in stack}:
            through[file] += weight
        for place in {(file, line) for _, file, line in stack}:
            passed[place] += weight
    files = lines.locator("tr.file")
    titles = files.locator("td:first-child").evaluate_all("all => all.map((cell) => cell.title)")
    assert titles
    for file, weight in zip(titles, values(files, 4), strict=True):
        assert through["" if file == "no file" else file] == weight, file
    opened = lines.locator("tbody", has=frame.locator("tr.file button[aria-expanded=true]")).first
    file = opened.locator("tr.file td").first.get_attribute("title") or ""
    assert not is_library(file)
    rows = opened.locator("tr:has(td.line)")
    numbers = rows.locator("td.line button.link[aria-expanded]").all_inner_texts()
    assert numbers
    for number, weight in zip(numbers, values(rows, 4), strict=True):
        assert passed[file, int(number)] == weight
    # All that is made somewhere, and what has no stack, is everything.
    made = sum(values(files, 2))
    nowhere = sum(w for stack, w in real.weights().items() if isinstance(stack, str))
    assert made + nowhere == real.facts["allocated_peak"]
    # The machine this was recorded on is another one: that is said, in place of the code.
    rows.locator("button.link[aria-expanded]").first.click()
    refused = frame.locator(".code-row p")
    refused.filter(has_text=f"{file} cannot be read on the machine that TensorBoard").wait_for()
    pictures(flame.page)
    watched.faults = [fault for fault in watched.faults if "400" not in fault]


def test_without_the_flag_no_code_is_given_and_it_is_said_how_to_have_it(
    watched: Watched, shared_data: Path, tmp_path: Path
) -> None:
    real = Real(NAMES[0], shared_data / "snapshots")
    with serve(shared_data, tmp_path) as server:
        flame = show(watched, server, real, "source")
        flame.frame.locator("table.lines tr:has(td.line)").first.wait_for()
        assert flame.frame.locator("td.line button[aria-expanded]").count() == 0
        note = flame.frame.get_by_role("note").filter(has_text="--memory_show_source")
        assert note.inner_text() == (
            "To see the code behind a line, start TensorBoard with --memory_show_source."
        )
