"""What PyTorch's profiler exports on the page: traces and memory timelines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import link, open_page, peak, settle, wait_for_table
from tests.browser.picturing import Picture
from tests.fixtures.kineto import memory, span, totals
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

KIB = 1024
US = 1_795_961_962_209_401


def trace() -> bytes:
    """Two steps of a layer that keeps what it makes, above 1 MiB that was there before."""
    events, total, index = [], 1 << 20, 0
    for step in (3, 4):
        at = 100.0 * step
        events += [
            span(f"ProfilerStep#{step}", at, 90, "user_annotation"),
            span("train.py(12): main", at, 90, "python_function"),
            span("nn.Module: Linear_0", at + 5, 50, "python_function"),
            span("aten::linear", at + 10, 30),
        ]
        for place in range(4):
            total += 64 * KIB
            index += 1
            where = 0x7000_0000_0000 + 64 * KIB * index
            event = memory(at + 11 + place, 64 * KIB, where, args=totals(total, 4 << 20, index))
            events.append(event)
    about = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "totalGlobalMem": 8 << 20}]}
    return json.dumps({**about, "traceEvents": events}).encode()


def levels() -> bytes:
    """A parameter that stays, activations that come and go."""
    rows = [[0, 4096, 0, 0, 0, 1024 * at, 0, 0, 0] for at in (0, 1, 2, 3, 2, 1, 0)]
    return json.dumps([[US + 1_000 * at for at in range(len(rows))], rows]).encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on one of each."""
    folder = tmp_path_factory.mktemp("exports")
    run = folder / "run"
    run.mkdir()
    (run / "rank0.pt.trace.json.gz").write_bytes(gzip.compress(trace(), mtime=0))
    (run / "timeline.json").write_bytes(levels())
    picture = "<html><head><title>GPU Memory Timeline HTML</title></head></html>"
    (run / "timeline.html").write_text(picture)
    cache = tmp_path_factory.mktemp("exports-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


def opened(
    watched: Watched, server: TensorBoardServer, source: str, **words: object
) -> FrameLocator:
    frame = open_page(watched.page, server.url + link("run", source, **words))
    settle(watched.page)
    return frame


def rows(frame: FrameLocator) -> dict[str, str]:
    """Names and bytes of the groups."""
    found = frame.locator("table.groups tr[data-row]").all()
    cells = [row.locator("td").all_inner_texts() for row in found]
    return {row[0].strip("▸▾ \n"): row[1].replace("\u00a0", " ") for row in cells}


def test_a_trace_in_the_profile(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    frame = opened(watched, server, "rank0.pt.trace.json.gz", by="module")
    wait_for_table(frame)

    assert peak(frame) == "1.50 MiB"
    assert rows(frame) == {"before the window": "1.00 MiB", "Linear_0": "512.0 KiB"}
    text = frame.locator(".shell").inner_text().replace("\u00a0", " ")
    assert "4.00 MiB" in text and "of 8.00 MiB" in text  # reserved, capacity
    assert "8 / 0" in text  # allocations, frees
    everywhere(watched.page, "trace-profile")
    frame.get_by_role("button", name="op", exact=True).click()
    settle(watched.page)
    assert rows(frame)["aten::linear"] == "512.0 KiB"


def test_a_trace_in_the_flame_graph(watched: Watched, server: TensorBoardServer) -> None:
    frame = opened(watched, server, "rank0.pt.trace.json.gz", view="flame")

    # What both steps keep is of one call: steps are no frames.
    row = frame.get_by_role("button", name="main · train.py:12", exact=True)
    assert "512.0 KiB" in frame.locator("tr", has=row).inner_text().replace("\u00a0", " ")
    assert frame.get_by_role("button", name="ProfilerStep").count() == 0
    row.click()
    settle(watched.page)


def test_a_trace_has_no_segments(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    frame = opened(watched, server, "rank0.pt.trace.json.gz", view="segments")

    text = frame.locator(".shell").inner_text().replace("\u00a0", " ")
    assert "does not say which segments the allocator of cuda:0 holds" in text
    assert "add up to" not in text and "maps or unmaps" not in text
    assert frame.locator(".segments").locator("canvas, button, dl").count() == 0
    everywhere(watched.page, "trace-segments")


def test_a_link_by_address_shows_what_has_one_and_says_what_has_not(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = opened(watched, server, "rank0.pt.trace.json.gz", view="allocations", layout="address")

    assert frame.locator("[data-key=address]").get_attribute("aria-checked") == "true"
    said = frame.get_by_test_id("allocations-hidden").inner_text()
    assert "alive before the window are not shown" in said and "sum only" in said
    assert frame.get_by_test_id("allocations-instead").count() == 0
    assert frame.get_by_role("button", name="Try again").count() == 0


def test_a_trace_in_allocations(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    asked = {"view": "allocations", "by": "module", "axis": "event"}
    whole = Picture(watched.page, opened(watched, server, "rank0.pt.trace.json.gz", **asked))
    assert whole.highest() == ((1 << 20) + 8 * 64 * KIB, 9)  # what was there before is one of them
    everywhere(watched.page, "trace-allocations")
    begun = opened(watched, server, "rank0.pt.trace.json.gz", **asked, window="1..4")
    assert Picture(watched.page, begun).highest() == ((1 << 20) + 4 * 64 * KIB, 5)


def test_levels_in_the_profile(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    frame = opened(watched, server, "timeline.json", by="category")
    wait_for_table(frame)

    assert peak(frame) == "7.00 KiB"
    assert rows(frame) == {"Parameter": "4.00 KiB", "Activation": "3.00 KiB"}
    said = frame.locator(".shell").inner_text()
    assert "allocations" in said and "name of the device" in said
    everywhere(watched.page, "timeline-profile")


def test_a_picture_says_what_to_export(watched: Watched, server: TensorBoardServer) -> None:
    frame = opened(watched, server, "timeline.html")

    frame.get_by_text("holds a picture and no numbers").first.wait_for()
    assert ".raw.json.gz" in frame.locator(".shell").inner_text()
