"""The map of a real snapshot with private pools and pending frees, byte by byte and by pixel."""

from __future__ import annotations

import csv
import math
import pickle
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.laid import BAR, HEAD, LINE, Painted, Part, Strip, parts, strips
from tests.browser.looking import settle
from tests.browser.mapping import exact, in_words, show, told
from tests.browser.picturing import Picture
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed

NAME = "private_pools_nohistory"
#: Keeps what is written on the map, and how far down.
WRITTEN = """
  const { fillText } = CanvasRenderingContext2D.prototype;
  globalThis.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (this.canvas.dataset.testid === "segments-canvas") globalThis.written.push([text, y]);
    return fillText.call(this, text, x, y);
  };
"""


@pytest.fixture(scope="module")
def server(segments_server: TensorBoardServer) -> TensorBoardServer:
    """One on real snapshots and a made one with private pools."""
    return segments_server


@pytest.fixture(scope="module")
def segments(shared_data: Path) -> list[dict[str, Any]]:
    with (shared_data / "snapshots" / f"{NAME}.pickle").open("rb") as file:
        found: list[dict[str, Any]] = pickle.load(file)["segments"]
    return found


def test_every_byte_has_its_row_its_words_and_its_colour(
    watched: Watched, server: TensorBoardServer, segments: list[dict[str, Any]], pictures: Any
) -> None:
    watched.page.add_init_script(WRITTEN)
    frame = show(watched, server, NAME)
    plugin = next(each for each in watched.page.frames if "name=memory" in each.url)
    shown = Painted(frame.get_by_test_id("segments-canvas"))
    laid = list(strips(segments, shown.width))
    # Rows by pool and stream, each under a heading that sums it up.
    written = {(text.replace("\u00a0", " "), y) for text, y in plugin.evaluate("() => written")}
    tops = {}
    for strip in laid:
        tops.setdefault(tuple(strip.segment["segment_pool_id"]), strip.y - HEAD + 13)
    assert list(tops) == [(0, 0), (0, 1), (0, 2)]
    for pool, top in tops.items():
        own = [each for each in segments if each["segment_pool_id"] == pool]
        free = [part.end - part.begin for each in own for part in parts(each, "free")]
        held = in_words(sum(each["total_size"] for each in own))
        name = "private pool {},{}".format(*pool) if pool != (0, 0) else "default pool"
        assert (f"{name}, default stream", top) in written
        most = f"{in_words(sum(free))} free, the largest {in_words(max(free, default=0))}"
        sums = f"{held} in {len(own)} segments · {most if free else 'nothing free'}"
        assert (sums, top) in written
    found = compared(shown, laid, 0)
    assert found["requested"] > 5000 and found["pending"] > 130 and found["free"] > 100
    # Holes are told to the byte, the largest as such.
    holes = [(each, part) for each in segments for part in parts(each, "free")]
    holes.sort(key=lambda hole: hole[1].end - hole[1].begin, reverse=True)
    for place, (segment, part) in enumerate(holes[:4]):
        text = hover(watched, frame, laid, segment, part)
        assert text.startswith("free\n" if place else "the largest free range\n")
        assert exact(frame, "free") == part.end - part.begin
        assert f"at {segment['address']:#x}" in text
        assert f"{len(parts(segment, 'free'))} hole" in text
    assert frame.get_by_test_id("events-rows").count() == 0
    assert frame.get_by_test_id("segments-play").count() == 0
    pictures(watched.page)


def test_blocks_that_wait_for_another_stream_are_told_and_drawn(
    watched: Watched, server: TensorBoardServer, segments: list[dict[str, Any]], picture: Any
) -> None:
    frame = show(watched, server, NAME)
    waiting = [(each, part) for each in segments for part in blocks(each, "active_pending_free")]
    sizes = {hex(each["address"] + begin): (s, r) for each, (begin, s, r) in waiting}
    assert len(sizes) == 9
    assert told(frame, "Pending free") == sum(size for size, _ in sizes.values())
    with watched.page.expect_download() as download:
        frame.locator(".segments-bar a[download]").click()
    with download.value.path().open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["state"] == "pending"]
    assert sizes == {
        hex(int(row["segment"], 16) + int(row["offset"])): (int(row["size"]), int(row["requested"]))
        for row in rows
    }
    for _ in range(7):
        frame.get_by_role("button", name="Zoom in").click()
    settle(watched.page)  # before, it cannot be scrolled as far
    area = frame.get_by_test_id("segments-map")
    laid = list(strips(segments, Painted(frame.get_by_test_id("segments-canvas")).width, 7))
    seen: Counter[str] = Counter()
    for segment, (begin, size, requested) in waiting:
        end = begin + size
        strip = next(s for s in laid if s.segment is segment and s.begin < end <= s.end)
        scroll = strip.y - 4 * LINE
        area.evaluate("(box, top) => { box.scrollTop = top; }", scroll)
        settle(watched.page)
        text = hover(watched, frame, laid, segment, Part(end - min(size, 2048), end, ""), scroll)
        address = hex(segment["address"] + begin)
        assert text.startswith(f"freed, waiting for another stream, at {address}\n")
        assert exact(frame, "pending free") == size
        assert exact(frame, "requested") == requested
        assert exact(frame, "rounding") == size - requested
        watched.page.mouse.move(5, 400)
        settle(watched.page)
        seen += compared(Painted(frame.get_by_test_id("segments-canvas")), laid, scroll)
    picture(watched.page, "zoomed")
    assert min(seen[kind] for kind in ("requested", "pending", "free")) > 3000
    assert seen["rounding"] > 5

    frame.get_by_role("tab", name="Allocations").click()
    shown = Picture(watched.page, frame)
    alive = [b for each in segments for b in each["blocks"] if b["state"] != "inactive"]
    assert shown.highest() == (sum(block["requested_size"] for block in alive), len(alive))
    for address, (_, requested) in sizes.items():
        frame.get_by_label("Find allocations").fill(f"{address} size:{requested}")
        hits = frame.get_by_test_id("allocations-hits")
        hits.filter(has_text=re.compile(r"^1\s?hit\b")).wait_for()


def blocks(segment: dict[str, Any], state: str) -> list[tuple[int, int, int]]:
    """Offset, size and requested bytes of the blocks in a state."""
    return [
        (block["address"] - segment["address"], block["size"], block["requested_size"])
        for block in segment["blocks"]
        if block["state"] == state
    ]


def hover(
    watched: Watched,
    frame: FrameLocator,
    laid: list[Strip],
    segment: dict[str, Any],
    part: Part,
    scroll: int = 0,
) -> str:
    """What is told in the middle of a part of a segment."""
    middle = (part.begin + part.end) // 2
    strip = next(s for s in laid if s.segment is segment and s.begin <= middle < s.end)
    box = frame.get_by_test_id("segments-map").bounding_box()
    assert box
    watched.page.mouse.move(box["x"] + strip.x_of(middle), box["y"] + strip.y - scroll + BAR / 2)
    tooltip = frame.get_by_test_id("segments-tooltip")
    tooltip.wait_for()
    settle(watched.page)
    return tooltip.inner_text().replace("\u202f", "").replace("\u00a0", " ")


def compared(shown: Painted, laid: list[Strip], scroll: int) -> Counter[str]:
    """Columns of each kind, in view and beside no edge or frame, all found of that kind."""
    found: Counter[str] = Counter()
    for strip in laid:
        top = strip.y - scroll
        if top < 0 or top + BAR > shown.height:
            continue
        for x in range(math.ceil(strip.x) + 2, math.floor(strip.x + strip.width) - 2):
            there = strip.between(x - 2, x + 3)
            if len(there) == 1:
                assert shown.kinds(x, top) == {there[0].kind}, (strip, x, top)
                found[there[0].kind] += 1
    return found
