"""What drawing the picture of allocations costs the page: in the worker, and while panning.

The drawing kit by itself (layout, colours, a look-up for 20 000 allocations at 1600 × 800), and the
main thread of a real Chromium a frame, while the picture of 900 000 allocations is dragged along.
Beside it the same page at rest, whose share is left out. The bars are 20 ms, 0.1 ms and 4 ms.

    python -m benchmarks.drawing [--events N]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks._recordings import training
from scripts import page as scripts
from tb_memory_plugin.recording.recording import save
from tests.browser.conftest import FLAGS, chromium
from tests.browser.looking import link, open_page
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_STEPS, _PAUSE = 150, 16  # movements of the mouse, and ms between two
_FRAMES = """
() => {
  window.frames_seen = 0;
  const next = () => { window.frames_seen += 1; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}
"""


def kit(folder: Path) -> list[dict[str, Any]]:
    """The benchmarks of the drawing kit: name, and milliseconds (median, p99, fastest)."""
    scripts.install()
    told = folder / "bench.json"
    scripts.npm("run", "bench", "--", "--outputJson", str(told), quiet=True)
    files = json.loads(told.read_text())["files"]
    return [each for file in files for group in file["groups"] for each in group["benchmarks"]]


def busy(session: CDPSession) -> float:
    """Seconds that the main thread was at work so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def panned(page: Page, x: float, y: float, *, moving: bool) -> tuple[float, int]:
    """Seconds of the main thread, and frames, while the mouse drags the picture or rests on it."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.mouse.move(x, y)
    page.keyboard.down("Shift")
    page.mouse.down()
    page.evaluate(_FRAMES)
    before = busy(session)
    for step in range(_STEPS):
        if moving:
            page.mouse.move(x - 2 * step, y)
        page.wait_for_timeout(_PAUSE)
    took, frames = busy(session) - before, int(page.evaluate("window.frames_seen"))
    page.mouse.up()
    page.keyboard.up("Shift")
    return took, frames


def page_cost(events: int, folder: Path) -> tuple[float, float]:
    """Milliseconds of the main thread a frame: while panning, and at rest."""
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    logdir = folder / "logdir"
    write_scalars(logdir / "run")
    file = logdir / "run" / "plugins" / "memory" / "training.tbmem"
    save(training(events), file, compress=True)
    with TensorBoardServer(logdir) as server, sync_playwright() as playwright:
        server.opened(next(iter(server.sources(after=1).values()))["id"])
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        window = f"{events // 3}..{events // 2}"
        address = link("run", file.name, view="allocations", axis="event", window=window)
        frame = open_page(page, server.url + address)
        picture = frame.get_by_test_id("allocations-picture")
        frame.locator("[data-testid=allocations-axes][aria-label*=from]").wait_for()
        box = picture.bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}
        x, y = box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2
        page.wait_for_timeout(2_000)
        found = []
        for moving in (True, False):
            took, frames = panned(page, x, y, moving=moving)
            found.append(1000 * took / max(frames, 1))
            page.wait_for_timeout(1_000)
        browser.close()
    return found[0], found[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = kit(Path(folder))
        moving, resting = page_cost(chosen.events, Path(folder))
    print("20,000 allocations at 1600 × 800, milliseconds")
    for each in found:
        print(
            f"  {each['name']:<28} median {each['median']:8.4f}   p99 {each['p99']:8.4f}   "
            f"fastest {each['min']:8.4f}"
        )
    print(f"Main thread while {chosen.events:,} events are panned, milliseconds a frame")
    print(f"  panning {moving:.2f}   at rest {resting:.2f}   for it {moving - resting:.2f}")


if __name__ == "__main__":
    main()
