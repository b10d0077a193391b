"""What panning the Trace view costs the page: processor time of the main thread for a frame.

A real Chromium without a GPU shows the trace of 2 000 000 spans and 1 000 000 allocations: chart,
steps, threads, streams and the picture of allocations, all of which move while the mouse drags one
of them along. The bar is 6 ms; what the browser does about a movement is counted, as in
``benchmarks.drawing``.

    python -m benchmarks.trace_panning [--events N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks._programs import program
from benchmarks.drawing import panned
from tb_memory_plugin.recording.recording import save
from tests.browser.conftest import FLAGS, chromium
from tests.browser.looking import link, open_page, settle
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_PANS = 7
_SHARE = 20  # of the whole trace, in view
_DRAGGED = {"over threads": "trace-host-glass", "over the chart": "timeline-chart"}


def page_cost(events: int, folder: Path) -> dict[str, list[float]]:
    """Milliseconds of the main thread for a frame of each of a few pans, by what is dragged."""
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    logdir = folder / "logdir"
    write_scalars(logdir / "run")
    file = logdir / "run" / "plugins" / "memory" / "program.tbmem"
    recording = program(events, spans=events)
    ends = recording.table("spans").column("end").to_numpy()
    end = int(ends.max())
    save(recording, file, compress=True)
    found: dict[str, list[float]] = {}
    with TensorBoardServer(logdir) as server, sync_playwright() as playwright:
        server.opened(next(iter(server.sources(after=1).values()))["id"])
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.set_default_timeout(120_000)
        window = f"{end // 3}..{end // 3 + end // _SHARE}"
        address = link("run", file.name, view="trace", window=window)
        frame = open_page(page, server.url + address)
        frame.locator(".trace-panels").wait_for()
        settle(page)
        for name, panel in _DRAGGED.items():
            box = frame.get_by_test_id(panel).bounding_box() or {"x": 0, "y": 0}
            x, y = box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2
            found[name] = []
            for _ in range(_PANS):
                page.wait_for_timeout(2_000)
                found[name].append(1000 * panned(page, x, y))
        browser.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = page_cost(chosen.events, Path(folder))
    print(f"Main thread, processor milliseconds a frame while {chosen.events:,} spans are panned")
    for name, took in found.items():
        print(
            f"  {name:<16} median {statistics.median(took):5.2f} of {len(took)} pans, "
            f"the first {took[0]:5.2f}, longest {max(took):5.2f}"
        )


if __name__ == "__main__":
    main()
