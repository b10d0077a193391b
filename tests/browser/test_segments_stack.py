"""The stacked timeline of segments, in a real browser, against a replay of the snapshot."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.charting import ABOVE, BELOW, HEADROOM, LEFT
from tests.browser.conftest import Watched
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.mapping import BACKGROUNDS, RIGHT, in_words, show, wait_for_event
from tests.browser.picturing import pixels_of
from tests.browser.replaying import Replay, by_place, part_at, total_of
from tests.browser.strips import compare, least_drawn, piled
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(segments_server: TensorBoardServer) -> TensorBoardServer:
    """One on real snapshots and a made one with private pools."""
    return segments_server


def test_segments_are_stacked_over_time(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    replay = Replay.of(shared_data / "snapshots" / "oom_expandable_3gpu.pickle", 1)
    peak = max(map(total_of, replay.states(0, len(replay.trace))))
    frame = show(watched, server, "oom_expandable_3gpu", device="1", axis="event")
    stack = frame.get_by_test_id("segments-stack")
    stack.scroll_into_view_if_needed()
    frame.get_by_test_id("segments-front").wait_for()
    settle(watched.page)
    box = stack.bounding_box()
    assert box
    plot = box["height"] - ABOVE - BELOW
    tooltip = frame.get_by_test_id("segments-stack-tooltip")
    alone = set()
    for share in (0.02, 0.3, 0.5, 0.66, 0.7, 0.95):
        for down in (30, 50, 80, 100, 110, 130, 153):
            across = box["x"] + LEFT + share * (box["width"] - LEFT - RIGHT)
            watched.page.mouse.move(across, box["y"] + down)
            tooltip.wait_for()
            watched.page.wait_for_timeout(30)
            text = tooltip.inner_text().replace("\u202f", "").replace("\u00a0", " ")
            instant = re.search(r"event (\d+)", text)
            assert instant and abs(int(instant[1]) - share * len(replay.trace)) < 2
            held = replay.parts(int(instant[1]))
            total = f"{in_words(total_of(held))} in {len(held)} mapped ranges at this instant"
            assert re.search(rf"^{total}$", text, re.MULTILINE)
            # Within a pixel of the pointer there is what the tooltip tells, in the order of births.
            pixel = peak * HEADROOM / plot
            height = (plot + ABOVE - down) * pixel
            there = {part_at(held, height + off) for off in (-pixel, 0, pixel)}
            one = re.match(r"1 mapped range of default pool, default stream\n.*, (\d+) bytes", text)
            if one:
                assert int(one[1]) in {part.size for part in there if part}
                alone.add(int(one[1]))
            else:
                assert None in there or text.startswith("2 mapped ranges")
    assert len(alone) > 3
    pictures(watched.page)
    event = int(instant[1])
    watched.page.mouse.down()
    watched.page.mouse.up()
    wait_for_event(frame, event)
    before = words_of(watched.page.url).get("window")
    watched.page.mouse.wheel(0, -200)
    assert words_of(settled_address(watched.page, "p.memory.window"))["window"] != before


def test_segments_over_time_are_in_the_colour_of_their_pool_and_stream(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    begin, end = 5_000, 5_500  # fewer events than pixels: each has columns of its own
    replay = Replay.of(shared_data / "snapshots" / "no_time_us_segments.pickle", 0)
    states = replay.states(begin, end)
    places = by_place(replay, states)
    words = {"axis": "event", "window": f"{begin}..{end}", "at": begin + 3}
    frame = show(watched, server, "no_time_us_segments", **words)
    pools = frame.locator(".segments-pool")
    pools.first.wait_for()
    names = pools.evaluate_all("all => all.map((each) => each.dataset.pool)")
    swatches = pools.locator("figcaption i").evaluate_all(BACKGROUNDS)
    colours = dict(zip(names, swatches, strict=True))
    assert len({*swatches}) == len(names)
    stack = frame.get_by_test_id("segments-stack")
    stack.scroll_into_view_if_needed()
    frame.get_by_test_id("segments-front").wait_for()
    watched.page.mouse.move(5, 400)
    settle(watched.page)
    pixels = pixels_of(frame.get_by_test_id("segments-front"))
    box = stack.bounding_box()
    assert box
    wide, tall = len(pixels), len(pixels[0])
    assert tall == round(box["height"] - ABOVE - BELOW)
    top = max(map(total_of, replay.states(0, len(replay.trace)))) * HEADROOM
    held = [sorted(each, key=lambda each: (each.since, each.address)) for each in states]
    named = [{each: name for name, own in there.items() for each in own} for there in places]
    least = least_drawn(top, tall)
    piles = [
        piled([(each.size, colours[named[at][each]]) for each in held[at]], [], least)
        for at in range(end - begin)
    ]
    shown = [math.ceil((x + 1) * (end - begin) / wide) - 1 for x in range(wide)]
    compare(pixels, [piles[at] for at in shown], top / tall)
    tooltip = frame.get_by_test_id("segments-stack-tooltip")
    seen = set()
    for x in range(20, wide, wide // 8):
        at, below = shown[x], 0
        for each in held[at]:
            below += each.size
            name = named[at][each]
            if each.size < 3 * top / tall or (name, at // 100) in seen:
                continue
            y = int((below - each.size / 2) * tall / top)
            assert pixels[x][y] == colours[name], (x, y, name)
            seen.add((name, at // 100))
            watched.page.mouse.move(box["x"] + LEFT + x + 0.5, box["y"] + ABOVE + tall - y - 0.5)
            tooltip.wait_for()
            watched.page.wait_for_timeout(50)
            assert tooltip.locator("i").evaluate_all(BACKGROUNDS) == [colours[name]]
            said, size = tooltip.inner_text().splitlines()[:2]
            assert re.sub(r"\D", "", size.split(",")[1]) == str(each.size), (said, size)
            assert ("default pool" if name.startswith("0,0@") else "pool not known") in said
    assert len({name for name, _ in seen}) == 2
    pictures(watched.page)
