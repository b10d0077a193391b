"""Bars of the buffers alive in a plan: their orders, what is told of one, its life on the chart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.charting import LEFT, RIGHT
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator

    from tests.browser.conftest import Watched

MIB = 1 << 20
STEP = "jit_train_step.hlo_proto.pb"
TPU = "tpu_4device.xplane.pb"
#: Pixels across of what is painted of a colour in a row of a canvas: the first and the last.
_EXTENT = """(canvas, [y, colour]) => {
  const ratio = canvas.width / canvas.clientWidth;
  const row = canvas.getContext("2d").getImageData(0, Math.round(y * ratio), canvas.width, 1).data;
  const found = [];
  for (let at = 0; at < row.length; at += 4) {
    const hex = [...row.slice(at, at + 3)].map(v => v.toString(16).padStart(2, "0")).join("");
    if (row[at + 3] > 200 && `#${hex}` === colour) found.push(at / 4 / ratio);
  }
  return [found[0], found.at(-1)];
}"""
ACCENT, TEXT = "#f57c00", "#212121"


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("bars")
    for run, file in (("step", STEP), ("tpu", TPU)):
        (folder / run).mkdir()
        (folder / run / file).symlink_to(shared_data / "xla" / file)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("bars-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    path = shared_data / "xla" / "jax_transformer_cpu.jit_train_step.memory_viewer.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def show(watched: Watched, server: TensorBoardServer, **words: object) -> FrameLocator:
    frame = open_page(watched.page, server.url + link("step", STEP, **words))
    frame.get_by_role("group", name="Bars of buffers").wait_for()
    settle(watched.page)
    return frame


def whole(words: str) -> int:
    """The bytes in brackets of ``4.00 MiB (4 194 304 bytes), 1.9 %``."""
    return int("".join(filter(str.isdigit, words.partition("(")[2].partition("b")[0])))


def walked(watched: Watched, frame: FrameLocator, bar: int, most: int) -> list[tuple[str, int]]:
    """Names and sizes of the first buffers of a bar, reached with keys."""
    frame.get_by_role("group", name="Bars of buffers").focus()
    keys = watched.page.keyboard
    for key in ("Home", "ArrowUp", "ArrowUp", *(["ArrowDown"] * bar), "Home"):
        keys.press(key)
    found = []
    tip = frame.get_by_test_id("bars-tooltip")
    for _ in range(most):
        title = tip.locator(".timeline-tooltip-title").inner_text().strip()
        found.append((title, whole(tip.locator("[data-told=size]").inner_text())))
        keys.press("ArrowRight")
    return found


def test_buffers_stand_in_the_orders_that_xprof_has(
    watched: Watched, server: TensorBoardServer, expected: dict[str, Any]
) -> None:
    frame = show(watched, server)
    head = frame.locator(".bars h2 [data-bytes]")
    assert int(head.get_attribute("data-bytes") or 0) == expected["peakHeapMib"] * MIB

    by_size = [each["logicalBufferSizeMib"] * MIB for each in expected["maxHeapBySize"]]
    assert [size for _, size in walked(watched, frame, 1, 40)] == by_size[:40]
    # Nothing is padded on a CPU: the last bar is as the one by size.
    assert walked(watched, frame, 2, 40) == walked(watched, frame, 1, 40)

    least = head.evaluate("() => document.querySelector('.bar').clientWidth")
    seen = [
        (each["instructionName"], each["logicalBufferSizeMib"] * MIB)
        for each in expected["maxHeap"]
        if each.get("groupName") == "Temporary"
        and each["logicalBufferSizeMib"] >= expected["peakHeapMib"] / least
    ]
    in_order = walked(watched, frame, 0, 53 + 20)
    first = in_order.index(seen[0])
    assert in_order[first:] == seen[: len(in_order) - first]


def canvas_extent(of: Locator, y: float, colour: str) -> tuple[float, float]:
    first, last = of.evaluate(_EXTENT, [y, colour])
    return first, last


def test_a_buffer_pointed_at_stands_out_everywhere_and_a_click_explains_it(
    watched: Watched, server: TensorBoardServer, expected: dict[str, Any]
) -> None:
    frame = show(watched, server)
    largest = expected["maxHeapBySize"][0]
    bar = frame.get_by_test_id("bar-1")
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box is not None
    share = largest["logicalBufferSizeMib"] / expected["peakHeapMib"]
    watched.page.mouse.move(box["x"] + box["width"] * share / 2, box["y"] + 8)
    tip = frame.get_by_test_id("bars-tooltip")
    tip.wait_for()
    name = tip.locator(".timeline-tooltip-title").inner_text().strip()
    (span,) = [
        expected["logicalBufferSpans"][str(each["logicalBufferId"])]
        for each in expected["maxHeap"]
        if each.get("instructionName") == name
    ]
    settle(watched.page)
    for index in range(3):
        first, last = canvas_extent(frame.get_by_test_id(f"bar-over-{index}"), 10, TEXT)
        assert last - first == pytest.approx(box["width"] * share, abs=4)

    # Its life is drawn over the chart, as long as XProf says it is.
    overlay = frame.get_by_test_id("timeline-overlay")
    wide = overlay.evaluate("e => e.clientWidth") - LEFT - RIGHT
    first, last = canvas_extent(overlay, 16, ACCENT)
    events = len(expected["heapSizes"]) - 1
    begin, end = span["start"], span["limit"]
    assert first == pytest.approx(LEFT + wide * begin / events, abs=1.5)
    assert last == pytest.approx(LEFT + wide * end / events, abs=1.5)

    watched.page.mouse.down()
    watched.page.mouse.up()
    settle(watched.page)
    selected = words_of(settled_address(watched.page, "p.memory.allocation="))["allocation"]
    frame.get_by_label("Inspector").get_by_text(name).first.wait_for()
    # Enter has the same buffer explained that keys reach.
    frame.get_by_role("group", name="Bars of buffers").focus()
    for key in ("Home", "ArrowDown", "Home", "Enter"):
        watched.page.keyboard.press(key)
    settle(watched.page)
    assert words_of(watched.page.url)["allocation"] == selected


def test_a_row_pointed_at_is_found_in_the_bars_and_on_the_chart(
    watched: Watched, server: TensorBoardServer, expected: dict[str, Any]
) -> None:
    frame = show(watched, server, table="allocations")
    largest = expected["maxHeapBySize"][0]
    span = expected["logicalBufferSpans"][str(largest["logicalBufferId"])]
    row = frame.locator("tr[data-row]").filter(has_text=largest["instructionName"]).first
    row.scroll_into_view_if_needed()
    row.hover()
    settle(watched.page)
    share = largest["logicalBufferSizeMib"] / expected["peakHeapMib"]
    for index in range(3):
        bar = frame.get_by_test_id(f"bar-over-{index}")
        first, last = canvas_extent(bar, 10, TEXT)
        wide = bar.evaluate("e => e.clientWidth")
        assert last - first == pytest.approx(wide * share, abs=4)
    overlay = frame.get_by_test_id("timeline-overlay")
    wide = overlay.evaluate("e => e.clientWidth") - LEFT - RIGHT
    events = len(expected["heapSizes"]) - 1
    first, last = canvas_extent(overlay, 16, ACCENT)
    assert first == pytest.approx(LEFT + wide * span["start"] / events, abs=1.5)
    assert last == pytest.approx(LEFT + wide * span["limit"] / events, abs=1.5)


def test_a_scalar_takes_a_tile_of_the_sparse_core(
    watched: Watched, server: TensorBoardServer
) -> None:
    # f32[]{:T(128)S(6)}: one of 128 elements is not padding.
    frame = open_page(watched.page, server.url + link("tpu", TPU, view="plan", device="plan:7"))
    bars = frame.get_by_role("group", name="Bars of buffers")
    bars.wait_for()
    settle(watched.page)
    bars.focus()
    watched.page.keyboard.press("Home")
    tip = frame.get_by_test_id("bars-tooltip")
    told = {
        word: tip.locator(f"[data-told={word}]").inner_text()
        for word in ("shape", "size", "unpadded", "padding", "expansion")
    }
    assert told["shape"] == "f32[]{:T(128)S(6)}"
    sizes = [whole(told[word]) for word in ("size", "unpadded", "padding")]
    assert sizes == [128 * 4, 4, 127 * 4]
    assert told["expansion"] == "128×"
    frame.get_by_role("button", name="without padding").wait_for()
