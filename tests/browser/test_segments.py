"""The map of segments in a real browser, on real snapshots, against the files themselves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.mapping import (
    BACKGROUNDS,
    colours,
    exact,
    find,
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


def test_the_last_state_is_that_of_the_file(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any], pictures: Any
) -> None:
    last = len(small["device_traces"][0]) - 1
    frame = show(watched, server, "small_train", at=last)
    blocks = [block for segment in small["segments"] for block in segment["blocks"]]
    live = [block for block in blocks if block["state"] != "inactive"]
    free = [block["size"] for block in blocks if block["state"] == "inactive"]
    held = sum(segment["total_size"] for segment in small["segments"])
    requested = sum(block["requested_size"] for block in live)
    assert told(frame, "Reserved") == held
    assert told(frame, "Allocated") == requested
    assert told(frame, "Rounding") == sum(block["size"] for block in live) - requested
    assert told(frame, "Free") == sum(free)
    assert told(frame, "Pending free") == 0
    said = frame.locator("[data-testid=segments-state]").inner_text()
    assert f"{100 * (1 - requested / held):.1f}\u00a0%" in said
    assert f"{100 * (1 - max(free) / sum(free)):.1f}\u00a0%" in said
    assert "1 − allocated ÷ reserved" in said and "1 − largest free ÷ free" in said
    words = frame.get_by_test_id("segments-canvas").get_attribute("aria-label") or ""
    assert words.startswith(f"{len(small['segments'])}\u00a0segments")
    pictures(watched.page)


def test_what_is_under_the_pointer_is_told_to_the_byte_and_can_be_selected(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any], picture: Any
) -> None:
    last = len(small["device_traces"][0]) - 1
    frame = show(watched, server, "small_train", at=last)
    by_address = {
        hex(block["address"]): block for segment in small["segments"] for block in segment["blocks"]
    }
    text = find(frame, watched.page, "allocated, at 0x")
    address = re.search(r"0x[0-9a-f]+", text)
    assert address
    block = by_address[address[0]]
    assert exact(frame, "requested") == block["requested_size"]
    assert exact(frame, "rounding") == block["size"] - block["requested_size"]
    before = frame.get_by_test_id("segments-canvas").evaluate("canvas => canvas.toDataURL()")
    watched.page.mouse.down()
    watched.page.mouse.up()
    frame.locator(f"aside:has-text('{address[0]}')").wait_for()
    picture(watched.page, "selected")
    assert "allocation" in words_of(settled_address(watched.page, "p.memory.allocation"))
    watched.page.mouse.move(5, 400)
    settle(watched.page)
    after = frame.get_by_test_id("segments-canvas").evaluate("canvas => canvas.toDataURL()")
    assert after != before, "the selected block is marked"
    free = find(frame, watched.page, "the largest free range")
    assert "segment of" in free
    largest = max(b["size"] for b in by_address.values() if b["state"] == "inactive")
    assert exact(frame, "free") == largest


def test_blocks_have_the_colours_of_their_groups(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    frame = show(watched, server, "small_train", by="op")
    canvas = frame.get_by_test_id("segments-canvas")
    legend = frame.locator(".segments-legend li")
    assert "requested" in legend.all_inner_texts()
    assert "#4477aa" in colours(canvas)
    frame.get_by_role("radio", name="group", exact=True).click()
    legend.locator("i[style]").first.wait_for()
    settle(watched.page)
    shown = legend.locator("i[style]").evaluate_all(BACKGROUNDS)
    assert shown
    assert set(shown) & colours(canvas)
    frame.locator("select.choice").select_option("stack")
    frame.locator(".segments-legend li", has_text=".py:").first.wait_for()
    settle(watched.page)
    by_stack = set(legend.locator("i[style]").evaluate_all(BACKGROUNDS))
    assert by_stack & colours(canvas)
    chart = frame.locator(".timeline-groups .timeline-swatch").evaluate_all(BACKGROUNDS)
    assert by_stack & set(chart)
    assert words_of(settled_address(watched.page, "p.memory.blocks"))["blocks"] == "group"
    everywhere(watched.page, "groups")


def test_the_map_is_zoomed_and_fitted(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    frame = show(watched, server, "oom_expandable_3gpu", device="1")
    area = frame.get_by_test_id("segments-map")
    height = "box => box.scrollHeight"
    fitted = area.evaluate(height)
    for _ in range(4):
        frame.get_by_role("button", name="Zoom in").click()
    zoomed = area.evaluate(height)
    assert zoomed > 6 * fitted
    area.evaluate("box => { box.scrollTop = box.scrollHeight / 2; }")
    settle(watched.page)
    picture(watched.page, "zoomed")
    find(frame, watched.page, "expandable")
    area.focus()
    watched.page.keyboard.press("-")
    assert area.evaluate(height) < zoomed
    box = area.bounding_box()
    assert box
    watched.page.mouse.move(box["x"] + 50, box["y"] + 50)
    watched.page.keyboard.down("Control")
    watched.page.mouse.wheel(0, -100)
    watched.page.keyboard.up("Control")
    settle(watched.page)
    assert area.evaluate(height) == zoomed
    frame.get_by_role("button", name="fit").click()
    settle(watched.page)
    assert area.evaluate(height) == fitted


def test_it_fits_a_narrow_page(watched: Watched, server: TensorBoardServer, picture: Any) -> None:
    watched.page.set_viewport_size({"width": 800, "height": 900})
    frame = show(watched, server, "oom_expandable_3gpu", device="1")
    wide = frame.locator(".stage").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert wide[0] <= wide[1]
    picture(watched.page, "narrow")
    frame.locator(".segments-pools").scroll_into_view_if_needed()
    settle(watched.page)
    picture(watched.page, "narrow-below")
    watched.page.set_viewport_size({"width": 1900, "height": 1000})
    settle(watched.page)
    picture(watched.page, "wide")


def test_a_failure_of_the_server_is_said_and_asked_anew(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, "small_train", at=100)
    watched.page.route(
        "**/segments?*",
        lambda route: route.fulfill(status=500, body='{"error": "It is broken."}'),
    )
    frame.get_by_test_id("events-rows").focus()
    watched.page.keyboard.press("ArrowDown")
    frame.get_by_role("alert").filter(has_text="It is broken.").wait_for()
    watched.page.unroute("**/segments?*")
    watched.page.keyboard.press("ArrowDown")
    wait_for_event(frame, 102)
    assert frame.get_by_role("alert").count() == 0
    watched.faults.clear()  # the browser reports the 500 that this was
