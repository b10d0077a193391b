"""What drawing the picture of allocations costs the page: in the worker, and while panning.

The drawing kit by itself in Node (layout, colours, a look-up for 20 000 allocations at 1600 × 800),
bundled as the page's worker is: this is what users run. And processor time of the main thread of a
real Chromium, while the picture of 900 000 allocations is dragged along: what a movement of the
mouse adds to the same page at rest, the browser's own handling of it (finding what is under the
mouse, telling the page, the commit to the compositor) included. Where other work on the machine
slows it, there are more frames than movements: those without one count as at rest. The bars are
20 ms, 0.1 ms and 4 ms. Without a GPU, Chromium draws canvases on the main thread, which counts too.

    python -m benchmarks.drawing [--events N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
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

_STEPS = 200  # movements of the mouse
_SHIFT = 8  # the modifier, as the browser's protocol counts
_FRAMES = """
() => {
  window.frames_seen = 0;
  const next = () => {
    window.frames_seen += 1;
    if (window.frames_seen > 0) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}
"""


def kit() -> list[dict[str, Any]]:
    """The benchmarks of the drawing kit: name, and milliseconds (median, p99, fastest)."""
    scripts.install()
    node = (scripts.node_on_path() or scripts.node_in_wheel() or Path()) / "node"
    command = [str(node), str(scripts.FRONTEND / "scripts" / "bench.mjs")]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return list(json.loads(said))


def busy(session: CDPSession) -> float:
    """Seconds of processor time that the main thread has used so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "ThreadTime"))


def panned(page: Page, x: float, y: float, *, moving: bool) -> tuple[float, int]:
    """Seconds of the main thread, and frames, while the mouse drags the picture or rests on it.

    The browser takes a movement at its next frame, and is then sent the next one: each has a frame.
    They are sent as they are: what Playwright does about dragging would be measured too.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def mouse(kind: str, x: float, buttons: int) -> None:
        event = {"type": kind, "x": x, "y": y, "modifiers": _SHIFT, "buttons": buttons}
        button = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
        session.send("Input.dispatchMouseEvent", {**event, **button})

    mouse("mouseMoved", x, 0)
    mouse("mousePressed", x, 1)
    mouse("mouseMoved", x - 10, 1)
    page.evaluate(_FRAMES)
    before = busy(session)
    if moving:
        for step in range(_STEPS):
            mouse("mouseMoved", x - 10 - 2 * step, 1)
    else:
        page.wait_for_function(f"window.frames_seen >= {_STEPS}")
    took, frames = busy(session) - before, int(page.evaluate("window.frames_seen"))
    page.evaluate("window.frames_seen = -Infinity")
    mouse("mouseReleased", x, 0)
    session.detach()
    return took, frames


def page_cost(events: int, folder: Path) -> tuple[float, float]:
    """Milliseconds of the main thread: what a movement adds, and of a frame at rest."""
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
        took, frames = panned(page, x, y, moving=True)
        page.wait_for_timeout(1_000)
        idle, idle_frames = panned(page, x, y, moving=False)
        resting = idle / max(idle_frames, 1)
        browser.close()
    return 1000 * (took - frames * resting) / _STEPS, 1000 * resting


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = kit()
        moving, resting = page_cost(chosen.events, Path(folder))
    print("20,000 allocations at 1600 × 800, milliseconds")
    for each in found:
        print(
            f"  {each['name']:<28} median {each['median']:8.4f}   p99 {each['p99']:8.4f}   "
            f"fastest {each['min']:8.4f}"
        )
    print(f"Main thread while {chosen.events:,} events are panned, processor milliseconds a frame")
    print(f"  for a movement {moving:.2f}   at rest {resting:.2f}")


if __name__ == "__main__":
    main()
