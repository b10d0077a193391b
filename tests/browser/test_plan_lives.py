"""A buffer of a plan pointed at anywhere: its life over the curve, as high as its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.charting import ABOVE, BELOW, HEADROOM, LEFT, RIGHT
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle
from tests.browser.picturing import Picture
from tests.fixtures.hlo import Module, shape
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator

pytestmark = pytest.mark.framed

MIB = 1 << 20
FILE = "tall.hlo_proto.pb"
#: Name, MiB, and the events of its life; the argument is held all the time.
ARGUMENT = ("weights", 2)
PLAN = (
    ("dot.1", 4, 0, 6),
    ("add.2", 1, 1, 3),
    ("dot.3", 8, 2, 8),
    ("add.4", 1, 4, 7),
    ("add.5", 1, 5, 10),
    ("add.6", 1, 9, 11),
)
EVENTS, PEAK = 12, 16
#: Air above the highest moment on the map, and how tall that is.
MAP_HEADROOM, MAP = 1.08, 40
#: Pixels painted from ``bottom`` up without a gap, in the column at ``x``.
_TALL = """(canvas, [x, bottom]) => {
  const ratio = canvas.width / canvas.clientWidth;
  const column = new OffscreenCanvas(1, canvas.height).getContext("2d");
  column.drawImage(canvas, -Math.round(x * ratio), 0);
  const { data } = column.getImageData(0, 0, 1, canvas.height);
  let tall = 0;
  for (let y = Math.round(bottom * ratio) - 1; y >= 0 && data[4 * y + 3] > 0; y--) tall++;
  return tall / ratio;
}"""


def tall() -> Module:
    """A module of a few buffers, each large enough for its height to be told by pixels."""
    made = Module("jit_tall")
    argument, held = ARGUMENT
    before = made.instruction(argument, shape("f32", held * MIB // 4), opcode="parameter")
    made.allocation(held * MIB, {made.buffer(argument, held * MIB): 0}, parameter=0)
    moves, offsets, below = [], {}, 0
    for name, size, birth, death in PLAN:
        before = made.instruction(
            name,
            shape("f32", size * MIB // 4),
            opcode=name.partition(".")[0],
            operands=[before],
            op=f"jit(f)/layer{birth}/{name}",
        )
        buffer = made.buffer(name, size * MIB)
        offsets[buffer], below = below, below + size * MIB
        moves += [(birth, f"+{buffer}@{name}"), (death, f"-{buffer}")]
    made.allocation(below, offsets)
    assert sorted(at for at, _ in moves) == list(range(EVENTS))
    return made.trace(" ".join(words for _, words in sorted(moves)), of=1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("lives")
    (folder / "run").mkdir()
    (folder / "run" / FILE).write_bytes(tall().bytes())
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("lives-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def show(watched: Watched, server: TensorBoardServer, **words: object) -> FrameLocator:
    frame = open_page(watched.page, server.url + link("run", FILE, **words))
    frame.get_by_role("group", name="Bars of buffers").wait_for()
    settle(watched.page)
    return frame


def assert_drawn(over: Locator, name: str, *, bottom: float, peak: float) -> None:
    """The life of ``name`` is on a canvas, up from ``bottom``, where the peak is ``peak`` high."""
    ((size, birth, death),) = [each[1:] for each in PLAN if each[0] == name]
    wide = over.evaluate("canvas => canvas.clientWidth") - LEFT - RIGHT
    # Beside the cursor, a line from top to bottom at the peak's event 5, and beside edges.
    for event in (birth + 0.4, death - 0.4):
        seen = over.evaluate(_TALL, [LEFT + wide * event / EVENTS, bottom])
        assert seen == pytest.approx(size / PEAK * peak, abs=1.5)
    for event in (birth - 0.4, death + 0.4):
        assert over.evaluate(_TALL, [LEFT + wide * event / EVENTS, bottom]) == 0


def over_bar(frame: FrameLocator) -> None:
    """By size ``dot.3`` is the first: half of all."""
    bar = frame.get_by_test_id("bar-1")
    bar.hover(position={"x": bar.evaluate("bar => bar.clientWidth / 4"), "y": 8})


def over_row(frame: FrameLocator) -> None:
    frame.get_by_role("radio", name="Buffers").click()
    frame.locator("tr[data-row]").filter(has_text="dot.3").hover()


def over_member(frame: FrameLocator) -> None:
    frame.get_by_role("radio", name="Breakdown").click()
    group = frame.locator("table.groups tr[data-row]").filter(has_text="temporary")
    group.locator("button").click()
    frame.locator("tr.inner").filter(has_text="dot.3").hover()


def over_box(frame: FrameLocator) -> None:
    frame.get_by_role("radio", name="Tree", exact=True).click()
    frame.get_by_role("radio", name="tree map").click()
    frame.locator("[data-name='jit(f)']").click(position={"x": 4, "y": 4})
    frame.locator("[data-name=layer2]").first.hover(position={"x": 30, "y": 4})


def over_flame(frame: FrameLocator) -> None:
    frame.get_by_role("radio", name="Tree", exact=True).click()
    frame.get_by_role("radio", name="flame").click()
    frame.locator("[data-name='dot.3']").first.hover()


def over_operand(frame: FrameLocator) -> None:
    frame.get_by_role("radio", name="Buffers").click()
    frame.locator("tr[data-row]").filter(has_text="add.4").click()
    frame.locator(".near-operands button[data-name='dot.3']").hover()


@pytest.mark.parametrize(
    "point", [over_bar, over_row, over_member, over_box, over_flame, over_operand]
)
def test_its_life_is_drawn_over_the_curve_as_high_as_its_bytes(
    watched: Watched, server: TensorBoardServer, point: Callable[[FrameLocator], None]
) -> None:
    frame = show(watched, server)
    overlay = frame.get_by_test_id("timeline-overlay")
    high = overlay.evaluate("canvas => canvas.clientHeight") - ABOVE - BELOW
    bottom = ABOVE + high
    wide = overlay.evaluate("canvas => canvas.clientWidth") - LEFT - RIGHT
    assert overlay.evaluate(_TALL, [LEFT + wide * 4.4 / EVENTS, bottom]) == 0
    point(frame)
    settle(watched.page)
    assert_drawn(overlay, "dot.3", bottom=bottom, peak=high / HEADROOM)
    map_ = frame.get_by_test_id("timeline-map")
    assert_drawn(map_, "dot.3", bottom=MAP, peak=MAP / MAP_HEADROOM)


def test_a_rectangle_pointed_at_is_drawn_over_the_curve_of_the_map(
    watched: Watched, server: TensorBoardServer
) -> None:
    words = {"view": "allocations", "device": "plan:0", "layout": "address"}
    frame = open_page(watched.page, server.url + link("run", FILE, **words))
    shown = Picture(watched.page, frame)
    # Above the argument, and the two that are below it.
    up = (2 + 4 + 1 + 8 / 2) / (2 + sum(size for _, size, *_ in PLAN))
    told = shown.hover(4.5 / EVENTS, up)
    assert told.startswith("8.00 MiB"), told
    frame.get_by_test_id("allocations-tooltip").get_by_text("dot.3 · f32").wait_for()
    settle(watched.page)
    map_ = frame.get_by_test_id("timeline-map")
    assert_drawn(map_, "dot.3", bottom=MAP, peak=MAP / MAP_HEADROOM)
    watched.page.mouse.move(5, 5)
    settle(watched.page)
    wide = map_.evaluate("canvas => canvas.clientWidth") - LEFT - RIGHT
    assert map_.evaluate(_TALL, [LEFT + wide * 4.4 / EVENTS, MAP]) == 0
