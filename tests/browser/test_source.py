"""Lines of code and the settings of a recording, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.flaming import (
    RUN,
    plain,
)
from tests.browser.looking import link, open_page, settle
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(flame_server: TensorBoardServer) -> TensorBoardServer:
    """One that shows source, on a recording with stacks and one without."""
    return flame_server


def test_lines_of_code_and_the_code_itself(
    watched: Watched, server: TensorBoardServer, train: Path
) -> None:
    page = watched.page
    frame = open_page(page, server.url + link(**RUN, view="source"))
    lines = frame.locator("table.lines")
    lines.wait_for()

    def cells(text: str) -> list[str]:
        row = lines.locator("tr", has_text=text).first
        return [plain(cell) for cell in row.locator("td").all_inner_texts()]

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
    hints = plain(frame.locator(".inspector").inner_text())
    assert "Filter by a line" in hints
    assert "table" not in hints
    pictures(page)
    frame.get_by_role("tab", name="Settings").click()
    frame.locator(".settings").wait_for()
    assert frame.locator(".inspector").count() == 0
    choice = frame.locator("select.choice").first
    other = frame.get_by_role("button", name="Help: keys and words")
    border = "element => getComputedStyle(element).borderColor"
    assert choice.evaluate(border) == other.evaluate(border)


def test_settings_say_what_the_recording_lacks(watched: Watched, server: TensorBoardServer) -> None:
    frame = open_page(watched.page, server.url + link(**RUN, view="settings"))
    settings = frame.locator(".settings")
    settings.wait_for()

    def said(title: str) -> str:
        section = settings.locator("section", has=frame.get_by_role("heading", name=title))
        return plain(section.inner_text())

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
    settle(page)
    # Nothing hangs out of the page sideways.
    assert frame.locator("body").evaluate("body => body.scrollWidth <= body.clientWidth")
    pictures(page)
