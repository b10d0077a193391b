"""What browser tests of the Trace view share: where its spans are, from the recording itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tb_memory_plugin.api import load
from tb_memory_plugin.recording.recording import Recording
from tests.browser.charting import LEFT, RIGHT
from tests.browser.looking import settle
from tests.browser.xplanes import FILES, opened
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

    from tests.browser.conftest import Watched

#: Pixels of a track's head, from one lane to the next, and below the last, as the page has them.
HEAD, PITCH, BELOW = 20, 18, 5

#: The colours along a row of pixels of a canvas that is moved, in the part of it that is seen.
ROW_OF_PIXELS = """(canvas, y) => {
  const [all, seen] = [canvas, canvas.parentElement].map((each) => each.getBoundingClientRect());
  const scale = canvas.width / all.width;
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, 0);
  const first = Math.round((seen.left - all.left) * scale);
  const width = Math.round(seen.width * scale);
  const { data } = context.getImageData(first, Math.floor(y * scale), width, 1);
  return Array.from({ length: data.length / 4 }, (_, at) => data[4 * at + 3]);
}"""


@dataclass(frozen=True)
class Drawn:
    """A span and where it must be drawn."""

    id: str
    name: str
    track: int
    depth: int
    begin: int
    end: int


def spans(recording: Recording) -> list[Drawn]:
    """All spans of a recording with their tracks and depths."""
    table = recording.table("spans")
    places = recording.table("span_places").column("place").to_numpy()
    lanes, order = recording.table("span_lanes"), recording.table("span_order")
    lane = np.searchsorted(lanes.column("first").to_numpy(), places, side="right") - 1
    columns = zip(
        table.column("name").to_pylist(),
        lanes.column("track").to_numpy()[lane].tolist(),
        lanes.column("depth").to_numpy()[lane].tolist(),
        order.column("begin").to_numpy()[places].tolist(),
        order.column("end").to_numpy()[places].tolist(),
        strict=True,
    )
    return [Drawn(str(row), *each) for row, each in enumerate(columns)]


def top_of(tracks: list[dict[str, Any]], track: int, depth: int) -> int:
    """Pixels from the top of a panel's tracks, as the answer of ``trace`` has them, to a lane."""
    kind = tracks[track]["kind"]
    before = [each for each in tracks[:track] if each["kind"] == kind]
    return sum(HEAD + each["lanes"] * PITCH + BELOW for each in before) + HEAD + depth * PITCH


def recorded(shared_data: Path, run: str) -> Recording:
    return load(shared_data / FILES[run]).recording


class Traced:
    """The Trace view of an open page."""

    def __init__(self, page: Page, frame: FrameLocator) -> None:
        self.page = page
        self.frame = frame
        self.chart = frame.get_by_test_id("timeline-canvas")
        self.tooltip = frame.get_by_test_id("trace-tooltip")
        self.inspector = frame.locator(".inspector")

    def glass(self, kind: str) -> Any:
        return self.frame.get_by_test_id(f"trace-{kind}-glass")

    def plot(self) -> tuple[float, float]:
        """Left edge and width of the plot, in pixels of the page, as the chart has them."""
        box = cast("dict[str, float]", self.chart.bounding_box())
        return box["x"] + LEFT, box["width"] - LEFT - RIGHT

    def scroll(self, kind: str, top: float) -> float:
        """Scrolls a panel; answers how far it went."""
        panel = self.frame.get_by_test_id(f"trace-{kind}")
        went = panel.evaluate("(panel, top) => ((panel.scrollTop = top), panel.scrollTop)", top)
        settle(self.page)
        return float(went)

    def lane(self, kind: str, top: float) -> list[int]:
        """How opaque each pixel along a row ``top`` pixels below the upper edge of a panel is."""
        items = self.frame.get_by_test_id(f"trace-{kind}-items")
        return cast("list[int]", items.evaluate(ROW_OF_PIXELS, top))

    def point(
        self, kind: str, window: tuple[int, int], at: float, top: float
    ) -> tuple[float, float]:
        """Where a time is on the page, ``top`` pixels below the upper edge of a panel."""
        self.glass(kind).scroll_into_view_if_needed()
        left, width = self.plot()
        box = self.glass(kind).bounding_box()
        return left + (at - window[0]) / (window[1] - window[0]) * width, box["y"] + top


def traced(watched: Watched, server: TensorBoardServer, run: str, **words: object) -> Traced:
    """The view on a recording of :data:`FILES`."""
    frame = opened(watched, server, run, view="trace", **words)
    frame.locator(".trace-panels").wait_for()
    settle(watched.page)
    return Traced(watched.page, frame)


def reopened(watched: Watched, address: str) -> None:
    """Opens a link to the view as if it came from somebody else."""
    watched.page.goto("about:blank")
    watched.page.goto(address)
    watched.page.frame_locator("iframe[src*='name=memory']").locator(".trace-panels").wait_for()
    settle(watched.page)


def window_of(value: tuple[int, int]) -> str:
    """A window as links have it."""
    return f"{value[0]}..{value[1]}"


def asked(server: TensorBoardServer, route: str, run: str, **words: object) -> Any:
    """An answer of the server about a run, as the page would ask for it."""
    sources = server.sources(after=len(FILES)).values()
    (source,) = (each["id"] for each in sources if each["run"] == run)
    version = server.opened(source)["version"]
    return json.loads(server.get(route, source=source, version=version, **words).body)
