"""What browser tests ask of the flame graph, and the recordings that it is drawn of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.looking import link, open_page, settle
from tests.fixtures.histories import history
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

    from tests.browser.conftest import Watched


MIB = 1 << 20


ROW = 18


OWN, LIBRARY, QUIET = "#f2a65a", "#b9c9dc", "#d9d9d9"


CURSOR = "#1565c0"


TORCH = "/env/lib/python3.11/site-packages/torch/nn/functional.py"


MODEL = "/home/me/model.py"


RUN = {"run": "train", "source": "train.tbmem"}


_PIXEL = """(canvas, [x, y]) => {
  const ratio = canvas.width / canvas.clientWidth;
  const data = canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data;
  return "#" + [...data.slice(0, 3)].map((v) => v.toString(16).padStart(2, "0")).join("");
}"""


#: The colours along the top of every row in view, "" where nothing is painted.
_LINES = """(canvas, row) => {
  const ratio = canvas.width / canvas.clientWidth;
  const context = canvas.getContext("2d");
  const hex = (value) => value.toString(16).padStart(2, "0");
  return Array.from({ length: Math.floor(canvas.clientHeight / row) }, (_, at) => {
    const { data } = context.getImageData(0, (at * row + 1) * ratio, canvas.width, 1);
    return Array.from({ length: canvas.width }, (_, x) => {
      const [red, green, blue, alpha] = data.slice(4 * x, 4 * x + 4);
      return alpha ? "#" + hex(red) + hex(green) + hex(blue) : "";
    });
  });
}"""


def make_logdir(folder: Path, train: Path) -> None:
    """A recording with stacks, whose file ``train`` can be read, and one without any.

    MiB alive: 40 at the start; after events 0, 1, … 440, 640, 640, 440, 540, 600, 600, 200, 250.
    """
    train.write_text("".join(f"step({n})\n" for n in range(1, 61)))
    stacks = [
        [
            ("mm", TORCH, 3),
            ("linear", TORCH, 9),
            ("forward", MODEL, 88),
            ("call", TORCH, 1),
            ("main", str(train), 41),
        ],
        [("softmax", TORCH, 7), ("forward", MODEL, 90), ("main", str(train), 41)],
        [("load", str(train), 12)],
    ]
    recording = history(
        [
            ("alloc", 0x1000, 400 * MIB, {"stack": 0}),
            ("alloc", 1 << 40, 200 * MIB, {"stack": 1}),
            ("request", 1 << 40, 200 * MIB),
            ("free", 1 << 40, 200 * MIB),
            ("alloc", 2 << 40, 100 * MIB, {"stack": 2}),
            ("alloc", 3 << 40, 60 * MIB),
            ("request", 0x1000, 400 * MIB),
            ("free", 0x1000, 400 * MIB),
            ("alloc", 4 << 40, 50 * MIB, {"stack": 1}),
        ],
        blocks=[
            {"address": 5 << 40, "requested": 40 * MIB},
            {"address": 2 << 40, "requested": 100 * MIB},
            {"address": 3 << 40, "requested": 60 * MIB},
            {"address": 4 << 40, "requested": 50 * MIB},
        ],
        segments=[{"address": 2 << 40, "size": 4 << 40}],
        stacks=stacks,
        versions={"torch": "2.9.0"},
        allocator_settings={"expandable_segments": True},
        missing=[{"what": "steps", "why": "No step is marked", "remedy": "Call step()"}],
        problems=["One thing is odd."],
    )
    lack = {"what": "stacks", "why": "No event carries a call stack", "remedy": "Record them"}
    bare = history([("alloc", 0x1000, 5 * MIB)], missing=[lack])
    for run, found in (("train", recording), ("bare", bare)):
        path = folder / run / "plugins" / "memory" / f"{run}.tbmem"
        path.parent.mkdir(parents=True)
        save(found, path, compress=True)


@pytest.fixture(scope="session")
def train(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of code that frames name."""
    return tmp_path_factory.mktemp("code") / "train.py"


@pytest.fixture(scope="session")
def flame_server(
    train: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard that shows source."""
    folder = tmp_path_factory.mktemp("flames")
    make_logdir(folder, train)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("flame-cache"))}
    with TensorBoardServer(folder, "--memory_show_source", environment=cache) as running:
        yield running


class Flame:
    """The flame graph of an open page."""

    def __init__(self, page: Page, frame: FrameLocator) -> None:
        self.page = page
        self.frame = frame
        self.box = frame.get_by_test_id("flame-graph")
        self.canvas = frame.get_by_test_id("flame-canvas")
        self.frame.get_by_test_id("weighed-heading").wait_for()
        settle(page)

    def heading(self) -> str:
        return plain(self.frame.get_by_test_id("weighed-heading").inner_text())

    def says(self, words: str) -> None:
        """Waits until the heading holds ``words``."""
        self.frame.get_by_test_id("weighed-heading").filter(
            has_text=re.compile(re.escape(words).replace(r"\ ", r"\s"))
        ).wait_for()
        settle(self.page)

    def point(self, share: float, row: int) -> tuple[float, float]:
        box = cast("dict[str, float]", self.box.bounding_box())
        return box["x"] + share * box["width"], box["y"] + (row + 0.5) * ROW

    def click(self, share: float, row: int) -> None:
        self.page.mouse.click(*self.point(share, row))

    def pixel(self, share: float, row: int) -> str:
        """The colour near the top of a box: names are written lower."""
        width = cast("dict[str, float]", self.canvas.bounding_box())["width"]
        return cast("str", self.canvas.evaluate(_PIXEL, [share * width, row * ROW + 1]))

    def lines(self) -> list[list[str]]:
        """The colours along the top of every row in view, "" where nothing is."""
        return cast("list[list[str]]", self.canvas.evaluate(_LINES, ROW))

    def told(self, share: float, row: int) -> str:
        """What the tooltip says of a box."""
        self.page.mouse.move(*self.point(share, row))
        tip = self.frame.get_by_test_id("flame-tooltip")
        tip.wait_for()
        return plain(tip.inner_text())

    def rows(self) -> list[list[str]]:
        """The table's cells."""
        rows = self.frame.locator("table.calls tbody tr")
        return [
            [plain(cell) for cell in rows.nth(at).locator("td").all_inner_texts()]
            for at in range(rows.count())
        ]

    def spoken(self) -> str:
        return plain(self.frame.get_by_test_id("flame-spoken").inner_text())

    def way(self) -> str:
        return plain(self.frame.locator(".flame-way nav").inner_text())


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u202f", "").replace("\u00a0", " ")).strip()


def flame_of(watched: Watched, server: TensorBoardServer, **words: object) -> Flame:
    address = server.url + link(**{**RUN, "view": "flame", "axis": "event", **words})
    return Flame(watched.page, open_page(watched.page, address))
