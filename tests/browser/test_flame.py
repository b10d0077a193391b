"""The flame graph, the lines of code and the settings, in a real browser: every interaction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.charting import Chart
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settled_address, words_of
from tests.browser.picturing import Picture
from tests.fixtures.histories import history
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

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


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of code that frames name."""
    return tmp_path_factory.mktemp("code") / "train.py"


@pytest.fixture(scope="module")
def server(train: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
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
        page.wait_for_timeout(150)  # a frame to paint what has arrived

    def heading(self) -> str:
        return _plain(self.frame.get_by_test_id("weighed-heading").inner_text())

    def says(self, words: str) -> None:
        """Waits until the heading holds ``words``."""
        self.frame.get_by_test_id("weighed-heading").filter(
            has_text=re.compile(re.escape(words).replace(r"\ ", r"\s"))
        ).wait_for()
        self.page.wait_for_timeout(150)

    def point(self, share: float, row: int) -> tuple[float, float]:
        box = cast("dict[str, float]", self.box.bounding_box())
        return box["x"] + share * box["width"], box["y"] + (row + 0.5) * ROW

    def click(self, share: float, row: int) -> None:
        self.page.mouse.click(*self.point(share, row))

    def pixel(self, share: float, row: int) -> str:
        """The colour near the top of a box: names are written lower."""
        width = cast("dict[str, float]", self.canvas.bounding_box())["width"]
        return cast("str", self.canvas.evaluate(_PIXEL, [share * width, row * ROW + 1]))

    def told(self, share: float, row: int) -> str:
        """What the tooltip says of a box."""
        self.page.mouse.move(*self.point(share, row))
        tip = self.frame.get_by_test_id("flame-tooltip")
        tip.wait_for()
        return _plain(tip.inner_text())

    def rows(self) -> list[list[str]]:
        """The table's cells."""
        rows = self.frame.locator("table.calls tbody tr")
        return [
            [_plain(cell) for cell in rows.nth(at).locator("td").all_inner_texts()]
            for at in range(rows.count())
        ]

    def spoken(self) -> str:
        return _plain(self.frame.get_by_test_id("flame-spoken").inner_text())

    def way(self) -> str:
        return _plain(self.frame.locator(".flame-way nav").inner_text())


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u202f", "").replace("\u00a0", " ")).strip()


def flame_of(watched: Watched, server: TensorBoardServer, **words: object) -> Flame:
    address = server.url + link(**{**RUN, "view": "flame", "axis": "event", **words})
    return Flame(watched.page, open_page(watched.page, address))


def test_boxes_are_as_wide_as_what_they_weigh(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    assert flame.heading() == "Alive at the peak, +1.00 µs 640.0 MiB"
    assert flame.rows() == [
        ["main · train.py:41", "600.0 MiB", "93.8 %", "93.8 %", "–", "2"],
        ["before the window", "40.00 MiB", "6.3 %", "6.3 %", "40.00 MiB", "1"],
    ]
    assert [flame.pixel(0.3, row) for row in (0, 1, 2, 3, 4)] == [
        QUIET,
        OWN,
        LIBRARY,  # a single library frame is no run to be folded
        OWN,
        LIBRARY,
    ]
    assert flame.pixel(0.96, 1) == QUIET
    assert flame.pixel(0.92, 1) == OWN
    assert flame.pixel(0.7, 2) == OWN  # forward · model.py:90 is called by main itself
    told = flame.told(0.3, 4)
    assert told.startswith("… 2 library frames weight 400.0 MiB · 62.5 % of all itself 400.0 MiB")
    assert told.endswith("in 1 allocation 419430400 bytes")
    assert "/home/me/model.py:90" in flame.told(0.7, 2)


def test_a_click_looks_into_a_frame_and_back(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    flame.click(0.7, 2)
    flame.frame.locator(".flame-way").wait_for()
    assert (
        flame.way() == "all › main · train.py:41 › forward · model.py:90 200.0 MiB, 31.3 % of all"
    )
    flame.page.wait_for_timeout(150)
    assert [flame.pixel(0.98, row) for row in (1, 2, 3)] == [OWN, OWN, LIBRARY]
    assert "31.3 % of all" in flame.told(0.5, 3)
    assert "100.0 % of the frame looked into" in flame.told(0.5, 3)
    address = settled_address(flame.page, "memory.call=")

    flame.click(0.5, 1)  # a step of the way
    flame.frame.locator(".flame-way strong", has_text="main").wait_for()
    flame.page.wait_for_timeout(150)
    flame.click(0.5, 0)
    flame.frame.locator(".flame-way").wait_for(state="detached")
    flame.page.wait_for_function("!location.hash.includes('memory.call=')")

    again = Flame(flame.page, open_page(flame.page, address))
    assert again.way().startswith("all › main · train.py:41 › forward · model.py:90")
    again.frame.get_by_role("button", name="show everything").click()
    again.frame.locator(".flame-way").wait_for(state="detached")


def test_the_table_looks_into_frames_too(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    flame.frame.get_by_role("button", name="main · train.py:41").click()
    flame.frame.locator(".flame-way").wait_for()
    flame.page.wait_for_timeout(150)
    assert [row[:3] for row in flame.rows()] == [
        ["call · functional.py:1", "400.0 MiB", "66.7 %"],
        ["forward · model.py:90", "200.0 MiB", "33.3 %"],
    ]


def test_the_keyboard_walks_the_graph(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    flame.box.focus()
    press = flame.page.keyboard.press
    press("ArrowDown")
    press("ArrowDown")
    press("ArrowRight")
    said = "forward · model.py:90, 200.0 MiB, 31.3 % of all, 1 allocation, 1 box below"
    flame.frame.get_by_test_id("flame-spoken").filter(has_text="200.0").wait_for()
    assert flame.spoken() == said
    press("ArrowRight")  # nothing there
    assert flame.spoken() == said
    press("Enter")
    flame.frame.locator(".flame-way strong", has_text="model.py:90").wait_for()
    press("ArrowUp")
    flame.frame.get_by_test_id("flame-spoken").filter(has_text="600.0").wait_for()
    press("Escape")
    flame.frame.locator(".flame-way strong", has_text="main").wait_for()
    press("Escape")
    flame.frame.locator(".flame-way").wait_for(state="detached")
    press("End")  # means nothing, and breaks nothing
    press("Home")
    flame.frame.get_by_test_id("flame-spoken").filter(has_text="640.0").wait_for()


def test_a_frame_narrows_the_other_views_down(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    flame = flame_of(watched, server)
    flame.click(0.7, 2)
    flame.frame.get_by_role("button", name="filter by this frame").click()
    flame.says("200.0 MiB")
    field = flame.frame.get_by_role("searchbox", name="Filter allocations")
    assert field.input_value() == r"stack:/^forward \/home\/me\/model\.py:90$/"
    flame.frame.get_by_role("tab", name="Profile").click()
    heading = flame.frame.locator(".breakdown .at .quiet")
    heading.filter(has_text=re.compile(r"200\.0\sMiB in 1\sblock")).wait_for()

    flame.frame.get_by_role("tab", name="Allocations").click()
    picture = Picture(flame.page, flame.frame)
    # The two that softmax made: one of 200 MiB, later one of 50.
    assert picture.highest() == (200 * MIB, 1)
    chip = flame.frame.get_by_test_id("filtered")
    assert "model.py:90" in chip.inner_text().replace("\\", "")
    flame.frame.get_by_role("tab", name="Segments").click()
    told = flame.frame.get_by_test_id("events-count")
    told.filter(has_text=re.compile(r"^2\sof")).wait_for()
    flame.frame.get_by_label("Filter events").fill("event>3")
    told.filter(has_text=re.compile(r"^1\sof")).wait_for()
    pictures(flame.page)
    flame.frame.get_by_role("button", name="Take the filter away").click()
    told.filter(has_text=re.compile(r"^5\sof")).wait_for()
    flame.frame.get_by_role("tab", name="Allocations").click()
    picture.wait()
    assert chip.count() == 0
    assert picture.highest()[0] == 640 * MIB


def test_a_frame_groups_the_other_views(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    flame.click(0.3, 3)
    flame.frame.get_by_role("button", name="group by this frame").click()
    typed = flame.frame.get_by_role("textbox", name="Pattern to group by")
    assert typed.input_value() == r"/^forward \/home\/me\/model\.py:88$/"
    flame.frame.locator(".inspector dd", has_text=re.compile(r"400\.0\sMiB")).first.wait_for()
    flame.frame.get_by_role("tab", name="Profile").click()
    row = flame.frame.locator("table.groups tr[data-row]").first
    row.filter(has_text=re.compile(r"400\.0\sMiB")).wait_for()
    # What is folded is no frame to group by.
    flame.frame.get_by_role("tab", name="Flame graph").click()
    flame.frame.locator(".flame-way").wait_for()
    flame.frame.get_by_role("button", name="… 2 library frames").click()
    flame.frame.locator(".flame-way strong", has_text="library").wait_for()
    assert flame.frame.get_by_role("button", name="group by this frame").is_disabled()


def test_the_stack_of_what_is_selected_is_outlined(
    watched: Watched, server: TensorBoardServer
) -> None:
    flame = flame_of(watched, server, allocation=1)
    flame.frame.locator(".inspector .stack").first.wait_for()
    flame.page.wait_for_timeout(200)
    assert [flame.pixel(0.3, row) for row in range(1, 5)] == [CURSOR] * 4
    assert (flame.pixel(0.7, 2), flame.pixel(0.96, 1)) == (OWN, QUIET)
    flame.frame.get_by_role("button", name="Deselect").click()
    flame.page.wait_for_timeout(300)
    assert flame.pixel(0.3, 1) == OWN


WEIGHTS = [
    ("highest", "Alive at the highest moment of the window, +5.00 µs 600.0 MiB"),
    ("allocations", "Allocations born in the window 2 allocations"),
    ("kept", "Born in the window and alive at its end 160.0 MiB"),
    # After events 3 and 4 one µs each, and so on: (440 + 540 + 600 + 600) MiB for a µs.
    ("× lifetime", "Bytes × lifetime within the window 2.23 KiB · s"),
]


@pytest.mark.parametrize(("weight", "heading"), WEIGHTS, ids=lambda value: str(value)[:9])
def test_a_window_is_weighed(
    weight: str, heading: str, watched: Watched, server: TensorBoardServer
) -> None:
    flame = flame_of(watched, server, window="3..7")
    flame.frame.get_by_role("radio", name=weight, exact=True).click()
    flame.says(heading.split()[-2])
    assert flame.heading() == heading


def test_the_curve_above_brushes_the_window_and_moves_the_cursor(
    watched: Watched, server: TensorBoardServer
) -> None:
    flame = flame_of(watched, server)
    chart = Chart(flame.page, flame.frame)
    flame.page.mouse.click(*chart.point(0.99))
    flame.says("Alive at +8.00 µs")
    assert flame.heading() == "Alive at +8.00 µs 250.0 MiB"
    assert [row[0] for row in flame.rows()] == [
        "load · train.py:12",
        "no stack recorded",
        "main · train.py:41",
        "before the window",
    ]
    flame.frame.get_by_role("radio", name="kept").click()
    flame.says("Born in the recording")
    chart = Chart(flame.page, flame.frame)
    chart.drag(0.45, 0.99)
    flame.says("Born in the window")
    assert "210.0 MiB" in flame.heading()
    assert words_of(settled_address(flame.page, "memory.window"))["of"] == "kept"


def test_the_search_marks_what_it_finds(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    search = flame.frame.get_by_role("searchbox", name="Search the graph")
    search.fill("softmax")
    found = flame.frame.get_by_test_id("flame-found")
    found.wait_for()
    flame.page.wait_for_timeout(150)
    assert _plain(found.inner_text()) == "found 200.0 MiB (31.3 %) in 1 allocation"
    # A third of main is found: its first third keeps its colour, the rest is dimmed.
    assert flame.pixel(0.28, 1) == OWN
    assert flame.pixel(0.5, 1) not in (OWN, LIBRARY, QUIET)
    assert flame.pixel(0.7, 2) == OWN
    assert flame.pixel(0.3, 3) not in (OWN, LIBRARY, QUIET)
    assert "found 200.0 MiB · 33.3 % of it" in flame.told(0.3, 1)
    search.fill("size>10GiB")
    found.filter(has_text="nothing found").wait_for()
    search.fill("")
    found.wait_for(state="detached")
    flame.page.wait_for_timeout(150)
    assert flame.pixel(0.3, 3) == OWN


def test_the_graph_can_be_turned_around(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    flame.frame.get_by_role("button", name="inverted").click()
    flame.frame.get_by_role("button", name="softmax · functional.py:7").wait_for()
    assert [row[0] for row in flame.rows()] == [
        "… 2 library frames",
        "softmax · functional.py:7",
        "before the window",
    ]
    flame.frame.get_by_role("button", name="libraries folded").click()
    flame.frame.get_by_role("button", name="mm · functional.py:3").wait_for()
    flame.page.wait_for_timeout(150)
    rows = int(flame.box.evaluate("box => box.scrollHeight")) // ROW
    assert rows == 6
    flame.frame.get_by_role("radio", name="flame", exact=True).click()
    flame.page.wait_for_timeout(200)
    assert flame.pixel(0.3, rows - 1) == QUIET  # the root, now at the bottom
    assert flame.pixel(0.3, rows - 2) == LIBRARY
    flame.click(0.3, rows - 2)
    flame.frame.locator(".flame-way strong", has_text="mm").wait_for()
    words = words_of(settled_address(flame.page, "memory.calls"))
    assert words["calls"] == "inverted.unfolded.upwards"


def test_colours_tell_modules_apart(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    before = [flame.pixel(0.3, row) for row in (1, 3)]
    assert before == [OWN, OWN]
    flame.frame.get_by_role("button", name="by module").click()
    flame.page.wait_for_timeout(200)
    assert flame.pixel(0.3, 1) != flame.pixel(0.3, 3)


@pytest.mark.parametrize("name", ["speedscope", "folded"])
def test_the_graph_is_taken_along(
    name: str, watched: Watched, server: TensorBoardServer, tmp_path: Path
) -> None:
    flame = flame_of(watched, server, filter="stack:model.py")
    with flame.page.expect_download() as waiting:
        flame.frame.get_by_role("link", name=name).click()
    target = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(target)
    text = target.read_text()
    if name == "folded":
        assert target.name == "memory.folded.txt"
        lines = text.splitlines()
        assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 600 * MIB
        assert any("… 2 library frames" in line for line in lines)
    else:
        assert target.name == "memory.speedscope.json"
        assert f'"endValue":{600 * MIB}' in text


def test_what_cannot_be_shown_is_said(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server, run="bare", source="bare.tbmem")
    note = flame.frame.locator(".flame .notice")
    assert _plain(note.inner_text()) == (
        "No stack is known of these allocations. No event carries a call stack. Record them."
    )
    flame = flame_of(watched, server, filter="nowhere")
    note = flame.frame.locator(".flame .notice")
    assert _plain(note.inner_text()) == "Nothing of this passes the filter. Clear the filter"
    flame.frame.get_by_role("button", name="Clear the filter").click()
    flame.says("640.0 MiB")
    address = server.url + link(**RUN, view="flame", call="0123456789abcdef")
    frame = open_page(watched.page, address)
    frame.get_by_role("alert").filter(has_text="There is no such frame").wait_for()
    frame.get_by_role("button", name="show everything").click()
    Flame(watched.page, frame).says("640.0 MiB")
    # The browser itself notes the refusal, as it should be noted.
    watched.faults = [fault for fault in watched.faults if "400" not in fault]


def test_lines_of_code_and_the_code_itself(
    watched: Watched, server: TensorBoardServer, train: Path
) -> None:
    page = watched.page
    frame = open_page(page, server.url + link(**RUN, view="source"))
    lines = frame.locator("table.lines")
    lines.wait_for()

    def cells(text: str) -> list[str]:
        row = lines.locator("tr", has_text=text).first
        return [_plain(cell) for cell in row.locator("td").all_inner_texts()]

    assert cells("model.py")[1:] == ["600.0 MiB", "93.8 %", "600.0 MiB", "2"]
    assert cells("88 forward")[1:] == ["400.0 MiB", "62.5 %", "400.0 MiB", "1"]
    assert cells("41 main")[1:] == ["–", "", "600.0 MiB", "–"]
    assert cells("before the window") == ["before the window", "40.00 MiB", "", "", "1"]
    # Files of libraries are folded, and come after one's own.
    assert lines.locator("tr", has_text="9 linear").count() == 0
    lines.get_by_role("button", name="functional.py").click()
    assert cells("9 linear")[3] == "400.0 MiB"

    lines.get_by_role("button", name="41", exact=True).click()
    code = frame.locator(".source-code")
    code.wait_for()
    assert code.locator("div").count() == 17
    assert code.locator(".here").inner_text() == "41step(41)"
    lines.get_by_role("button", name="88", exact=True).click()
    refused = frame.locator(".code-row p")
    refused.filter(has_text="/home/me/model.py cannot be read on the machine").wait_for()

    lines.locator("tr", has_text="90 forward").hover()
    lines.locator("tr", has_text="90 forward").get_by_role("button", name="filter").click()
    frame.get_by_test_id("weighed-heading").filter(has_text=re.compile(r"200\.0\sMiB")).wait_for()
    frame.get_by_role("radio", name="allocations").click()
    frame.get_by_test_id("weighed-heading").filter(has_text=re.compile("2 allocations")).wait_for()
    assert cells("90 forward")[1:] == ["2", "100.0 %", "2"]
    watched.faults = [fault for fault in watched.faults if "400" not in fault]


def test_without_leave_to_show_code_lines_are_no_links(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    page = watched.page
    page.route(
        "**/sources*",
        lambda route: route.fulfill(json={**route.fetch().json(), "shows_code": False}),
    )
    frame = open_page(page, server.url + link(**RUN, view="source"))
    row = frame.locator("table.lines tr", has_text="88 forward")
    row.wait_for()
    assert row.get_by_role("button", name="88").count() == 0
    frame.get_by_role("note").filter(has_text="--memory_show_source").wait_for()
    hints = _plain(frame.locator(".inspector").inner_text())
    assert "Filter by a line" in hints
    assert "table" not in hints
    pictures(page)
    frame.get_by_role("tab", name="Settings").click()
    frame.locator(".settings").wait_for()
    assert frame.locator(".inspector").count() == 0
    choice = frame.locator("select.choice").first
    plain = frame.get_by_role("button", name="Help: keys and words")
    border = "element => getComputedStyle(element).borderColor"
    assert choice.evaluate(border) == plain.evaluate(border)


def test_settings_say_what_the_recording_lacks(watched: Watched, server: TensorBoardServer) -> None:
    frame = open_page(watched.page, server.url + link(**RUN, view="settings"))
    settings = frame.locator(".settings")
    settings.wait_for()

    def said(title: str) -> str:
        section = settings.locator("section", has=frame.get_by_role("heading", name=title))
        return _plain(section.inner_text())

    assert "file train.tbmem" in said("Recording")
    assert "cuda:0 capacity not recorded, 9 events" in said("Recording")
    assert said("Versions") == "Versions torch 2.9.0"
    assert said("Allocator settings") == "Allocator settings expandable_segments yes"
    assert said("What it lacks") == "What it lacks steps: No step is marked. Call step()."
    assert said("Problems") == "Problems One thing is odd."


@pytest.mark.parametrize("width", [1400, 800])
@pytest.mark.parametrize("view", ["flame", "source", "settings"])
def test_pictures(
    view: str, width: int, watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    frame = open_page(page, server.url + link(**RUN, view=view, find="softmax"))
    frame.locator(".weighed, .settings").wait_for()
    page.wait_for_timeout(700)
    # Nothing hangs out of the page sideways.
    assert frame.locator("body").evaluate("body => body.scrollWidth <= body.clientWidth")
    pictures(page)
