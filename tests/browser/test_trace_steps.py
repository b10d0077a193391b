"""Steps laid over each other: all begin together, and the one that differs stands out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.charting import LEFT
from tests.browser.looking import link, open_page, settle
from tests.fixtures.programs import Program
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

STEPS, ODD = 6, 3
KEPT = 1000  # bytes


def _program() -> Program:
    """Steps that allocate and free again; the fourth three times as much."""
    program = Program()
    for step in range(STEPS):
        program.enter(0, "step", f"step {step}")
        sizes = [KEPT] * (3 if step == ODD else 1)
        for turn in range(2):
            program.enter(0, "op", "backward" if turn else "forward")
            for place, size in enumerate(sizes):
                program.time += 10_000
                program.move(0, 4096 * (place + 1), size)
            program.time += 10_000
            program.leave(0)
        program.leave(0)
        program.time += 5_000
    return program


@pytest.fixture(scope="module")
def stepping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("stepping")
    (folder / "run").mkdir()
    save(_program().recording().only_recorded(), folder / "run" / "steps.tbmem", compress=True)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("stepping-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def test_the_step_that_differs_stands_out(watched: Watched, stepping: TensorBoardServer) -> None:
    address = link("run", "steps.tbmem", view="trace", lower="steps")
    frame = open_page(watched.page, stepping.url + address)
    settle(watched.page)
    curves = frame.locator("[data-curve]").all()
    assert len(curves) == STEPS
    heights = {}
    for curve in curves:
        path = curve.get_attribute("d") or ""
        # Each begins at the left edge, at what was allocated before it: nothing.
        left, bottom = (float(each) for each in re.findall(r"[\d.]+", path)[:2])
        assert left == pytest.approx(LEFT, abs=0.1)
        highest = min(float(each) for each in re.findall(r"V([\d.]+)", path))
        heights[curve.get_attribute("data-curve")] = bottom - highest
    rows = frame.locator("[data-step]").all()
    names = [row.locator("button").inner_text() for row in rows]
    assert names == [f"step {step}" for step in range(STEPS)]
    marked = [row.get_by_text("differs most").count() for row in rows]
    assert marked == [int(step == ODD) for step in range(STEPS)]
    odd = rows[ODD].get_attribute("data-step")
    (last,) = frame.locator("[data-curve].is-odd").all()
    assert last.get_attribute("data-curve") == odd
    assert curves[-1].get_attribute("data-curve") == odd  # over all others
    others = [height for id, height in heights.items() if id != odd]
    assert others == pytest.approx([others[0]] * (STEPS - 1), abs=0.1)
    assert heights[odd] == pytest.approx(3 * others[0], rel=0.02)
    assert "step 3" in frame.locator("figcaption").inner_text()
