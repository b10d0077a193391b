"""Stack, heap and free as the allocators of real XPlanes report them, and bands of HLO modules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tests.browser.charting import Chart
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.xplanes import FILES, numbers, opened

if TYPE_CHECKING:
    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

STACK, HEAP = "#ee8866", "#4477aa"


def reported(shared_data: Path, run: str, device: str) -> list[dict[str, Any]]:
    """What the allocator of a device says after every event, row by row."""
    recording = load(shared_data / FILES[run]).recording
    index = recording.device(device).index
    rows = recording.table("reported").to_pylist()
    return [row for row in rows if row["device"] == index]


def test_a_tpu_by_area(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, everywhere: Any
) -> None:
    said = reported(shared_data, "tpu", "0")
    peak = max(said, key=lambda row: row["allocated"] + row["stack"])
    frame = opened(watched, profiled, "tpu", device="0")
    found = numbers(frame)
    assert found["Peak stack + heap"] == "20.02 GiB" and found["Stack then"] == "20.02 GiB"
    assert found["Allocations / frees"] == "117 / 117"

    frame.get_by_role("radio", name="stack, heap, free").click()
    chart = Chart(watched.page, frame)
    assert words_of(settled_address(watched.page, "areas"))["areas"] == "allocator"
    assert chart.highest() == peak["allocated"] + peak["stack"]
    # In the second half most of the chart is the stack of a program, under what is free.
    colours = chart.column(0.7)
    assert colours.get(STACK, 0) > 100 and colours.get(HEAP, 0) < 5
    chart.hover(0.7)
    assert "stack + heap" in frame.get_by_test_id("timeline-tooltip").inner_text()
    everywhere(watched.page, "areas")

    recording = load(shared_data / FILES["tpu"]).recording
    time = int(recording.values("events", "time", recording.device("0"))[peak["event"]])
    frame.locator(".numbers button", has_text=f"+{time / 1e9:.1f}").click()
    settle(watched.page)
    assert words_of(watched.page.url)["at"] == str(peak["event"])


def test_what_is_free_is_left_out_where_it_would_dwarf_the_rest(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    said = reported(shared_data, "mi300", "GPU_0_bfc")
    frame = opened(watched, profiled, "mi300", device="GPU_0_bfc", areas="allocator")
    chart = Chart(watched.page, frame)
    assert chart.highest() == max(row["allocated"] + row["stack"] for row in said)
    before = chart.column(0.3)[HEAP]
    free = frame.get_by_role("button", name="free", exact=True)
    assert free.get_attribute("aria-pressed") == "false"
    free.click()
    settle(watched.page)
    assert chart.column(0.3).get(HEAP, 0) < before / 10
    assert "sum" in numbers_note(frame, "Before the window")


def numbers_note(frame: Any, label: str) -> str:
    fact = frame.locator("dl.numbers > div", has_text=label)
    return str(fact.locator(".note").inner_text())


def test_nothing_is_offered_where_nothing_is_reported(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    frame = opened(watched, profiled, "bert", areas="allocator")
    Chart(watched.page, frame)
    assert frame.get_by_role("radiogroup", name="Areas").count() == 0
    assert "Peak stack + heap" not in numbers(frame)
    assert frame.get_by_role("group", name="HLO modules").count() == 0


def test_a_sum_is_no_block(watched: Watched, profiled: TensorBoardServer) -> None:
    frame = opened(watched, profiled, "graphs", device="1:0", by="op")
    assert "sum" in numbers_note(frame, "Before the window")
    row = frame.locator("tr[data-row]", has_text="before the window")
    assert "sum" in row.inner_text()


def test_modules(watched: Watched, profiled: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, profiled, "tpu", device="0")
    chart = Chart(watched.page, frame)
    track = frame.get_by_test_id("timeline-modules")
    assert track.get_attribute("aria-label") != "0 modules in view"
    box: Any = chart.box(track)
    watched.page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + 8)
    settle(watched.page)
    window = words_of(watched.page.url)["window"].split("..")
    card = frame.locator(".inspector").inner_text()
    assert "jit_f(" in card and "HLO module · TPU:0" in card
    assert int(window[1]) - int(window[0]) < 2_000_000_000  # of 95 s
    everywhere(watched.page, "module")

    watched.page.set_viewport_size({"width": 1400, "height": 900})
    settle(watched.page)
    box = chart.box(track)
    watched.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 8)
    tip = frame.get_by_test_id("timeline-item-tooltip")
    tip.wait_for()
    assert "→" in tip.inner_text() and "on TPU:0" in tip.inner_text()
    watched.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 8)
    settle(watched.page)
    assert "window" not in words_of(watched.page.url)


@pytest.mark.parametrize(
    ("run", "key", "on"), [("tpu", "0", "TPU:0"), ("mi300", "GPU_0_bfc", "GPU:0")]
)
def test_a_click_on_a_band_zooms_to_its_module(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, run: str, key: str, on: str
) -> None:
    recording = load(shared_data / FILES[run]).recording
    times = recording.values("events", "time", recording.device(key)).tolist()
    first, last = times[0], times[-1]
    ran = [
        row
        for row in recording.table("spans").to_pylist()
        if row["kind"] == "hlo_module" and row["track"].startswith(on)
    ]
    ran = [row for row in ran if row["begin"] >= first and row["end"] <= last]
    longest = max(ran, key=lambda row: row["end"] - row["begin"])
    took = longest["end"] - longest["begin"]
    frame = opened(watched, profiled, run, device=key)
    chart = Chart(watched.page, frame)
    box: Any = chart.box(frame.get_by_test_id("timeline-modules"))
    assert took / (last - first) * box["width"] > 2  # pixels: it can be pointed at
    across = (longest["begin"] + took / 2 - first) / (last - first)
    watched.page.mouse.click(box["x"] + across * box["width"], box["y"] + 8)
    settle(watched.page)
    begin, end = map(int, words_of(watched.page.url)["window"].split(".."))
    assert begin <= longest["begin"] and longest["end"] <= end
    assert end - begin <= 1.03 * took + 3
    card = frame.locator(".inspector").inner_text()
    assert longest["name"] in card and f"HLO module · {on}" in card


def test_modules_by_event(watched: Watched, profiled: TensorBoardServer) -> None:
    frame = opened(watched, profiled, "tpu", device="0", axis="event")
    chart = Chart(watched.page, frame)
    track = frame.get_by_test_id("timeline-modules")
    box: Any = chart.box(track)
    watched.page.mouse.move(box["x"] + 0.15 * box["width"], box["y"] + 8)
    tip = frame.get_by_test_id("timeline-item-tooltip")
    tip.wait_for()
    lines = tip.inner_text().split("\n")
    assert any("event" in line and "→" in line for line in lines)
    assert any("→" in line and line.endswith("s") and "event" not in line for line in lines)
