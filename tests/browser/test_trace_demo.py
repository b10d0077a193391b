"""The demo's trace in the Trace view, with every panel, and together with its snapshot."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.demo.small import STEPS, small_runs
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = [pytest.mark.torch, pytest.mark.once, pytest.mark.framed]

SNAPSHOT, TRACE = "simulated_gpu.pickle", "simulated_gpu.pt.trace.json"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_runs(tmp_path_factory)


@pytest.fixture(scope="module")
def server(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("demo-cache"))}
    with TensorBoardServer(runs, environment=cache) as running:
        yield running


@pytest.fixture(scope="module")
def events(runs: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((runs / "fixed" / TRACE).read_text())["traceEvents"]
    return found


def _shown(watched: Watched, server: TensorBoardServer, **words: object) -> FrameLocator:
    where = link("fixed", TRACE, view="trace", device="1:0", **words)
    frame = open_page(watched.page, server.url + where)
    frame.locator(".trace-panels").wait_for()
    settle(watched.page)
    return frame


def _head(frame: FrameLocator, panel: str) -> str:
    text: str = frame.locator(f"[data-panel={panel}] .trace-head").inner_text()
    return text.replace("\u00a0", " ").replace("\u202f", " ")


def test_every_panel_has_what_the_file_has(
    watched: Watched,
    server: TensorBoardServer,
    events: list[dict[str, Any]],
    pictures: Any,
) -> None:
    frame = _shown(watched, server)
    lasting = [event for event in events if event["ph"] == "X"]
    work = ("kernel", "gpu_memcpy", "gpu_memset")
    on_device = Counter(each["tid"] for each in lasting if each["cat"] in work)
    assert "2 threads" in _head(frame, "host")
    assert f"{len(on_device)} streams" in _head(frame, "device")
    for stream, count in on_device.items():
        track = frame.locator("[data-panel=device] .trace-track", has_text=f"stream {stream}")
        said = track.locator(".trace-count").inner_text()
        assert int("".join(filter(str.isdigit, said.split("span")[0]))) >= count
    for kind in ("step", "module", "op", "Python", "runtime call"):
        assert kind in _head(frame, "host")
    for kind in ("kernel", "copy"):
        assert kind in _head(frame, "device")
    steps = frame.get_by_test_id("timeline-steps")
    assert steps.is_visible()
    assert frame.get_by_test_id("timeline-canvas").is_visible()
    frame.get_by_test_id("allocations-picture").wait_for()
    pictures(watched.page, "all-panels")


def test_a_kernel_leads_to_its_launch(
    watched: Watched, server: TensorBoardServer, runs: Path
) -> None:
    recording = load(runs / "fixed" / TRACE).recording
    spans = recording.table("spans").to_pylist()
    links = recording.table("links").to_pylist()
    row = next(each for each in links if each["kind"] == "launch" and _is_kernel(spans, each))
    low = min(spans[end]["begin"] for end in (row["source"], row["target"]))
    window = f"{low - 100_000}..{low + 400_000}"
    frame = _shown(watched, server, span=row["target"], window=window)
    arrow = frame.locator(f"[data-arrow='launch {row['source']} {row['target']}']")
    arrow.wait_for()
    linked = frame.locator(".inspector").get_by_role("region", name="Linked")
    linked.get_by_role("button").first.click()
    words = words_of(settled_address(watched.page, f"p.memory.span={row['source']}"))
    assert words["span"] == str(row["source"])
    assert spans[row["source"]]["kind"] == "runtime"


def _is_kernel(spans: list[dict[str, Any]], row: dict[str, Any]) -> bool:
    return bool(spans[row["target"]]["kind"] == "kernel")


def test_memory_by_step_is_what_the_file_says(
    watched: Watched, server: TensorBoardServer, events: list[dict[str, Any]]
) -> None:
    moves = [each for each in events if each["name"] == "[memory]"]
    born = [
        (each["ts"], each["args"]["Bytes"])
        for each in moves
        if each["args"]["Device Type"] == 1 and each["args"]["Bytes"] > 0
    ]
    steps = {
        each["name"]: sum(size for at, size in born if each["ts"] <= at < each["ts"] + each["dur"])
        for each in events
        if each["ph"] == "X" and each["name"].startswith("ProfilerStep#")
        if each["cat"] == "user_annotation"
    }
    assert len(steps) == STEPS and all(steps.values())
    frame = _shown(watched, server, sums="step.-allocated")
    rows = frame.get_by_role("region", name="Memory by span").locator("tbody tr").all()
    told = {
        row.locator("td.name").get_attribute("title"): row.locator("td:nth-child(4)")
        .get_attribute("title")
        .split("byte")[0]
        for row in rows
    }
    assert {name: int("".join(filter(str.isdigit, said))) for name, said in told.items()} == steps


def test_the_snapshot_and_the_trace_are_one_process(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    frame = open_page(watched.page, server.url + link("fixed", SNAPSHOT, view="trace"))
    settle(watched.page)
    offer = frame.locator(".pair-offer", has_text=TRACE)
    offer.wait_for()
    settle(watched.page)
    compare = offer.get_by_role("button", name="Compare")
    if compare.count():  # both were not read by others
        compare.click()
    matched = frame.locator("[data-state=matched]", has_text=TRACE)
    matched.wait_for()
    said = matched.inner_text().replace("\u00a0", " ")
    assert "is of the same process" in said and "what is left is" in said
    matched.get_by_role("button", name="Show together").click()
    frame.get_by_test_id("pair-open").wait_for()
    settle(watched.page)
    assert "2 threads" in _head(frame, "host") and "2 streams" in _head(frame, "device")
    pictures(watched.page, "pair")
