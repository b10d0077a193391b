"""The list of all events beside the map of segments, in a real browser."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.mapping import (
    event_of,
    replayed,
    show,
    told,
    wait_for_event,
)
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(segments_server: TensorBoardServer) -> TensorBoardServer:
    """One on real snapshots and a made one with private pools."""
    return segments_server


if TYPE_CHECKING:
    from playwright.sync_api import Route


def test_arrows_step_event_by_event(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any]
) -> None:
    frame = show(watched, server, "small_train", at=2000)
    frame.get_by_test_id("events-rows").focus()
    for event in (2001, 2002, 2003, 2004):
        watched.page.keyboard.press("ArrowDown")
        wait_for_event(frame, event)
        settle(watched.page)
        assert (told(frame, "Allocated"), told(frame, "Reserved")) == replayed(small, event)
    watched.page.keyboard.press("ArrowUp")
    wait_for_event(frame, 2003)
    settle(watched.page)  # the list has an answer of its own
    current = frame.locator(".event-row.is-current")
    entry = small["device_traces"][0][2003]
    assert entry["action"].replace("_", " ") in current.inner_text()
    assert hex(entry["addr"]) in current.inner_text()
    # From anywhere in the view, and in the map by the arrows that point along it.
    frame.get_by_test_id("segments-map").focus()
    watched.page.keyboard.press("ArrowRight")
    wait_for_event(frame, 2004)
    watched.page.keyboard.press("ArrowLeft")
    wait_for_event(frame, 2003)


def test_the_list_is_filtered_and_stepped_through_what_passes(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any], picture: Any
) -> None:
    trace = small["device_traces"][0]
    wanted = [
        event
        for event, entry in enumerate(trace)
        if entry["action"] == "alloc" and entry["size"] > 1 << 20
    ]
    frame = show(watched, server, "small_train", at=0)
    box = frame.get_by_label("Filter events")
    box.fill("action:alloc size>1MiB")
    said = frame.get_by_test_id("events-count")
    said.filter(has_text=re.compile(rf"^{len(wanted)}\s*of")).wait_for()
    settle(watched.page)
    rows = frame.locator(".event-rows .event-row")
    shown = [int(row.get_attribute("data-event") or "") for row in rows.all()]
    assert shown == wanted[: len(shown)]
    frame.get_by_test_id("events-rows").focus()
    for event in wanted[:3]:
        watched.page.keyboard.press("ArrowDown")
        wait_for_event(frame, event)
        settle(watched.page)
    watched.page.keyboard.press("End")
    wait_for_event(frame, wanted[-1])
    watched.page.keyboard.press("Home")
    wait_for_event(frame, wanted[0])
    picture(watched.page, "filtered")
    box.fill("action:nothing")
    frame.get_by_role("alert").filter(has_text="'nothing' is not an action").wait_for()
    watched.faults.clear()  # the browser reports the 400 that this was


def test_a_row_sets_the_cursor_and_selects_its_allocation(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any]
) -> None:
    trace = small["device_traces"][0]
    event = next(e for e, entry in enumerate(trace) if e > 50 and entry["action"] == "alloc")
    frame = show(watched, server, "small_train", at=event - 1)
    frame.locator(f".event-row[data-event='{event}']").click()
    wait_for_event(frame, event)
    frame.locator(f"aside:has-text('{hex(trace[event]['addr'])}')").wait_for()
    words = words_of(settled_address(watched.page, "p.memory.allocation"))
    assert words["at"] == str(event)


def test_the_list_scrolls_by_wheel_bar_and_keys(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any]
) -> None:
    frame = show(watched, server, "small_train", at=0)
    rows = frame.get_by_test_id("events-rows")
    rows.scroll_into_view_if_needed()
    box = rows.bounding_box()
    assert box

    def first() -> int:
        return int(frame.locator(".event-rows .event-row").first.get_attribute("data-event") or -1)

    watched.page.mouse.move(box["x"] + 200, box["y"] + 100)
    watched.page.mouse.wheel(0, 220)
    settle(watched.page)
    assert first() == 10
    rows.evaluate("box => { box.scrollTop = box.scrollHeight / 2; }")
    settle(watched.page)
    count = len(small["device_traces"][0])
    assert abs(first() - count / 2) < 20
    rows.focus()
    watched.page.keyboard.press("End")
    wait_for_event(frame, count - 1)
    settle(watched.page)
    last = frame.locator(".event-rows .event-row").last
    assert last.get_attribute("data-event") == str(count - 1)
    before = event_of(frame)
    watched.page.keyboard.press("PageUp")
    settle(watched.page)
    assert 5 < before - event_of(frame) < 40


def test_ten_million_rows_are_all_in_reach(watched: Watched, server: TensorBoardServer) -> None:
    count = 10_000_000

    def answer(route: Route) -> None:
        asked = {
            name: value[0] for name, value in parse_qs(urlsplit(route.request.url).query).items()
        }
        offset, limit = int(asked.get("offset", 0)), int(asked["limit"])
        rows = [
            {
                **dict.fromkeys(("time", "address", "size", "stream", "pool", "label")),
                **dict.fromkeys(("allocation", "compile_context", "user_metadata")),
                "event": event,
                "action": "alloc",
            }
            for event in range(offset, min(offset + limit, count))
        ]
        body = {"device": "0", "events": count, "count": count, "offset": offset, "rows": rows}
        if "near" in asked:
            near = int(asked["near"])
            body["near"] = {"event": near, "row": near, "passes": True}
        route.fulfill(content_type="application/json", body=json.dumps(body))

    watched.page.route("**/events?*", answer)
    frame = show(watched, server, "small_train", at=5)
    rows = frame.get_by_test_id("events-rows")
    rows.scroll_into_view_if_needed()
    assert rows.evaluate("box => box.scrollHeight") <= 8_000_000
    rows.evaluate("box => { box.scrollTop = box.scrollHeight; }")
    settle(watched.page)
    seen = frame.locator(".event-rows .event-row")
    assert seen.last.get_attribute("data-event") == str(count - 1)
    box = rows.bounding_box()
    assert box
    watched.page.mouse.move(box["x"] + 100, box["y"] + 50)
    watched.page.mouse.wheel(0, -44)
    settle(watched.page)
    assert seen.last.get_attribute("data-event") == str(count - 3), "the wheel moves row by row"


def test_state_and_events_are_downloaded_and_the_filter_is_in_the_link(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any]
) -> None:
    last = len(small["device_traces"][0]) - 1
    frame = show(watched, server, "small_train", at=last, events="action:segment")
    wanted = [e for e in small["device_traces"][0] if e["action"].startswith("segment")]
    assert frame.get_by_label("Filter events").input_value() == "action:segment"
    with watched.page.expect_download() as download:
        frame.locator(".event-list a[download]").click()
    with download.value.path().open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["address"] for row in rows] == [hex(entry["addr"]) for entry in wanted]
    with watched.page.expect_download() as download:
        frame.locator(".segments-bar a[download]").click()
    with download.value.path().open(newline="") as file:
        sizes = [int(row["size"]) for row in csv.DictReader(file)]
    assert sum(sizes) == sum(segment["total_size"] for segment in small["segments"])
    frame.get_by_label("Filter events").fill("size>1MiB")
    assert "size" in words_of(settled_address(watched.page, "size"))["events"]
