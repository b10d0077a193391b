"""What browser tests ask of the picture of allocations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from tests.browser.charting import ABOVE, BELOW, LEFT, RIGHT
from tests.browser.looking import settle

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

#: Of the picture, which lies on its side and is wider than the plot, the part that is seen.
_PIXELS = """(canvas) => {
  const [all, seen] = [canvas, canvas.parentElement].map((each) => each.getBoundingClientRect());
  const scale = canvas.height / all.width;
  const first = Math.max(0, Math.round((seen.left - all.left) * scale));
  const width = Math.min(canvas.height - first, Math.round(seen.width * scale));
  const copy = new OffscreenCanvas(canvas.width, width);
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, -first);
  const { data } = context.getImageData(0, 0, canvas.width, width);
  const names = [];
  const letters = new Map();
  const pixels = Array.from(new Uint32Array(data.buffer), (value) => {
    const known = letters.get(value);
    if (known !== undefined) return known;
    const hex = [value, value >>> 8, value >>> 16].map((one) => (one & 255).toString(16));
    names.push(value >>> 24 === 0 ? "" : "#" + hex.map((one) => one.padStart(2, "0")).join(""));
    letters.set(value, String.fromCodePoint(names.length - 1));
    return letters.get(value);
  });
  return { names, pixels: pixels.join(""), height: canvas.width, width };
}"""


class Picture:
    """The picture of an open page."""

    def __init__(self, page: Page, frame: FrameLocator) -> None:
        self.page = page
        self.frame = frame
        self.canvas = frame.get_by_test_id("allocations-picture")
        self.front = frame.get_by_test_id("allocations-front")
        self.axes = frame.get_by_test_id("allocations-axes")
        self.map = frame.get_by_test_id("timeline-map")
        self.tooltip = frame.get_by_test_id("allocations-tooltip")
        self.wait()

    def wait(self) -> None:
        """Waits until the picture is that of what was asked for."""
        self.frame.locator("[data-testid=allocations-axes][aria-label*=from]").wait_for()
        settle(self.page)
        self.frame.locator(".allocations-stage .timeline-busy").wait_for(state="detached")

    def box(self) -> dict[str, float]:
        """The plot, in pixels of the page."""
        found = cast("dict[str, float]", self.canvas.bounding_box())
        return {
            "x": found["x"] + LEFT,
            "y": found["y"] + ABOVE,
            "width": found["width"] - LEFT - RIGHT,
            "height": found["height"] - ABOVE - BELOW,
        }

    def point(self, across: float, up: float) -> tuple[float, float]:
        """A point at shares of the plot from its lower left corner."""
        box = self.box()
        return box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"]

    def hover(self, across: float, up: float) -> str:
        """What is said there."""
        self.page.mouse.move(*self.point(across, up))
        self.tooltip.wait_for()
        self.page.wait_for_timeout(50)
        return self.told()

    def told(self) -> str:
        return re.sub("[\u202f]", "", self.tooltip.inner_text()).replace("\u00a0", " ")

    def click(self, across: float, up: float) -> None:
        self.page.mouse.click(*self.point(across, up))

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Presses at one place and lets go at another."""
        self.page.mouse.move(*self.point(*begin))
        self.page.mouse.down()
        middle = ((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2)
        self.page.mouse.move(*self.point(*middle))
        self.page.mouse.move(*self.point(*end))
        self.page.mouse.up()

    def described(self) -> str:
        said = self.axes.get_attribute("aria-label") or ""
        return said.replace("\u202f", "").replace("\u00a0", " ")

    def highest(self) -> tuple[int, int]:
        """Whole bytes and allocations of the highest instant in view."""
        found = re.search(r"\((\d+) bytes?\) in (\d+) allocation", self.described())
        assert found, self.described()
        return int(found[1]), int(found[2])

    def pixels(self) -> list[list[str]]:
        """The colour of every pixel, column after column from the bottom up."""
        return pixels_of(self.front)


def pixels_of(front: Locator) -> list[list[str]]:
    """The colour of every pixel of a picture of lives, column after column from the bottom up."""
    found = cast("dict[str, Any]", front.evaluate(_PIXELS))
    names, height = found["names"], found["height"]
    # A letter a pixel: half a million numbers take the protocol seconds.
    colours = [names[ord(letter)] for letter in found["pixels"]]
    return [colours[x * height : (x + 1) * height] for x in range(found["width"])]
