"""Both axes of the picture of real snapshots: what is in view, how far apart it is."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from typing import Any

import pytest

from tests.browser.charting import HEADROOM
from tests.browser.conftest import Watched
from tests.browser.looking import words_of
from tests.browser.picturing import Picture
from tests.browser.real import NAMES, show, span
from tests.browser.recorded import Recorded
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def test_the_map_moves_and_resizes_what_is_seen(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded
) -> None:
    shown = show(watched, real_server, truth)
    events = truth.events
    box = shown.map.bounding_box()
    assert box
    plot = shown.box()
    y = box["y"] + box["height"] / 2

    def drag(begin: float, end: float) -> tuple[int, int]:
        x = [plot["x"] + share * plot["width"] for share in (begin, (begin + end) / 2, end)]
        watched.page.mouse.move(x[0], y)
        watched.page.mouse.down()
        watched.page.mouse.move(x[1], y)
        watched.page.mouse.move(x[2], y)
        watched.page.mouse.up()
        shown.wait()
        found = span(watched, "window")
        highest(shown, truth, found)
        return found

    near = events / plot["width"] * 2 + 1
    assert drag(1, 0.6) == pytest.approx((0, 0.6 * events), abs=near)  # its right edge
    assert drag(0, 0.2) == pytest.approx((0.2 * events, 0.6 * events), abs=near)  # its left one
    begin, end = drag(0.4, 0.5)  # all of it
    assert (begin, end) == pytest.approx((0.3 * events, 0.7 * events), abs=near)
    begin, end = drag(0.4, 2)  # not beyond the end
    assert (begin, end) == pytest.approx((0.6 * events, events), abs=near)
    assert end == events
    shown.map.focus()
    watched.page.keyboard.press("Home")
    assert span(watched, "window") == (0, end - begin)
    watched.page.keyboard.press("0")
    watched.page.wait_for_function("() => !location.hash.includes('p.memory.window=')")


def highest(shown: Picture, truth: Recorded, window: tuple[int, int]) -> None:
    """That what is said to be highest in a window is, and is that of the event it is said of."""
    total, count = shown.highest()
    at = re.search(r"at event (\d+)", shown.described())
    assert at
    alive = [life.bytes for life in truth.alive(int(at[1]))]
    assert (total, count) == (sum(alive), len(alive))
    assert total >= truth.highest(lambda _: True, *window)[0]
    # The bins at the ends may hold some events from beyond.
    bins = 2 + (window[1] - window[0]) // 256
    wider = (window[0] - bins, window[1] + bins)
    assert total <= truth.highest(lambda _: True, *wider)[0]


@pytest.mark.parametrize("truth", NAMES[1:], indirect=True)
def test_zooming_in_bytes_moves_nothing(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    window = (truth.peak - 8, truth.peak + 9)
    shown = show(watched, real_server, truth, window=f"{window[0]}..{window[1]}")
    # What is alive after one event only is on top of the others.
    alive = sorted(truth.alive(truth.peak), key=lambda life: life.death - life.birth == 1)
    tops = list(itertools.accumulate(life.bytes for life in alive))
    across = (8 + 0.5) / 17
    top = truth.highest(lambda _: True)[0] * HEADROOM

    def check() -> int:
        address = words_of(watched.page.url)
        low, high = span(watched, "bytes") if "bytes" in address else (0, top)
        pixel = (high - low) / shown.box()["height"]
        there = [
            (life, end - life.bytes / 2)
            for life, end in zip(alive, tops, strict=True)
            if life.bytes >= 4 * pixel and low < end - life.bytes / 2 < high
        ]
        chosen = there[:: max(1, len(there) // 4)]
        for life, middle in chosen:
            told = shown.hover(across, (middle - low) / (high - low))
            assert f"{life.bytes} bytes" in told, (life.id, told)
            assert f"event {truth.peak}" in told
        return len(chosen)

    seen = check()
    x = shown.point(across, 0)[0]
    for way, up in (("wheel", 0.3), ("axis", 0.6), ("keys", 0.45), ("wheel", 0.5)):
        y = shown.point(across, up)[1]
        if way == "axis":
            watched.page.mouse.move(shown.box()["x"] - 30, y)
            watched.page.mouse.wheel(0, -240)
        elif way == "wheel":
            watched.page.mouse.move(x, y)
            watched.page.keyboard.down("Control")
            watched.page.mouse.wheel(0, -240)
            watched.page.keyboard.up("Control")
        else:
            watched.page.mouse.move(x, y)
            shown.canvas.focus()
            for key in ("+", "+", "ArrowUp", "-", "ArrowDown"):
                watched.page.keyboard.press(key)
        shown.wait()
        seen += check()
    assert seen >= 6
    assert span(watched, "window") == window  # sideways nothing moved either
    pictures(watched.page, "near")


def test_time_is_an_axis_and_is_measured(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    shown = show(watched, real_server, truth, axis="time")
    begin, end = truth.times[0], truth.times[-1]
    most, _ = truth.highest(lambda _: True)
    assert shown.highest()[0] == most
    assert f"at event {truth.peak} " in shown.described()
    share = (truth.times[truth.peak] - begin) / (end - begin)
    watched.page.mouse.move(*shown.point(share, 0.2))
    for _ in range(3):
        watched.page.mouse.wheel(0, -240)
    shown.wait()
    window = span(watched, "window")
    assert window[0] <= truth.times[truth.peak] <= window[1]
    assert window[1] - window[0] == pytest.approx((end - begin) / 8, rel=0.02)
    assert shown.highest()[0] == most
    shown.frame.get_by_role("button", name="measure").click()
    shown.drag((0.25, 0.3), (0.75, 0.8))
    told = measured(shown)
    assert told == pytest.approx(((window[1] - window[0]) / 2, 0.5 * most * HEADROOM), rel=0.02)
    pictures(watched.page, "measured")
    shown.drag((0.75, 0.8), (0.5, 0.6))
    told = measured(shown)
    assert told == pytest.approx(((window[1] - window[0]) / 4, -0.2 * most * HEADROOM), rel=0.02)
    assert span(watched, "window") == window
    # The same moments by event: what is in view stays in view.
    shown.frame.get_by_role("radio", name="event", exact=True).click()
    shown.wait()
    first, last = span(watched, "window")
    assert first <= truth.peak < last
    wanted = (bisect_left(truth.times, window[0]), bisect_right(truth.times, window[1]))
    assert (first, last) == pytest.approx(wanted, abs=truth.events / 400 + 2)


def measured(shown: Picture) -> tuple[float, float]:
    """Nanoseconds and bytes that the ruler tells."""
    text = shown.frame.get_by_test_id("allocations-ruler").inner_text()
    text = re.sub("[\u202f\u00a0]", "", text).replace("\u2212", "-")
    found = re.fullmatch(r"Δ([\d.]+)([nµm]?s),Δ\+?(-?[\d.]+)([KMG]i)?B", text.replace(" ", ""))
    assert found, text
    units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
    powers = {None: 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
    return float(found[1]) * units[found[2]], float(found[3]) * powers[found[4]]
