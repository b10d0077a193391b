"""What browser tests ask of the picture of allocations, and the slow truth of what it must show."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action
from tests.browser.charting import ABOVE, BELOW, HEADROOM, LEFT, RIGHT

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

CATEGORIES = {
    "parameter": "#4477aa",
    "optimizer_state": "#ccbb44",
    "gradient": "#66ccee",
    "activation": "#ee6677",
    "temporary": "#aa3377",
}
#: Share of black in the upper edge of what is at least so many pixels tall.
EDGE, TALL = 0.22, 4

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
  const numbers = new Map();
  const pixels = [];
  for (let at = 0; at < data.length; at += 4) {
    const hex = [...data.slice(at, at + 3)].map((value) => value.toString(16).padStart(2, "0"));
    const name = data[at + 3] === 0 ? "" : "#" + hex.join("");
    if (!numbers.has(name)) { numbers.set(name, names.length); names.push(name); }
    pixels.push(numbers.get(name));
  }
  return { names, pixels, height: canvas.width, width };
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
        self.page.wait_for_timeout(250)  # a gesture settles, tiles are asked for
        self.frame.locator(".allocations-stage .timeline-busy").wait_for(state="detached")
        self.page.wait_for_timeout(150)  # the worker draws

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
        found = cast("dict[str, Any]", self.front.evaluate(_PIXELS))
        names, pixels, height = found["names"], found["pixels"], found["height"]
        colours = [names[number] for number in pixels]
        return [colours[x * height : (x + 1) * height] for x in range(found["width"])]


@dataclass
class Life:
    """One allocation as the events tell it; dead after the last event where it is not freed."""

    birth: int
    death: int
    bytes: int
    category: str


def lives(recording: Recording) -> list[Life]:
    """The lives of a recording that begins with nothing, in order of birth, event by event."""
    events = recording.table("events").to_pylist()
    labels = {each["event"]: each["category"] for each in recording.table("labels").to_pylist()}
    found: list[Life] = []
    living: dict[int, Life] = {}
    for number, event in enumerate(events):
        if event["action"] == Action.ALLOC:
            life = Life(number, len(events), event["size"], _category(labels[number]))
            found.append(life)
            living[event["address"]] = life
        elif event["action"] == Action.FREE_COMPLETED:
            living.pop(event["address"]).death = number
    return found


def _category(code: int) -> str:
    from tb_memory_plugin.recording.schema import Category

    return Category(code).name.lower()


def expected(of: list[Life], events: int, width: int, height: int) -> list[list[str]]:
    """The picture of all events, one a bin, in plain Python; as :meth:`Picture.pixels` gives it."""
    total = [sum(life.bytes for life in of if life.birth <= e < life.death) for e in range(events)]
    scale = height / (max(total) * HEADROOM)
    picture = []
    shown = 0
    for x in range(width):
        end = (x + 1) * (events / width)
        inside = range(shown, max(shown, math.ceil(end)))
        # Without an event of its own a column goes on showing the last one.
        event = max(inside, key=lambda e: (total[e], -e)) if len(inside) else shown - 1
        shown = inside.stop
        picture.append(_column(of, event, scale, height))
    return picture


def _column(of: list[Life], event: int, scale: float, height: int) -> list[str]:
    alive = [life for life in of if life.birth <= event < life.death]
    longer = [life for life in alive if life.death - life.birth > 1]
    short = [life for life in alive if life.death - life.birth == 1]
    column = ["#ffffff"] * height
    top = 0
    for life in [*longer, *short]:
        first = math.floor(top * scale + 0.5)
        top += life.bytes
        last = min(math.floor(top * scale + 0.5), height)
        column[first:last] = [CATEGORIES[life.category]] * (last - first)
        if life.bytes * scale >= TALL:
            column[last - 1] = _edge(CATEGORIES[life.category])
    return column


def _edge(colour: str) -> str:
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{math.floor(part * (1 - EDGE) + 0.5):02x}" for part in parts)
