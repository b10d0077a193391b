"""Real snapshots, what their stacks weigh, and the flame graph and lines of code shown of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.looking import link, open_page
from tests.browser.test_flame import Flame
from tests.browser.weighed import Weighed
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import Watched

#: A training loop with times, stacks 300 deep on three GPUs, and a model without times.
NAMES = ("small_train", "oom_expandable_3gpu", "no_time_us_segments")


def serve(shared_data: Path, folder: Path, *arguments: str) -> TensorBoardServer:
    for name in NAMES:
        (folder / "runs" / name).mkdir(parents=True)
        target = shared_data / "snapshots" / f"{name}.pickle"
        (folder / "runs" / name / "snapshot.pickle").symlink_to(target)
    cache = {"TB_MEMORY_CACHE": str(folder / "cache")}
    return TensorBoardServer(folder / "runs", *arguments, environment=cache)


class Real:
    """A snapshot, what its stacks weigh, and a window of it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        facts = json.loads((folder / "facts.json").read_text())
        self.facts = facts[f"{name}.pickle"]["devices"]["0"]
        self.peak: int = self.facts["allocated_peak_event"]
        self.truth = Weighed.of(folder / f"{name}.pickle")
        events = len(self.truth.times)
        self.window = (events // 4, events * 3 // 4)

    def weights(self, of: str = "alive") -> Counter[Any]:
        return self.truth.weights(of, *self.window, self.peak)


def show(
    watched: Watched, server: TensorBoardServer, real: Real, view: str = "flame", **words: object
) -> Flame:
    begin, end = real.window
    asked = {"view": view, "axis": "event", "device": "0", "window": f"{begin}..{end}", **words}
    address = server.url + link(real.name, "snapshot.pickle", **asked)
    return Flame(watched.page, open_page(watched.page, address))


def whole(text: str | None) -> int:
    """The number before a unit: ``1 536 bytes``."""
    return int(re.sub(r"\D", "", text or ""))


def total(flame: Flame) -> int:
    return whole(
        flame.frame.locator("[data-testid=weighed-heading] [title]").get_attribute("title")
    )


def values(rows: Locator, column: int) -> list[int]:
    titles = "all => all.map((cell) => cell.title)"
    cells = rows.locator(f"td:nth-child({column})").evaluate_all(titles)
    return [whole(title) for title in cells]
