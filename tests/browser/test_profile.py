"""What the page explains, in a real browser: groupings, failures, one allocation, a live run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.recording.recording import Recording, save
from tests.browser.charting import Chart
from tests.browser.conftest import Watched
from tests.browser.looking import (
    TAB,
    link,
    open_page,
    peak,
    settle,
    settled_address,
    wait_for_table,
    words_of,
)
from tests.fixtures.histories import Event, history
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.training import training
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

pytestmark = pytest.mark.framed

MIB = 1 << 20
DANGER = "#c62828"
GROUPINGS = ["category", "stack", "op", "module", "dtype_shape", "step", "annotation"]
GROUPINGS += ["pool", "stream", "size", "lifetime", "age", "pattern"]
TORCH = "/env/lib/python3.11/site-packages/torch/nn/functional.py"
#: Bytes at the peak of ``training``, in the worked-out table of its docstring.
PEAK = 1000 + 300 + 512 + 2048 + 700


def _family() -> Recording:
    """Three allocations of one backward stack, with the stack of their forward; one is freed."""
    made = {"stack": 0, "forward_stack": 1}
    return history(
        [
            ("alloc", 0x1000, 512, made),
            ("alloc", 0x2000, 4096, made),
            ("alloc", 0x3000, 256, made),
            ("request", 0x2000, 4096, {"stack": 2}),
            ("free", 0x2000, 4096),
        ],
        stacks=[
            [("mm", TORCH, 3), ("backward", TORCH, 9), ("train", "/home/me/train.py", 41)],
            [("linear", TORCH, 9), ("forward", "/home/me/model.py", 88)],
            [("zero_grad", TORCH, 5), ("tidy", "/home/me/train.py", 57)],
        ],
    )


def _live(path: Path, births: int, *, live: bool) -> None:
    """A recording as a job writes it again and again: so many MiB, all kept."""
    events: list[Event] = [("alloc", MIB * (1 + n), MIB) for n in range(births)]
    made = history(events)
    path.parent.mkdir(parents=True, exist_ok=True)
    save(Recording({**made.meta, "live": live}, made.tables), path, compress=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on recordings in which everything that can be asked about has an answer."""
    folder = tmp_path_factory.mktemp("profiles")
    for name, recording in (("training", training().only_recorded()), ("family", _family())):
        path = folder / name / "plugins" / "memory" / f"{name}.tbmem"
        path.parent.mkdir(parents=True)
        save(recording, path, compress=True)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("profiles-cache"))}
    with TensorBoardServer(folder, environment=cache) as server:
        yield server


def _shown(page: Page, server: TensorBoardServer, name: str, **words: object) -> FrameLocator:
    frame = open_page(page, server.url + link(name, f"{name}.tbmem", **words))
    wait_for_table(frame)
    return frame


def _digits(text: str | None) -> int:
    return int(re.sub(r"\D", "", text or ""))


def test_all_groupings_are_offered(watched: Watched, served: TensorBoardServer) -> None:
    frame = _shown(watched.page, served, "training")
    offered = frame.locator("select option").evaluate_all("all => all.map(one => one.value)")
    assert offered == GROUPINGS


@pytest.mark.parametrize("by", GROUPINGS)
def test_every_grouping_is_drawn_and_adds_up(
    by: str, watched: Watched, served: TensorBoardServer
) -> None:
    words = {"pattern": "softmax, /model\\.py/"} if by == "pattern" else {}
    frame = _shown(watched.page, served, "training", by=by, axis="event", **words)
    chart = Chart(watched.page, frame)
    assert chart.highest() == PEAK
    rows = frame.locator("tr[aria-level='1']")
    shares = rows.locator("td:nth-child(2)").evaluate_all("all => all.map(one => one.title)")
    assert sum(_digits(share) for share in shares) == PEAK
    entries = frame.locator(".timeline-groups button")
    assert entries.count() >= min(2, len(shares))
    chart.hover_event(3, 3.5 / 10)
    assert chart.told() == PEAK


def test_a_failed_allocation_is_marked_on_the_chart(
    watched: Watched, served: TensorBoardServer
) -> None:
    chart = Chart(watched.page, _shown(watched.page, served, "training", axis="event"))
    chart.hover(9 / 10)
    assert "9999 bytes did not fit" in chart.frame.get_by_test_id("timeline-tooltip").inner_text()
    watched.page.mouse.move(0, 0)
    red = [chart.column(9 / 10 + pixel / 700).get(DANGER, 0) for pixel in range(-9, 10)]
    assert max(red) > 20


def test_fragmentation_has_an_axis_of_its_own_and_says_its_formula(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = open_page(watched.page, server.url + link("loop", "loop.tbmem", axis="event"))
    wait_for_table(frame)
    chart = Chart(watched.page, frame)
    before = len(chart.column(1.005))
    frame.locator(".timeline-lines button", has_text="fragmentation").click()
    settle(watched.page)
    title = frame.locator(".timeline-lines button", has_text="fragmentation").get_attribute("title")
    assert "1 − allocated ÷ reserved" in (title or "")
    assert len(chart.column(0.97)) > before  # the words of an axis stand where nothing was


def test_an_allocation_is_explained_with_its_stacks_and_siblings(
    watched: Watched, served: TensorBoardServer
) -> None:
    frame = _shown(watched.page, served, "family", by="stack", axis="event")
    frame.locator("tr[aria-level='1'] [data-fold]").click()
    frame.locator("tr[aria-level='2']").first.click()
    said = frame.locator(".inspector")
    said.locator(".facts-list").wait_for()
    assert "4\u202f096\u00a0bytes" in said.inner_text()
    birth = said.get_by_label("Stack of birth")
    assert "train · train.py:41" in birth.inner_text()
    assert "functional.py" not in birth.inner_text()
    birth.get_by_role("button", name="2 frames of torch").click()
    assert "mm · functional.py:3" in birth.inner_text()
    assert "forward · model.py:88" in said.get_by_label("Stack of its forward").inner_text()
    assert "tidy · train.py:57" in said.get_by_label("Stack of death").inner_text()
    siblings = said.get_by_label("Siblings")
    assert "3\u00a0allocations, 4.75\u00a0KiB in all, 3 alive at the peak" in siblings.inner_text()
    before = words_of(settled_address(watched.page, "p.memory.allocation="))["allocation"]
    siblings.get_by_role("button", name="next").click()
    watched.page.wait_for_function("was => !location.hash.includes(was)", arg=f"ation={before}")
    said.get_by_text("256\u00a0bytes").first.wait_for()
    assert siblings.get_by_role("button", name="next").is_disabled()


@pytest.mark.framed(False)  # the button is TensorBoard's
def test_a_run_still_being_written_follows_tensorboards_reload(
    watched: Watched, tmp_path: Path
) -> None:
    path = tmp_path / "run" / "plugins" / "memory" / "live.tbmem"
    _live(path, 3, live=True)
    with TensorBoardServer(tmp_path) as server:
        frame = open_page(watched.page, server.url + TAB)
        wait_for_table(frame)
        row = frame.locator(".recording", has_text="run")
        row.filter(has_text="live").wait_for()
        assert peak(frame) == "3.00 MiB"
        for births, live in ((7, True), (8, False)):
            _live(path, births, live=live)
            watched.page.locator(".reload-button").first.click()
            frame.locator(".numbers .big", has_text=f"{births}.00\u00a0MiB").wait_for()
        row.filter(has_not_text="live").wait_for()
        watched.page.goto("about:blank")  # before the server it polls is gone


def test_a_large_recording_says_how_far_it_is(
    watched: Watched, tmp_path: Path, everywhere: Any
) -> None:
    structure = snapshot(events=150_000, shared_lists=False, depth=30)
    (tmp_path / "run").mkdir()
    path = write_pickle(structure, tmp_path / "run" / "huge.pickle")
    os.utime(path, (1, 1))
    with TensorBoardServer(tmp_path) as server:
        frame = open_page(watched.page, server.url + link("run", "huge.pickle"))
        bar = frame.get_by_role("progressbar", name="Reading the recording")
        bar.wait_for()
        frame.get_by_role("status").filter(has_text="%").wait_for()
        assert "huge.pickle" in frame.locator(".state").inner_text()
        wait_for_table(frame)
        chart = Chart(watched.page, frame)
        births = sum(event["action"] == "alloc" for event in structure["device_traces"][0])
        assert f"{births:,}".replace(",", "\u202f") in frame.locator(".numbers").inner_text()
        assert len(chart.column(0.5)) > 3
        everywhere(watched.page, "huge")
        watched.page.goto("about:blank")
