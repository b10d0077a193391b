"""How the picture of allocations is zoomed, panned and measured, in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.charting import HEADROOM
from tests.browser.conftest import Watched
from tests.browser.looking import settle, words_of
from tests.browser.loop import Loop
from tests.browser.looping import across, open_loop, shown_range, wait_without, word_of
from tests.browser.reference import BACKGROUND
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

MIB = 1 << 20


def test_wheel_and_keys_zoom_both_ways(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = open_loop(watched, server)
    watched.page.mouse.move(*picture.point(0.5, 0.25))
    watched.page.mouse.wheel(0, -240)
    begin, end = shown_range(watched, "window")
    events = len(made.allocated)
    assert end - begin == pytest.approx(events / 2, abs=3)
    assert (begin + end) / 2 == pytest.approx(events / 2, abs=3)
    watched.page.keyboard.down("Control")
    watched.page.mouse.wheel(0, -240)
    watched.page.keyboard.up("Control")
    low, high = shown_range(watched, "bytes")
    top = made.peak_bytes * 1.06
    assert high - low == pytest.approx(top / 2, rel=0.01)
    assert low + (high - low) / 4 == pytest.approx(top / 4, rel=0.01)
    picture.canvas.focus()
    watched.page.keyboard.press("0")
    wait_without(watched, "window")
    wait_without(watched, "bytes")
    box = picture.box()
    watched.page.mouse.move(box["x"] - 30, box["y"] + box["height"] / 2)
    watched.page.mouse.wheel(0, -240)  # over the axis of bytes
    low, high = shown_range(watched, "bytes")
    assert high - low == pytest.approx(top / 2, rel=0.01)
    watched.page.keyboard.press("ArrowUp")
    assert shown_range(watched, "bytes")[0] > low
    watched.page.keyboard.press("-")
    watched.page.keyboard.press("-")
    wait_without(watched, "bytes")
    watched.page.mouse.move(*picture.point(0.5, 0.5))
    for key, grows in (("w", False), ("s", True)):
        before = _window(watched, events)
        after = _pressed(watched, key, events)
        assert (after[1] - after[0] > before[1] - before[0]) is grows
    middle = _pressed(watched, "w", events)
    assert _pressed(watched, "a", events)[0] < middle[0]
    assert _pressed(watched, "d", events) == middle


def _pressed(watched: Watched, key: str, events: int) -> tuple[int, int]:
    """The window after a key that changes it."""
    before = watched.page.url
    watched.page.keyboard.press(key)
    watched.page.wait_for_function("url => location.href !== url", arg=before)
    return _window(watched, events)


def _window(watched: Watched, events: int) -> tuple[int, int]:
    settle(watched.page)
    found = words_of(watched.page.url).get("window")
    if found is None:
        return 0, events
    begin, end = found.split("..")
    return int(begin), int(end)


def test_brushes_zoom_to_what_they_were_drawn_over(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = open_loop(watched, server)
    events, top = len(made.allocated), made.peak_bytes * 1.06
    picture.drag((0.25, 0.2), (0.5, 0.6))
    assert shown_range(watched, "window") == pytest.approx((events * 0.25, events * 0.5), abs=3)
    assert shown_range(watched, "bytes") == pytest.approx((top * 0.2, top * 0.6), rel=0.02)
    picture.wait()
    picture.frame.get_by_role("button", name="fit", exact=True).click()
    wait_without(watched, "window")
    wait_without(watched, "bytes")
    picture.drag((0.25, 0.5), (0.5, 0.505))
    assert shown_range(watched, "window") == pytest.approx((events * 0.25, events * 0.5), abs=3)
    assert "bytes" not in words_of(watched.page.url)
    box = picture.box()
    watched.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 4)
    wait_without(watched, "window")
    picture.drag((0.5, 0.2), (0.502, 0.6))
    assert shown_range(watched, "bytes") == pytest.approx((top * 0.2, top * 0.6), rel=0.02)
    assert "window" not in words_of(watched.page.url)


def test_a_drag_with_shift_pans(watched: Watched, server: TensorBoardServer, made: Loop) -> None:
    picture = open_loop(watched, server, window="200..400", bytes=f"0..{500 * MIB}")
    watched.page.keyboard.down("Shift")
    picture.drag((0.5, 0.5), (0.25, 0.3))
    watched.page.keyboard.up("Shift")
    assert shown_range(watched, "window") == pytest.approx((250, 450), abs=2)
    assert shown_range(watched, "bytes") == pytest.approx((100 * MIB, 600 * MIB), rel=0.03)


def test_a_ruler_measures_time_and_bytes(
    watched: Watched, server: TensorBoardServer, made: Loop, picture: Any
) -> None:
    shown = open_loop(watched, server)
    before = shown.frame.get_by_test_id("allocations-overlay").evaluate("c => c.toDataURL()")
    shown.frame.get_by_role("button", name="measure").click()
    shown.drag((0.2, 0.3), (0.6, 0.8))
    watched.page.mouse.move(2, 2)
    spoken = shown.frame.get_by_test_id("allocations-ruler").inner_text().replace("\u202f", "")
    assert spoken.startswith(f"Δ {round(0.4 * len(made.allocated))} events")
    found = re.search(r"\+([\d.]+)\sGiB", spoken)
    assert found
    assert float(found[1]) == pytest.approx(0.5 * made.peak_bytes * 1.06 / 2**30, abs=0.02)
    assert (
        shown.frame.get_by_test_id("allocations-overlay").evaluate("c => c.toDataURL()") != before
    )
    assert "window" not in words_of(watched.page.url)
    picture(watched.page, "light")
    ruler, measure = (
        shown.frame.get_by_test_id("allocations-ruler"),
        shown.frame.get_by_role("button", name="measure"),
    )
    shown.canvas.focus()
    watched.page.keyboard.press("Escape")
    assert ruler.inner_text() == ""
    assert measure.get_attribute("aria-pressed") == "true"
    watched.page.keyboard.press("m")
    assert measure.get_attribute("aria-pressed") == "false"
    # With Alt once only.
    watched.page.keyboard.down("Alt")
    shown.drag((0.2, 0.3), (0.7, 0.3))
    watched.page.keyboard.up("Alt")
    told = f"Δ {round(0.5 * len(made.allocated))} events"
    assert ruler.inner_text().replace("\u202f", "").startswith(told)
    watched.page.keyboard.press("Escape")
    watched.page.keyboard.press("m")
    shown.drag((0.2, 0.3), (0.6, 0.3))
    told = f"Δ {round(0.4 * len(made.allocated))} events"
    assert ruler.inner_text().replace("\u202f", "").startswith(told)
    assert "window" not in words_of(watched.page.url)
    watched.page.keyboard.press("m")
    shown.drag((0.25, 0.5), (0.5, 0.505))
    assert shown_range(watched, "window")[0] > 0


def test_what_is_in_view_is_stretched_over_the_height(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    first, last = 5, made.steps[0][0] + 10
    picture = open_loop(watched, server, window=f"{first}..{last}")
    most = max(made.allocated[first:last])
    assert picture.highest()[0] == most < made.peak_bytes / 2
    picture.frame.get_by_role("button", name="fit height").click()
    low, high = shown_range(watched, "bytes")
    assert low == 0
    assert high == pytest.approx(most * HEADROOM, abs=1)
    assert shown_range(watched, "window") == (first, last)
    picture.wait()
    # The highest column reaches as far as it then must, and no further.
    pixels = picture.pixels()
    tall = max(sum(colour != BACKGROUND["light"] for colour in column) for column in pixels)
    assert tall == pytest.approx(len(pixels[0]) / HEADROOM, abs=1)


def test_steps_and_map_are_aligned_with_it(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = open_loop(watched, server)
    first, last = made.steps[1]
    middle = across(made, (first + last) / 2)
    track = picture.frame.get_by_test_id("timeline-steps")
    box = track.bounding_box()
    assert box
    watched.page.mouse.click(picture.point(middle, 0)[0], box["y"] + box["height"] / 2)
    assert shown_range(watched, "window") == pytest.approx((first, last), abs=4)
    picture.wait()
    assert picture.highest()[0] == made.peak_bytes


def test_without_a_mouse_all_is_within_reach(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = open_loop(watched, server)
    picture.canvas.focus()
    watched.page.keyboard.press("ArrowLeft")
    at = int(word_of(watched, "at"))
    assert at < made.peak
    picture.frame.get_by_role("button", name="table").press("Enter")
    picture.frame.locator("table.groups tr[data-row]").first.wait_for()
    assert word_of(watched, "at") == str(at)
