"""What drawing the picture of allocations costs the page: in the worker, and while panning.

The drawing kit by itself in Node (layout, colours, a look-up for 20 000 allocations at 1600 × 800),
bundled as the page's worker is: this is what users run. And processor time of the main thread of a
real Chromium for a frame while the picture of 900 000 allocations is dragged along, all of it: what
the browser does about a movement (finding what is under the mouse, telling the page, the commit to
the compositor) is counted. The bars are 20 ms, 0.1 ms and 4 ms. What the page's own worker there
says of 20 000 allocations, the bitmap included, stands beside.
Without a GPU, Chromium draws canvases on the main thread, which counts too.

    python -m benchmarks.drawing [--events N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, FrameLocator, Page, sync_playwright

from benchmarks._recordings import training
from scripts import page as scripts
from tb_memory_plugin.recording.recording import save
from tests.browser.conftest import FLAGS, chromium
from tests.browser.looking import link, open_page, settle
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_STEPS = 200  # movements of the mouse
_PANS = 7
_VIEWED = 60_000  # events, of which a third are births
_REDRAWS = 25
_SHIFT = 8  # the modifier, as the browser's protocol counts


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


def panned(page: Page, x: float, y: float) -> float:
    """Seconds of the main thread for a frame while the mouse drags the picture along.

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
    before = busy(session)
    for step in range(_STEPS):
        mouse("mouseMoved", x - 10 - 2 * step, 1)
    took = busy(session) - before
    mouse("mouseReleased", x, 0)
    session.detach()
    return took / _STEPS


def redrawn(page: Page, frame: FrameLocator) -> list[float]:
    """Milliseconds that the worker says it took, for windows one after the other."""
    found = []
    picture = frame.get_by_test_id("allocations-front")
    for _ in range(_REDRAWS):
        picture.evaluate("canvas => { canvas.dataset.took = ''; }")
        frame.get_by_test_id("allocations-picture").press("d")
        settle(page)
        took = picture.get_attribute("data-took")
        if took:
            found.append(float(took))
    return found


def page_cost(events: int, folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of the main thread for a frame of each of a few pans, the first one first.

    And those of the worker for each of a few pictures of 20 000 allocations.
    """
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
        found = []
        for _ in range(_PANS):
            page.wait_for_timeout(2_000)
            found.append(1000 * panned(page, x, y))
        window = f"{events // 3}..{events // 3 + _VIEWED}"
        address = link("run", file.name, view="allocations", axis="event", window=window)
        page.goto("about:blank")
        frame = open_page(page, server.url + address)
        frame.locator("[data-testid=allocations-axes][aria-label*=from]").wait_for()
        settle(page)
        drawn = redrawn(page, frame)
        browser.close()
    return found, drawn


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = kit()
        panning, drawn = page_cost(chosen.events, Path(folder))
    print("20,000 allocations at 1600 × 800, milliseconds")
    for each in found:
        print(
            f"  {each['name']:<30} median {each['median']:8.4f}   p99 {each['p99']:8.4f}   "
            f"fastest {each['min']:8.4f}"
        )
    print(
        f"  {'in Chromium, with the bitmap':<30} median {statistics.median(drawn):8.4f}   "
        f"fastest {min(drawn):8.4f}   longest {max(drawn):8.4f}   of {len(drawn)}"
    )
    print(
        f"Main thread, processor milliseconds a frame while {chosen.events:,} events are panned: "
        f"median {statistics.median(panning):.2f} of {len(panning)} pans, "
        f"the first {panning[0]:.2f}, longest {max(panning):.2f}"
    )


if __name__ == "__main__":
    main()
