"""The flame graph in a real browser: what it draws, and how it is walked, searched and turned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Watched
from tests.browser.flaming import (
    LIBRARY,
    MIB,
    OWN,
    QUIET,
    ROW,
    RUN,
    Flame,
    flame_of,
    plain,
)
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(flame_server: TensorBoardServer) -> TensorBoardServer:
    """One that shows source, on a recording with stacks and one without."""
    return flame_server


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
    settle(flame.page)
    assert [flame.pixel(0.98, row) for row in (1, 2, 3)] == [OWN, OWN, LIBRARY]
    assert "31.3 % of all" in flame.told(0.5, 3)
    assert "100.0 % of the frame looked into" in flame.told(0.5, 3)
    address = settled_address(flame.page, "memory.call=")

    flame.click(0.5, 1)  # a step of the way
    flame.frame.locator(".flame-way strong", has_text="main").wait_for()
    settle(flame.page)
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
    settle(flame.page)
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


def test_the_search_marks_what_it_finds(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    search = flame.frame.get_by_role("searchbox", name="Search the graph")
    search.fill("softmax")
    found = flame.frame.get_by_test_id("flame-found")
    found.wait_for()
    settle(flame.page)
    assert plain(found.inner_text()) == "found 200.0 MiB (31.3 %) in 1 allocation"
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
    settle(flame.page)
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
    settle(flame.page)
    rows = int(flame.box.evaluate("box => box.scrollHeight")) // ROW
    assert rows == 6
    flame.frame.get_by_role("radio", name="flame", exact=True).click()
    settle(flame.page)
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
    flame.frame.get_by_role("radio", name="module").click()
    settle(flame.page)
    assert flame.pixel(0.3, 1) != flame.pixel(0.3, 3)
    assert words_of(settled_address(flame.page, "memory.calls"))["calls"] == "modules"


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
    assert plain(note.inner_text()) == (
        "No stack is known of these allocations. No event carries a call stack. Record them."
    )
    flame = flame_of(watched, server, filter="nowhere")
    note = flame.frame.locator(".flame .notice")
    assert plain(note.inner_text()) == "Nothing of this passes the filter. Clear the filter"
    flame.frame.get_by_role("button", name="Clear the filter").click()
    flame.says("640.0 MiB")
    address = server.url + link(**RUN, view="flame", call="0123456789abcdef")
    frame = open_page(watched.page, address)
    frame.get_by_role("alert").filter(has_text="There is no such frame").wait_for()
    frame.get_by_role("button", name="show everything").click()
    Flame(watched.page, frame).says("640.0 MiB")
    # The browser itself notes the refusal, as it should be noted.
    watched.faults = [fault for fault in watched.faults if "400" not in fault]
