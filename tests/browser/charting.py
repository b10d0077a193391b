"""What browser tests ask of the timeline: where things are on it, what it says, what is painted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from tests.browser.looking import settle

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

#: Pixels beside, above and below the plot in the chart's canvas, as the page has them.
LEFT, RIGHT, ABOVE, BELOW = 68, 16, 20, 24
#: Air above the highest thing drawn.
HEADROOM = 1.06

_PIXELS = """(canvas, x) => {
  const ratio = canvas.width / canvas.clientWidth;
  const column = canvas.getContext("2d").getImageData(Math.floor(x * ratio), 0, 1, canvas.height);
  const counts = {};
  for (let at = 0; at < column.data.length; at += 4) {
    const hex = [...column.data.slice(at, at + 3)].map(v => v.toString(16).padStart(2, "0"));
    const name = "#" + hex.join("");
    counts[name] = (counts[name] ?? 0) + 1 / ratio;
  }
  return counts;
}"""


class Chart:
    """The timeline of an open page."""

    def __init__(self, page: Page, frame: FrameLocator) -> None:
        self.page = page
        self.frame = frame
        self.canvas = frame.get_by_test_id("timeline-canvas")
        self.map = frame.get_by_test_id("timeline-map")
        self.wait()

    def wait(self) -> None:
        """Waits until the picture is that of the window asked for."""
        self.frame.locator("[data-testid=timeline-canvas][aria-label*=Highest]").wait_for()
        self.frame.locator(".timeline-busy").wait_for(state="detached")
        settle(self.page)

    def box(self, of: Locator | None = None) -> dict[str, float]:
        """The plot's part of a canvas, in pixels of the page."""
        found = cast("dict[str, float]", (of or self.canvas).bounding_box())
        return {**found, "x": found["x"] + LEFT, "width": found["width"] - LEFT - RIGHT}

    def point(self, share: float, down: float = 0.5, of: Locator | None = None) -> Any:
        """A point at a share of the plot's width and of the canvas's height."""
        box = self.box(of)
        return box["x"] + share * box["width"], box["y"] + down * box["height"]

    def hover(self, share: float, down: float = 0.5) -> None:
        self.page.mouse.move(*self.point(share, down))
        self.frame.get_by_test_id("timeline-tooltip").wait_for()

    def hover_event(self, event: int, share: float) -> None:
        """Puts the pointer on the column that shows ``event``, which is about at ``share``."""
        x, y = self.point(share)
        for off in (0, 1, -1, 2, -2):
            self.page.mouse.move(x + off, y)
            self.frame.get_by_test_id("timeline-tooltip").wait_for()
            if f"{self.title()} ".startswith(f"event {event} "):
                return
        raise AssertionError(f"no column near {share} shows event {event}")

    def drag(self, begin: float, end: float, of: Locator | None = None) -> None:
        """Presses at one share of the width and lets go at another."""
        self.page.mouse.move(*self.point(begin, of=of))
        self.page.mouse.down()
        self.page.mouse.move(*self.point((begin + end) / 2, of=of))
        self.page.mouse.move(*self.point(end, of=of))
        self.page.mouse.up()

    def told(self, label: str = "allocated (requested)") -> int:
        """Whole bytes that the tooltip gives for a line of it."""
        text = self.frame.locator(f"[data-testid=timeline-tooltip] [data-exact='{label}']")
        return _digits(text.inner_text())

    def title(self) -> str:
        return self.frame.locator(".timeline-tooltip-title").inner_text().replace("\u202f", "")

    def described(self) -> str:
        return self.canvas.get_attribute("aria-label") or ""

    def highest(self) -> int:
        """Whole bytes of the highest moment in view, as screen readers are told."""
        found = re.search(r"\(([^()]*)bytes?\)", self.described())
        assert found, self.described()
        return _digits(found[1])

    def column(self, share: float) -> dict[str, float]:
        """Pixels of each colour in the column at a share of the plot's width."""
        x = LEFT + share * self.box()["width"]
        return cast("dict[str, float]", self.canvas.evaluate(_PIXELS, x))

    def image(self) -> str:
        return cast("str", self.canvas.evaluate("canvas => canvas.toDataURL()"))


def _digits(text: str) -> int:
    return int(re.sub(r"\D", "", text))
