"""What browser tests ask of the map of segments, and the snapshots that it is drawn of."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.browser.looking import link, open_page, settle
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

    from tests.browser.conftest import Watched


REAL = (
    "small_train",
    "oom_expandable_3gpu",
    "private_pools_nohistory",
    "no_time_us_segments",
)


#: A made one whose private pools give segments back, and with frees that wait.
POOLS: dict[str, Any] = {
    "events": 3_000,
    "seed": 9,
    "private_pools": True,
    "pending": 0.2,
    "capacity": 384 << 20,
}


#: Pixels right of the plot while fragmentation has an axis there.
RIGHT = 48


@pytest.fixture(scope="session")
def segments_server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots and made ones with private pools, told or not."""
    folder = tmp_path_factory.mktemp("segments")
    for name in REAL:
        (folder / name).mkdir()
        target = shared_data / "snapshots" / f"{name}.pickle"
        (folder / name / "snapshot.pickle").symlink_to(target)
    for name, told_by_events in (("pools", True), ("untold", False)):
        (folder / name).mkdir()
        made = snapshot(**POOLS, event_pools=told_by_events)
        write_pickle(made, folder / name / "snapshot.pickle")
    cache = tmp_path_factory.mktemp("segments-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


@pytest.fixture(scope="session")
def small(shared_data: Path) -> dict[str, Any]:
    """A snapshot of a small training loop, as Python has it."""
    with (shared_data / "snapshots" / "small_train.pickle").open("rb") as file:
        return cast("dict[str, Any]", pickle.load(file))


def show(watched: Watched, server: TensorBoardServer, run: str, **words: object) -> FrameLocator:
    """Opens the view on a run and waits for its first state."""
    address = link(run, "snapshot.pickle", view="segments", **words)
    frame = open_page(watched.page, f"{server.url}{address}")
    frame.get_by_test_id("segments-state").wait_for()
    settle(watched.page)
    return frame


def told(frame: FrameLocator, label: str) -> int:
    """Whole bytes of a number of the state."""
    found = frame.locator(f"[data-testid=segments-state] [data-exact='{label}']")
    return int(found.get_attribute("data-bytes") or "")


def in_words(size: int) -> str:
    """Bytes as the page writes them, with a plain space before the unit."""
    power = max(0, (size.bit_length() - 1) // 10)
    value = size / 1024**power
    digits = 0 if power == 0 else 1 if value >= 99.95 else 2
    return f"{value:.{digits}f} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def event_of(frame: FrameLocator) -> int:
    return int(frame.locator("[data-event]").first.get_attribute("data-event") or "")


def wait_for_event(frame: FrameLocator, event: int) -> None:
    frame.locator(f"[data-testid=segments-state] [data-event='{event}']").wait_for()


def replayed(small: dict[str, Any], event: int) -> tuple[int, int]:
    """Allocated and reserved after an event, worked out backwards from the end state."""
    allocated = sum(
        block["requested_size"]
        for segment in small["segments"]
        for block in segment["blocks"]
        if block["state"] != "inactive"
    )
    reserved = sum(segment["total_size"] for segment in small["segments"])
    signs = {"alloc": (1, 0), "free_completed": (-1, 0), "segment_alloc": (0, 1)}
    signs |= {"segment_free": (0, -1), "segment_map": (0, 1), "segment_unmap": (0, -1)}
    for entry in small["device_traces"][0][event + 1 :]:
        of_allocated, of_reserved = signs.get(entry["action"], (0, 0))
        allocated -= of_allocated * entry["size"]
        reserved -= of_reserved * entry["size"]
    return allocated, reserved


#: Places of the map as ``find`` walks them, those first that are among the first of their colour.
_PLACES = """(map, few) => {
  const canvas = map.querySelector("canvas");
  const [outer, inner] = [map, canvas].map((each) => each.getBoundingClientRect());
  const ratio = canvas.width / inner.width;
  const pixels = new Uint32Array(
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const [seen, first, others] = [new Map(), [], []];
  for (let y = Math.floor(outer.height) - 12; y > 8; y -= 11)
    for (let x = 2; x < outer.width - 20; x += 7) {
      const [across, down] = [x + outer.left - inner.left, y + outer.top - inner.top];
      const at = Math.floor(down * ratio) * canvas.width + Math.floor(across * ratio);
      seen.set(pixels[at], (seen.get(pixels[at]) ?? 0) + 1);
      (seen.get(pixels[at]) > few ? others : first).push([x, y]);
    }
  return [...first, ...others];
}"""


def find(frame: FrameLocator, page: Page, words: str) -> str:
    """Moves over the map, from its last line up, until the tooltip holds ``words``; its text.

    A few places of every colour come first: there are thousands, and a move takes a moment.
    """
    shown = frame.get_by_test_id("segments-map")
    box = shown.bounding_box()
    assert box
    tooltip = frame.get_by_test_id("segments-tooltip")
    for x, y in shown.evaluate(_PLACES, 8):
        page.mouse.move(box["x"] + x, box["y"] + y)
        if tooltip.count() and words in (text := tooltip.inner_text()):
            return text.replace("\u202f", "").replace("\u00a0", " ")
    raise AssertionError(f"nothing in the map says {words!r}")


BACKGROUNDS = """all => all.map(each => "#" + getComputedStyle(each).backgroundColor
  .match(/\\d+/g).slice(0, 3).map(part => Number(part).toString(16).padStart(2, "0")).join(""))"""


def colours(canvas: Locator) -> set[str]:
    """The colours that at least some pixels of a canvas have."""
    found = canvas.evaluate("""canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set();
      for (let at = 0; at < data.length; at += 4)
        found.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      return [...found];
    }""")
    return {f"#{colour:06x}" for colour in found}


def exact(frame: FrameLocator, label: str) -> int:
    found = frame.locator(f"[data-testid=segments-tooltip] [data-exact='{label}']").inner_text()
    return int(re.sub(r"\D", "", found))
