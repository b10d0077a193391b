"""From a click on an HLO module to its plan in the Memory Viewer, and what hovering it costs.

A module of 50 000 logical buffers and 100 000 events of its heap; the page of a real TensorBoard is
open on another recording, somebody clicks on the module, and its numbers, curve, bars and table
are there. Cold: it is read for the first time. Warm: by another server, from the cache. Then the
pointer moves over the bars of buffers, over the curve, down the rows of the list of buffers and
across the rectangles of *Allocations* by address: processor time of the page's main thread a
movement, all of it. The bars are 1 s, warm, and 16 ms.

    python -m benchmarks.plan_view [--buffers N]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page

from benchmarks import _clicking
from benchmarks._plans import make
from benchmarks.drawing import busy
from tests.browser.looking import open_page, settle
from tests.plugin.server import TensorBoardServer

_NAME = "jit_train_step.hlo_proto.pb"
_WARM = 5
_STEPS = 100
_LINK = f"#memory&p.memory.run=clicked&p.memory.source={_NAME}"
_RECTANGLES = f"{_LINK}&p.memory.view=allocations&p.memory.layout=address"
_WIDE, _TALL = 1600, 1000
#: Shares of a box from its upper left corner: where the pointer begins, and where it ends.
_ACROSS, _DOWN, _SLANTING = ((0, 0.5), (1, 0.5)), ((0.3, 0), (0.3, 1)), ((0, 0.1), (1, 0.9))
#: Pixels at the top of the page that stay where they are, and on either side that are no rows.
_HEAD, _EDGE = 160, 40


def hovered(page: Page, target: Locator, way: tuple[tuple[float, float], ...] = _ACROSS) -> float:
    """Milliseconds of the main thread for a movement over what is seen of ``target``."""
    target.scroll_into_view_if_needed()
    box = target.bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}
    top, end = max(box["y"], _HEAD), min(box["y"] + box["height"], _TALL - _EDGE)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def move(part: float) -> None:
        across, down = (one + (other - one) * part for one, other in zip(*way, strict=True))
        x, y = box["x"] + box["width"] * across, top + (end - top) * down
        event = {"type": "mouseMoved", "x": x, "y": y, "modifiers": 0, "buttons": 0}
        session.send("Input.dispatchMouseEvent", event)

    move(1 / (_STEPS + 2))
    page.wait_for_timeout(500)
    before = busy(session)
    for step in range(_STEPS):
        move((step + 1) / (_STEPS + 2))
    took = busy(session) - before
    session.detach()
    return 1000 * took / _STEPS


def hovering(browser: Browser, logdir: Path) -> dict[str, float]:
    """Milliseconds a movement, by what is hovered."""
    with TensorBoardServer(logdir) as server:
        server.sources(after=2)
        page = browser.new_page(viewport={"width": _WIDE, "height": _TALL})
        frame = open_page(page, server.url + _LINK)
        settle(page)
        found = {
            "bars": hovered(page, frame.locator(".bars canvas").first),
            "curve": hovered(page, frame.get_by_test_id("timeline-overlay")),
        }
        frame.get_by_role("radio", name="Buffers").click()
        settle(page)
        found["table"] = hovered(page, frame.locator("table.list tbody"), _DOWN)
        page.goto("about:blank")
        frame = open_page(page, server.url + _RECTANGLES)
        settle(page)
        picture = frame.get_by_test_id("allocations-picture")
        found["rectangles"] = hovered(page, picture, _SLANTING)
        page.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--buffers", type=int, default=50_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _clicking.chromium_open() as browser:
        logdir = _clicking.logdir_with(Path(folder), make, chosen.buffers, name=_NAME)
        cold, *warm = (
            _clicking.seconds(browser, logdir, "profile", _clicking.PLAN, before=_clicking.PROFILE)
            for _ in range(_WARM + 1)
        )
        moves = hovering(browser, logdir)
    print(f"{chosen.buffers:,} logical buffers: from the click to the plan")
    print(f"  cold   {cold:7.2f} s")
    print(f"  warm   {statistics.median(warm):7.2f} s   fastest {min(warm):.2f} s")
    for name, each in moves.items():
        print(f"  hovering the {name:11}{each:6.2f} ms of the main thread a movement")


if __name__ == "__main__":
    main()
