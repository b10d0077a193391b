"""Segments over time, in a real browser: played, dragged, and the envelopes of pools."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import charting
from tests.browser.charting import ABOVE, BELOW, HEADROOM, LEFT
from tests.browser.conftest import Watched
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.mapping import RIGHT, event_of, replayed, show, told
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(segments_server: TensorBoardServer) -> TensorBoardServer:
    """One on real snapshots and a made one with private pools."""
    return segments_server


def test_it_plays_along_either_axis_and_stops(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any]
) -> None:
    frame = show(watched, server, "small_train", axis="event", at=10)
    trace = small["device_traces"][0]
    first, last = (trace[at]["time_us"] for at in (0, -1))
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
    assert cursor_share(frame) == pytest.approx(stopped / len(trace), abs=0.005)
    watched.page.wait_for_timeout(500)
    assert event_of(frame) == stopped
    watched.page.keyboard.press("Space")
    watched.page.wait_for_timeout(500)
    watched.page.keyboard.press("Space")
    settle(watched.page)
    paused = event_of(frame)
    assert paused > stopped

    frame.get_by_role("radio", name="time", exact=True).click()
    settle(watched.page)
    assert event_of(frame) == paused
    shares = [cursor_share(frame)]
    apart = []  # the shares of the axis of events from these
    for _ in range(3):
        event = event_of(frame)
        play.click()
        frame.locator(
            f"[data-testid=segments-state] [data-event]:not([data-event='{event}'])"
        ).wait_for()
        watched.page.wait_for_timeout(300)
        play.click()
        settle(watched.page)
        event = event_of(frame)
        shares.append(cursor_share(frame))
        apart.append(abs(shares[-1] - event / len(trace)))
        share = (trace[event]["time_us"] - first) / (last - first)
        assert shares[-1] == pytest.approx(share, abs=0.005)
        assert (told(frame, "Allocated"), told(frame, "Reserved")) == replayed(small, event)
    assert shares == sorted(set(shares)), "it goes on along the axis of time"
    assert max(apart) > 0.01, "which is another than that of events"


#: Keeps every event that is shown.
_FOLLOW = """state => {
  const event = () => Number(state.querySelector("[data-event]")?.dataset.event);
  globalThis.shown = [event()];
  globalThis.follower?.disconnect();
  globalThis.follower = new MutationObserver(() => {
    if (event() !== globalThis.shown.at(-1)) globalThis.shown.push(event());
  });
  const all = { attributes: true, childList: true, subtree: true };
  globalThis.follower.observe(state, all);
}"""


def test_it_is_played_faster_and_slower(watched: Watched, server: TensorBoardServer) -> None:
    # A bin an event: the 1 000 of the window take 20 s at the usual speed, 100 ms a picture.
    frame = show(watched, server, "small_train", axis="event", at=2, window="0..1000")
    (inside,) = (each for each in watched.page.frames if "name=memory" in each.url)
    play = frame.get_by_test_id("segments-play")
    for speed, stride in (("¼×", 1), ("4×", 20), ("1×", 5)):
        frame.get_by_role("radio", name=speed).click()
        frame.get_by_test_id("segments-state").evaluate(_FOLLOW)
        play.click()
        inside.wait_for_function("() => globalThis.shown.length > 4")
        play.click()
        shown = inside.evaluate("() => globalThis.shown")
        # An event that moves nothing is passed over; under load a picture may be.
        least = min(after - before for before, after in pairwise(shown))
        assert abs(least - stride) <= (stride > 1), (speed, shown)


#: Where across a canvas the most of its pixels are of a colour.
_MOST = """(canvas, colour) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const counts = new Array(width).fill(0);
  for (let at = 0; at < data.length; at += 4)
    if (colour.every((part, of) => data[at + of] === part)) counts[(at / 4) % width] += 1;
  return counts.indexOf(Math.max(...counts)) / (width / canvas.clientWidth);
}"""


def cursor_share(frame: FrameLocator) -> float:
    """Where the chart's cursor is, as a share of the plot's width."""
    canvas = frame.get_by_test_id("timeline-overlay")
    width = canvas.evaluate("canvas => canvas.clientWidth")
    at = canvas.evaluate(_MOST, [0x15, 0x65, 0xC0])
    return float(at + 0.5 - LEFT) / (width - LEFT - RIGHT)


def test_the_chart_tells_every_figure_and_the_cursor_is_dragged_on_it(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any]
) -> None:
    frame = show(watched, server, "small_train", axis="event", at=1000)
    canvas = frame.get_by_test_id("timeline-canvas")
    canvas.scroll_into_view_if_needed()
    settle(watched.page)
    box = canvas.bounding_box()
    assert box
    width = box["width"] - LEFT - RIGHT
    whole = len(small["device_traces"][0])
    y = box["y"] + ABOVE + 40

    def at(event: int) -> float:
        return box["x"] + LEFT + event / whole * width

    tooltip = frame.get_by_test_id("timeline-tooltip")
    seen = set()
    for wanted in (0, 30, 700, 1500, 2600, whole - 1):
        watched.page.mouse.move(at(wanted) + 0.5, y)
        tooltip.wait_for()
        watched.page.wait_for_timeout(50)
        text = tooltip.inner_text().replace("\u202f", "").replace("\u00a0", " ")
        event = int((re.match(r"(?:since )?event (\d+)", text) or [0, -1])[1])
        assert abs(event - wanted) < 20
        allocated, reserved = replayed(small, event)
        told = {
            label: int(re.sub(r"\D", "", tooltip.locator(f"[data-exact='{label}']").inner_text()))
            for label in ("allocated (requested)", "reserved")
        }
        assert told == {"allocated (requested)": allocated, "reserved": reserved}
        lost = f"{100 * (1 - allocated / reserved):.1f} %"
        assert re.search(rf"fragmentation\s+{re.escape(lost)}\s+1 − allocated ÷ reserved", text)
        seen.add((allocated, reserved, lost))
    assert len(seen) == 6, "no figure is that of another event"

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


#: The rows of every column of a canvas that are in a colour.
_ROWS = """(canvas, colour) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const found = Array.from({ length: width }, () => []);
  for (let at = 0; at < data.length; at += 4)
    if (colour.every((part, of) => Math.abs(data[at + of] - part) < 3))
      found[(at / 4) % width].push(Math.floor(at / 4 / width));
  return found;
}"""
_INK, _ORANGE = (0x21, 0x21, 0x21), (0xF5, 0x7C, 0x00)


def test_lines_stand_where_the_replay_says(
    watched: Watched, server: TensorBoardServer, small: dict[str, Any], pictures: Any
) -> None:
    begin, end = 1_550, 1_850  # fewer events than pixels: each has columns of its own
    states = [replayed(small, event) for event in range(begin, end)]
    lost = [1 - allocated / reserved for allocated, reserved in states]
    held = [reserved for _, reserved in states]
    # Around the highest event its bytes are written over the lines.
    highest = max(range(len(states)), key=lambda at: states[at][0])
    shown = [at for at in range(len(states)) if abs(at - highest) > 70]
    assert len({held[at] for at in shown}) > 4 and len({lost[at] for at in shown}) > 30
    words = {"axis": "event", "window": f"{begin}..{end}", "at": begin + 3}
    frame = show(watched, server, "small_train", **words)
    canvas = frame.get_by_test_id("timeline-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    height = box["height"] - ABOVE - BELOW
    top = max(map(max, states)) * HEADROOM
    # With a line its axis goes, too.
    lines = {
        "reserved": (_INK, [each / top for each in held], charting.RIGHT),
        "fragmentation": (_ORANGE, lost, RIGHT),
    }
    for name, (colour, shares, right) in lines.items():
        width = box["width"] - LEFT - right
        other = next(each for each in lines if each != name)
        frame.locator(".timeline-lines button", has_text=other).click()
        watched.page.mouse.move(5, 400)
        settle(watched.page)
        rows = canvas.evaluate(_ROWS, colour)
        for at in shown:
            y = ABOVE + (1 - shares[at]) * height
            # Not where it goes up or down: from the middle of what one event has.
            column = rows[int(LEFT + (at + 0.5) * width / len(shares))]
            inside = [row for row in column if ABOVE <= row <= ABOVE + height]
            assert any(abs(row + 0.5 - y) <= 1.5 for row in inside), (name, at, y, inside)
            assert len(inside) < 12 or len({*shares[max(0, at - 1) : at + 2]}) > 1, (name, at)
        frame.locator(".timeline-lines button", has_text=other).click()
    pictures(watched.page)


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
