"""What the page looks like while there is nothing yet, nothing at all, or something wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import TAB, link, open_page, wait_for_table
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import Route

VIEWS = ["profile", "trace", "allocations", "segments", "flame", "source"]
#: The routes that the pictures of a view are drawn from.
PICTURES = ["usage", "trace.window", "tile", "segments", "flame", "lines"]


def _routes(names: list[str]) -> list[str]:
    return [f"**/plugin/memory/{name}?*" for name in names]


def test_while_reading(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    status = {"state": "reading", "fraction": 0.42, "phase": "replaying", "error": None}
    said = json.dumps({**status, "version": ""})
    watched.page.route("**/plugin/memory/open?*", lambda route: route.fulfill(body=said))
    frame = open_page(watched.page, server.url + link("train", "snapshot.pickle"))
    frame.get_by_text("replaying · 42").wait_for()
    bar = frame.get_by_role("progressbar", name="Reading the recording")
    assert bar.evaluate("bar => bar.value") == pytest.approx(0.42)
    everywhere(watched.page, "reading")


def test_an_empty_logdir(watched: Watched, tmp_path: Path, everywhere: Any) -> None:
    with TensorBoardServer(tmp_path) as server:
        frame = open_page(watched.page, server.url + TAB)
        frame.get_by_text("No memory recordings yet").wait_for()
        everywhere(watched.page, "empty")
        watched.page.goto("about:blank")  # before the server it polls is gone


def test_a_broken_file(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = open_page(watched.page, server.url + link("broken", "cut.pickle"))
    frame.locator(".explanation").wait_for()
    everywhere(watched.page, "broken")


def test_no_history(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = open_page(watched.page, server.url + link("bare", "segments.pickle"))
    wait_for_table(frame)
    everywhere(watched.page, "bare")


def test_no_history_no_trace(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = open_page(watched.page, server.url + link("bare", "segments.pickle", view="trace"))
    frame.get_by_role("heading", name="This recording holds one moment only").wait_for()
    everywhere(watched.page, "bare-trace")


def test_a_trace_that_cannot_be_had(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    said = "No tracks can be read."
    watched.page.route(
        "**/plugin/memory/trace?*",
        lambda route: route.fulfill(
            headers={"X-Memory-Status": "400"}, body=json.dumps({"error": said})
        ),
    )
    frame = open_page(watched.page, server.url + link("loop", "loop.tbmem", view="trace"))
    frame.get_by_role("alert").filter(has_text=said).wait_for()
    assert "not known" in frame.locator("[data-panel=host] .trace-head").inner_text()
    everywhere(watched.page, "trace-untold")


@pytest.mark.parametrize("view", VIEWS)
def test_a_picture_on_its_way(
    view: str, watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    held: list[Route] = []
    for address in _routes(PICTURES):
        watched.page.route(address, lambda route: held.append(route))
    frame = open_page(watched.page, server.url + link("loop", "loop.tbmem", view=view))
    frame.get_by_text(re.compile("^(Loading|Weighing)")).first.wait_for()
    everywhere(watched.page, f"{view}-loading")
    assert held
    watched.page.goto("about:blank")


@pytest.mark.parametrize("view", VIEWS)
def test_a_picture_that_cannot_be_had(
    view: str, watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    refused = {
        "headers": {"X-Memory-Status": "400"},
        "body": json.dumps({"error": "This recording was moved while it was read; open it again."}),
    }
    for address in _routes(PICTURES):
        watched.page.route(address, lambda route: route.fulfill(**refused))
    frame = open_page(watched.page, server.url + link("loop", "loop.tbmem", view=view))
    said = frame.get_by_role("alert").filter(has_text="moved while it was read").first
    said.wait_for()
    everywhere(watched.page, f"{view}-refused")
