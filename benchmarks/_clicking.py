"""From a click on a source to what is to be seen of it, by the page's own clock.

A page of a real TensorBoard is open on a small recording, somebody clicks on another one, and a
condition comes true in a frame. The clock starts with the event of the click: a test driver's own
checks before it clicks take a fifth of a second and more. It stops with the frame after the one
in which the condition is found to be true.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks import _training
from benchmarks._measure import spawned
from tests.browser.conftest import FLAGS, chromium
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_NAME = "snapshot.pickle"
_SMALL, _CLICKED = "little", "clicked"  # runs
_LINK = f"#memory&p.memory.run={_SMALL}&p.memory.source=snapshot.pickle&p.memory.view="
_LONGEST = 600_000  # ms
_WATCH = """
() => {
  document.querySelectorAll("canvas, tr").forEach((each) => (each.dataset.old = "yes"));
  const isSeen = %s;
  const began = (event) => {
    const end = () => (window.took = performance.now() - event.timeStamp);
    const look = () => requestAnimationFrame(isSeen() ? end : look);
    look();
  };
  document.addEventListener("click", began, { capture: true, once: true });
}
"""

_DRAWN = """
() => ["base", "front"].some((name) => {
  const canvas = document.querySelector(`[data-testid=allocations-${name}]`);
  if (!canvas || canvas.dataset.old) return false;
  return %s && canvas.style.visibility !== "hidden";
})
"""

#: A canvas of the new picture is shown, which it is not before something was drawn.
PICTURE = _DRAWN % "canvas.dataset.took !== undefined"

#: One that lacks no tile is.
WHOLE_PICTURE = _DRAWN % 'canvas.dataset.whole === "true"'

#: The curve is known and will be drawn in the next frame, and the table beneath it has a row.
PROFILE = """
() => {
  const canvas = document.querySelector("[data-testid=timeline-canvas]");
  const row = document.querySelector("table.groups tbody tr");
  if (!canvas || canvas.dataset.old || !row || row.dataset.old) return false;
  return canvas.ariaLabel.includes("Highest");
}
"""


#: The Memory Viewer has its numbers, the curve, the bars and a table with a row.
PLAN = """
() => {
  const canvas = document.querySelector(".plan [data-testid=timeline-canvas]");
  const bar = document.querySelector(".plan .bars canvas");
  const row = document.querySelector(".plan table.groups tbody tr");
  return Boolean(canvas?.ariaLabel.includes("Highest") && bar && row);
}
"""


def logdir_with(
    folder: Path, make: Callable[..., object], *arguments: object, name: str = _NAME
) -> Path:
    """A logdir and a cache in ``folder``; ``make(*arguments, path)`` writes what is clicked on."""
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    logdir = folder / "logdir"
    for run in (_SMALL, _CLICKED):
        write_scalars(logdir / run)
    spawned(_training.write, 3_000, logdir / _SMALL / "snapshot.pickle")
    spawned(make, *arguments, clicked_on(logdir, name))
    return logdir


def clicked_on(logdir: Path, name: str = _NAME) -> Path:
    """The file that is clicked on."""
    return logdir / _CLICKED / name


@contextmanager
def chromium_open() -> Iterator[Browser]:
    """A Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


def seconds(
    browser: Browser, logdir: Path, view: str, seen: str, *, before: str | None = None
) -> float:
    """Seconds from the click until ``seen`` (PICTURE, PROFILE) is true in ``view``.

    ``before`` is what is waited for first, if that is another thing: of the small recording.
    """
    with TensorBoardServer(logdir) as server:
        server.sources(after=2)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(f"{server.url}{_LINK}{view}")
        page.wait_for_selector("iframe")
        (inside,) = (each for each in page.frames if "name=memory" in each.url)
        inside.wait_for_function(f"({before or seen})()")  # of the small one
        inside.evaluate(_WATCH % seen)
        page.frame_locator("iframe").get_by_role("button", name=_CLICKED).click()
        took = inside.wait_for_function("window.took", timeout=_LONGEST).json_value()
        page.close()
    return float(took) / 1000
