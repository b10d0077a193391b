"""From a click on a snapshot to the picture of all its allocations, in a real Chromium.

A snapshot of a long training job (2 700 000 events, 900 000 allocations); the page of a real
TensorBoard is open, somebody clicks on it, and the Allocations view has drawn. Cold: it is read
for the first time. Warm: by another server, from the cache. Beside it a plain ``pickle.load`` of
the same file in a process of its own. The bars are 2.2 × that, and 0.5 s.

    python -m benchmarks.first_picture [--events N]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks import _training
from benchmarks._measure import LOAD, run, spawned
from tests.browser.conftest import FLAGS, chromium
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_SMALL, _LARGE = "little", "large"  # runs
_LINK = f"#memory&p.memory.run={_SMALL}&p.memory.source=snapshot.pickle&p.memory.view=allocations"
_LONGEST = 600_000  # ms
#: Notes when the click arrives and when a canvas of the new picture is first shown: it is not
#: before something was drawn. In the page, since a test driver's own checks before it clicks take
#: a fifth of a second and more.
_WATCH = """
() => {
  document.querySelectorAll("canvas").forEach((each) => (each.dataset.old = "yes"));
  const drawn = (name) => {
    const canvas = document.querySelector(`[data-testid=allocations-${name}]`);
    if (!canvas || canvas.dataset.old) return false;
    return canvas.style.transform !== "" && canvas.style.visibility !== "hidden";
  };
  const began = (event) => {
    const look = () => {
      if (["base", "front"].some(drawn)) window.pictured = performance.now() - event.timeStamp;
      else requestAnimationFrame(look);
    };
    look();
  };
  document.addEventListener("click", began, { capture: true, once: true });
}
"""


def pictured(browser: Browser, logdir: Path) -> float:
    """Seconds from the click on the large source of ``logdir`` to its picture."""
    with TensorBoardServer(logdir) as server:
        server.sources(after=2)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(f"{server.url}{_LINK}")
        frame = page.frame_locator("iframe")
        frame.get_by_test_id("allocations-picture").wait_for()  # of the small one
        source = frame.get_by_role("button", name=_LARGE)
        (inside,) = (each for each in page.frames if "name=memory" in each.url)
        inside.evaluate(_WATCH)
        source.click()
        took = inside.wait_for_function("window.pictured", timeout=_LONGEST).json_value()
        page.close()
    return float(took) / 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        logdir = Path(folder) / "logdir"
        os.environ["TB_MEMORY_CACHE"] = str(Path(folder) / "cache")
        for run_name in (_SMALL, _LARGE):
            write_scalars(logdir / run_name)
        spawned(_training.write, 3_000, logdir / _SMALL / "snapshot.pickle")
        path = logdir / _LARGE / "snapshot.pickle"
        spawned(_training.write, chosen.events, path)
        plain = run([sys.executable, "-c", LOAD, str(path)]).wall
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        cold, warm = pictured(browser, logdir), pictured(browser, logdir)
        browser.close()
    print(f"{chosen.events:,} events, {path.name}: from the click to the picture")
    print(f"  pickle.load  {plain:7.2f} s")
    print(f"  cold         {cold:7.2f} s   {cold / plain:.2f} × pickle.load")
    print(f"  warm         {warm:7.2f} s")


if __name__ == "__main__":
    main()
