"""The Segments view in a real browser, on real snapshots, against the files themselves."""

from __future__ import annotations

import csv
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.charting import ABOVE, LEFT
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settled_address, words_of
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page, Route

REAL = ("small_train", "oom_expandable_3gpu", "private_pools_nohistory")
#: Pixels right of the plot while fragmentation has an axis there.
RIGHT = 48


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots and a made one with private pools."""
    folder = tmp_path_factory.mktemp("segments")
    for name in REAL:
        (folder / name).mkdir()
        target = shared_data / "snapshots" / f"{name}.pickle"
        (folder / name / "snapshot.pickle").symlink_to(target)
    (folder / "pools").mkdir()
    made = snapshot(events=3_000, seed=9, private_pools=True, event_pools=True)
    write_pickle(made, folder / "pools" / "snapshot.pickle")
    cache = tmp_path_factory.mktemp("segments-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


@pytest.fixture(scope="module")
def small(shared_data: Path) -> dict[str, Any]:
    """A snapshot of a small training loop, as Python has it."""
    with (shared_data / "snapshots" / "small_train.pickle").open("rb") as file:
        return cast("dict[str, Any]", pickle.load(file))


def show(watched: Watched, server: TensorBoardServer, run: str, **words: object) -> FrameLocator:
    """Opens the view on a run and waits for its first state."""
    address = link(run, "snapshot.pickle", view="segments", **words)
    frame = open_page(watched.page, f"{server.url}{address}")
    frame.get_by_test_id("segments-state").wait_for(timeout=60_000)
    settle(watched.page)
    return frame


def settle(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(150)  # a frame to paint, and the pause after typing


def told(frame: FrameLocator, label: str) -> int:
    """Whole bytes of a number of the state."""
    found = frame.locator(f"[data-testid=segments-state] [data-exact='{label}']")
    return int(found.get_attribute("data-bytes") or "")


def event_of(frame: FrameLocator) -> int:
    return int(frame.locator("[data-event]").first.get_attribute("data-event") or "")


def wait_for_event(frame: FrameLocator, event: int) -> None:
    frame.locator(f"[data-testid=segments-state] [data-event='{event}']").wait_for()


def replayed(small: dict[str, Any], event: int) -> tuple[int, int]:
    """Allocated and reserved after an event, worked out backwards from the end state."""
    allocated = sum(
        block["requested_size"]
        for segment in small["segments"]
        for block in segment["blocks"]
        if block["state"] != "inactive"
    )
    reserved = sum(segment["total_size"] for segment in small["segments"])
    signs = {"alloc": (1, 0), "free_completed": (-1, 0), "segment_alloc": (0, 1)}
    signs |= {"segment_free": (0, -1), "segment_map": (0, 1), "segment_unmap": (0, -1)}
    for entry in small["device_traces"][0][event + 1 :]:
        of_allocated, of_reserved = signs.get(entry["action"], (0, 0))
        allocated -= of_allocated * entry["size"]
        reserved -= of_reserved * entry["size"]
    return allocated, reserved


def find(frame: FrameLocator, page: Page, words: str) -> str:
    """Moves over the map, from its last line up, until the tooltip holds ``words``; its text."""
    box = frame.get_by_test_id("segments-map").bounding_box()
    assert box
    tooltip = frame.get_by_test_id("segments-tooltip")
    for y in range(int(box["height"]) - 12, 8, -11):
        for x in range(2, int(box["width"]) - 20, 7):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if tooltip.count() and words in (text := tooltip.inner_text()):
                return text.replace("\u202f", "").replace("\u00a0", " ")
    raise AssertionError(f"nothing in the map says {words!r}")


_BACKGROUNDS = """all => all.map(each => "#" + getComputedStyle(each).backgroundColor
  .match(/\\d+/g).slice(0, 3).map(part => Number(part).toString(16).padStart(2, "0")).join(""))"""


def colours(canvas: Locator) -> set[str]:
    """The colours that at least some pixels of a canvas have."""
    found = canvas.evaluate("""canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set();
      for (let at = 0; at < data.length; at += 4)
        found.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      return [...found];
    }""")
    return {f"#{colour:06x}" for colour in found}


def exact(frame: FrameLocator, label: str) -> int:
    found = frame.locator(f"[data-testid=segments-tooltip] [data-exact='{label}']").inner_text()
    return int(re.sub(r"\D", "", found))


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
    watched.page.wait_for_timeout(100)
    after = frame.get_by_test_id("segments-canvas").evaluate("canvas => canvas.toDataURL()")
    assert after != before, "the selected block is marked"
    free = find(frame, watched.page, "free")
    assert "segment of" in free


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
    shown = legend.locator("i[style]").evaluate_all(_BACKGROUNDS)
    assert shown
    assert set(shown) & colours(canvas)
    frame.locator("select.choice").select_option("stack")
    frame.locator(".segments-legend li", has_text=".py:").first.wait_for()
    settle(watched.page)
    by_stack = set(legend.locator("i[style]").evaluate_all(_BACKGROUNDS))
    assert by_stack & colours(canvas)
    chart = frame.locator(".timeline-groups .timeline-swatch").evaluate_all(_BACKGROUNDS)
    assert by_stack & set(chart)
    assert words_of(settled_address(watched.page, "p.memory.blocks"))["blocks"] == "group"
    everywhere(watched.page, "groups")


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
    current = frame.locator(".segments-event.is-current")
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
    rows = frame.locator(".segments-rows .segments-event")
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
    frame.locator(f".segments-event[data-event='{event}']").click()
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
        return int(
            frame.locator(".segments-rows .segments-event").first.get_attribute("data-event") or -1
        )

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
    last = frame.locator(".segments-rows .segments-event").last
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
    seen = frame.locator(".segments-rows .segments-event")
    assert seen.last.get_attribute("data-event") == str(count - 1)
    box = rows.bounding_box()
    assert box
    watched.page.mouse.move(box["x"] + 100, box["y"] + 50)
    watched.page.mouse.wheel(0, -44)
    settle(watched.page)
    assert seen.last.get_attribute("data-event") == str(count - 3), "the wheel moves row by row"


def test_it_plays_along_the_axis_and_stops(watched: Watched, server: TensorBoardServer) -> None:
    frame = show(watched, server, "small_train", axis="event", at=10)
    play = frame.get_by_test_id("segments-play")
    play.click()
    assert play.get_attribute("aria-pressed") == "true"
    watched.page.wait_for_timeout(1_200)
    frame.get_by_test_id("segments-map").focus()
    watched.page.keyboard.press("Space")
    assert play.get_attribute("aria-pressed") == "false"
    settle(watched.page)
    stopped = event_of(frame)
    assert stopped > 20
    watched.page.wait_for_timeout(500)
    assert event_of(frame) == stopped
    watched.page.keyboard.press("Space")
    watched.page.wait_for_timeout(500)
    watched.page.keyboard.press("Space")
    settle(watched.page)
    assert event_of(frame) > stopped


def test_the_cursor_is_dragged_on_the_chart(watched: Watched, server: TensorBoardServer) -> None:
    frame = show(watched, server, "small_train", axis="event", at=1000)
    canvas = frame.get_by_test_id("timeline-canvas")
    canvas.scroll_into_view_if_needed()
    settle(watched.page)
    box = canvas.bounding_box()
    assert box
    width = box["width"] - LEFT - RIGHT
    whole = 3797
    y = box["y"] + ABOVE + 40

    def at(event: int) -> float:
        return box["x"] + LEFT + event / whole * width

    watched.page.mouse.move(at(1000), y)
    watched.page.mouse.down()
    watched.page.mouse.move(at(1500), y)
    watched.page.mouse.move(at(2000), y)
    settle(watched.page)
    assert abs(event_of(frame) - 2000) < 20, "the state follows while it is dragged"
    watched.page.mouse.up()
    settle(watched.page)
    words = words_of(watched.page.url)
    assert "window" not in words
    assert abs(int(words["at"]) - 2000) < 20


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


def test_pools_have_their_envelopes(watched: Watched, server: TensorBoardServer) -> None:
    frame = show(watched, server, "pools", axis="event")
    shown = frame.locator(".segments-pool figcaption")
    shown.first.wait_for()
    text = shown.all_inner_texts()
    assert [each.split(" at the cursor")[0].strip() for each in text] == [
        "default pool, default stream",
        "private pool 0,1, default stream",
    ]
    canvas = frame.locator(".segments-pool canvas").first
    inked = canvas.evaluate(
        "c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    assert inked > 4
    before = canvas.evaluate("c => c.toDataURL()")
    # A brush on the chart above is a brush for all.
    chart = frame.get_by_test_id("timeline-canvas")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box
    watched.page.mouse.move(box["x"] + 200, box["y"] + 80)
    watched.page.mouse.down()
    watched.page.mouse.move(box["x"] + 300, box["y"] + 80)
    watched.page.mouse.move(box["x"] + 400, box["y"] + 80)
    watched.page.mouse.up()
    settle(watched.page)
    assert "window" in words_of(settled_address(watched.page, "p.memory.window"))
    assert canvas.evaluate("c => c.toDataURL()") != before


def test_segments_are_stacked_over_time(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    frame = show(watched, server, "oom_expandable_3gpu", device="1", axis="event")
    stack = frame.get_by_test_id("segments-stack")
    stack.scroll_into_view_if_needed()
    frame.get_by_test_id("segments-front").wait_for()
    settle(watched.page)
    box = stack.bounding_box()
    assert box
    right = box["x"] + LEFT + 0.7 * (box["width"] - LEFT - RIGHT)
    watched.page.mouse.move(right, box["y"] + 140)
    tooltip = frame.get_by_test_id("segments-stack-tooltip")
    tooltip.wait_for()
    picture(watched.page, "stack")
    text = tooltip.inner_text().replace("\u202f", "").replace("\u00a0", " ")
    assert "mapped range" in text and "default stream" in text
    instant = re.search(r"event (\d+)", text)
    total = re.search(r"in (\d+) mapped ranges? at this instant", text)
    assert instant and total
    watched.page.mouse.down()
    watched.page.mouse.up()
    wait_for_event(frame, int(instant[1]))
    before = words_of(watched.page.url).get("window")
    watched.page.mouse.wheel(0, -200)
    assert words_of(settled_address(watched.page, "p.memory.window"))["window"] != before


def test_pending_blocks_and_pools_of_a_snapshot_without_a_history(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    frame = show(watched, server, "private_pools_nohistory")
    with (shared_data / "snapshots" / "private_pools_nohistory.pickle").open("rb") as file:
        blocks = [b for segment in pickle.load(file)["segments"] for b in segment["blocks"]]
    pending = sum(b["size"] for b in blocks if b["state"] == "active_pending_free")
    assert told(frame, "Pending free") == pending > 0
    find(frame, watched.page, "freed, waiting for another stream")
    assert frame.get_by_test_id("events-rows").count() == 0
    assert frame.get_by_test_id("segments-play").count() == 0
    pictures(watched.page)


def test_it_fits_a_narrow_page(watched: Watched, server: TensorBoardServer, picture: Any) -> None:
    watched.page.set_viewport_size({"width": 800, "height": 900})
    frame = show(watched, server, "oom_expandable_3gpu", device="1")
    wide = frame.locator(".stage").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert wide[0] <= wide[1]
    picture(watched.page, "narrow")
    frame.locator(".segments-pools").scroll_into_view_if_needed()
    watched.page.wait_for_timeout(300)
    picture(watched.page, "narrow-below")
    watched.page.set_viewport_size({"width": 1900, "height": 1000})
    settle(watched.page)
    picture(watched.page, "wide")


def test_state_and_events_are_downloaded_and_the_filter_is_in_the_link(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any]
) -> None:
    last = len(small["device_traces"][0]) - 1
    frame = show(watched, server, "small_train", at=last, events="action:segment")
    wanted = [e for e in small["device_traces"][0] if e["action"].startswith("segment")]
    assert frame.get_by_label("Filter events").input_value() == "action:segment"
    with watched.page.expect_download() as download:
        frame.locator(".segments-events a[download]").click()
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
