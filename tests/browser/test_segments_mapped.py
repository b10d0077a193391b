"""The map of real snapshots after events in the middle, against a replay of their files."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.laid import BAR, HEAD, Painted, Strip, parts, strips
from tests.browser.looking import link, settle
from tests.browser.mapping import BACKGROUNDS, in_words, show, told, wait_for_event
from tests.browser.named import group_of, is_called, is_size
from tests.browser.replaying import total_of
from tests.browser.restated import most_reserved, segments_after
from tests.browser.test_segments_painted import WRITTEN, compared
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed

#: Ten streams, and expandable segments that are mapped and unmapped in parts.
STREAMS, EXPANDABLE = "no_time_us_segments", "oom_expandable_3gpu"
#: The frame on the largest free range of a pool and stream.
LARGEST = "#1565c0"


@pytest.fixture(scope="module")
def server(segments_server: TensorBoardServer) -> TensorBoardServer:
    """One on real snapshots and a made one with private pools."""
    return segments_server


def named(shared_data: Path, name: str, ordinal: int = 0) -> File:
    return File(shared_data / "snapshots" / f"{name}.pickle", ordinal)


def go(watched: Watched, frame: FrameLocator, run: str, event: int, **words: object) -> None:
    """Moves the cursor of an open page."""
    address = link(run, "snapshot.pickle", view="segments", at=event, **words)
    watched.page.evaluate("address => { location.hash = address; }", address)
    wait_for_event(frame, event)
    settle(watched.page)


def painted(watched: Watched, frame: FrameLocator, scroll: int = 0) -> tuple[Painted, int]:
    """The map, nothing under the pointer, and how far it is scrolled."""
    watched.page.mouse.move(5, 600)
    area = frame.get_by_test_id("segments-map")
    # By itself it follows the cursor to what its event was about.
    area.evaluate("(box, top) => { box.scrollTop = top; }", scroll)
    settle(watched.page)
    return Painted(frame.get_by_test_id("segments-canvas")), area.evaluate("box => box.scrollTop")


def check_map(
    watched: Watched, frame: FrameLocator, file: File, event: int
) -> tuple[list[Strip], Counter[str]]:
    """That every column of every bar is what it must be, and the largest holes are framed.

    Answers what there is, and how many columns of each kind and how many frames were seen.
    """
    segments, most = segments_after(file, event), most_reserved(file)
    assert told(frame, "Reserved") == sum(each["total_size"] for each in segments)
    found: Counter[str] = Counter()
    for end in (10_000, 0):
        shown, scroll = painted(watched, frame, end)
        laid = list(strips(segments, shown.width, most=most))
        found += compared(shown, laid, scroll)
        framed = shown.places(LARGEST)
        allowed: set[tuple[int, int]] = set()
        for strip, left, right in largest(laid):
            top = int(strip.y) - scroll
            beside = range(int(left) - 1, int(right) + 3)
            allowed |= {(x, y) for x in beside for y in range(top, top + BAR + 1)}
            if right - left < 12 or top < 0 or top + BAR > shown.height:
                continue
            dashes = {x for x in range(int(left) + 2, int(right) - 2) if (x, top + 1) in framed}
            assert len(dashes) > (right - left) / 4, (event, strip)
            found["framed"] += 1
        assert framed <= allowed, event
    return laid, found


def largest(laid: list[Strip]) -> list[tuple[Strip, float, float]]:
    """What the largest hole of each pool and stream covers: strips, from x to x."""
    found = []
    for _, group in groupby(
        laid, key=lambda s: (s.segment["segment_pool_id"], s.segment["stream"])
    ):
        own = list(group)
        holes = [(s.segment["address"], p) for s in own for p in parts(s.segment, "free")]
        if not holes:
            continue
        address, hole = max(holes, key=lambda each: each[1].end - each[1].begin)
        for strip in own:
            begin, end = max(hole.begin, strip.begin), min(hole.end, strip.end)
            if strip.segment["address"] == address and begin < end:
                found.append((strip, strip.x_of(begin), strip.x_of(end)))
    return found


def test_streams_and_pools_have_rows_of_their_own(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    file = named(shared_data, STREAMS)
    watched.page.add_init_script(WRITTEN)
    frame = show(watched, server, STREAMS, at=1_000)
    plugin = next(each for each in watched.page.frames if "name=memory" in each.url)
    seen: set[str] = set()
    for event in (1_000, 3_000, file.peak):
        plugin.evaluate("() => { globalThis.written = []; }")
        if event != 1_000:
            go(watched, frame, STREAMS, event)
        laid, found = check_map(watched, frame, file, event)
        assert found["requested"] > 2_000 and found["free"] > 20 and found["framed"] > 0
        written = {(text.replace("\u00a0", " "), y) for text, y in plugin.evaluate("() => written")}
        tops = {}
        for strip in laid:
            place = strip.segment["segment_pool_id"], strip.segment["stream"]
            tops.setdefault(place, strip.y - HEAD + 13)
        for (pool, stream), top in tops.items():
            words = "default pool" if pool == (0, 0) else "pool not known"
            name = f"{words}, {f'stream {stream:#x}' if stream else 'default stream'}"
            own = {s.segment["address"]: s.segment for s in laid}.values()
            sizes = [
                each["total_size"]
                for each in own
                if (each["segment_pool_id"], each["stream"]) == (pool, stream)
            ]
            sums = f"{in_words(sum(sizes))} in {len(sizes)} segment"
            assert (name, top) in written
            assert any(text.startswith(sums) and y == top for text, y in written), (name, sums)
        seen |= {str(stream) for _, stream in tops}
    assert len(seen) > 3
    pictures(watched.page)


def test_expandable_ranges_are_one_until_they_are_unmapped(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    file = named(shared_data, EXPANDABLE, 1)
    unmapped = [e for e, entry in enumerate(file.trace) if entry["action"] == "segment_unmap"]
    before, after = unmapped[0] - 1, unmapped[-1]
    frame = show(watched, server, EXPANDABLE, device="1", at=before)
    framed = 0
    for event, ranges in ((before, 2), (after, 8), (len(file.trace) - 1, 8)):
        if event != before:
            go(watched, frame, EXPANDABLE, event, device=1)
        laid, found = check_map(watched, frame, file, event)
        assert len({strip.segment["address"] for strip in laid}) == ranges
        assert found["requested"] + found["free"] > 4_000
        framed += found["framed"]
    assert framed >= 3
    pictures(watched.page)


def test_another_device_has_its_own_map(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    facts = json.loads((shared_data / "snapshots" / "facts.json").read_text())
    frame = show(watched, server, EXPANDABLE, device="1")
    for ordinal in (0, 2, 1):
        file = named(shared_data, EXPANDABLE, ordinal)
        known = facts[f"{EXPANDABLE}.pickle"]["devices"][str(ordinal)]
        frame.locator(".item.device", has_text=f"cuda:{ordinal}").click()
        wait_for_event(frame, known["allocated_peak_event"])
        settle(watched.page)
        assert told(frame, "Allocated") == known["allocated_peak"]
        assert told(frame, "Reserved") == total_of(file.replay.after(file.peak))
        check_map(watched, frame, file, file.peak)
        frame.get_by_test_id("events-rows").focus()
        watched.page.keyboard.press("End")
        wait_for_event(frame, known["events"] - 1)
        assert told(frame, "Reserved") == known["reserved_end"]
        assert told(frame, "Allocated") == known["allocated_end"]
        watched.page.keyboard.press("Escape")


def test_the_other_devices_stand_below_as_they_were_then(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    files = [named(shared_data, EXPANDABLE, ordinal) for ordinal in range(3)]
    event = len(files[0].trace) - 1
    then = files[0].trace[event]["time_us"]
    frame = show(watched, server, EXPANDABLE, device="0", at=event)
    others = frame.get_by_test_id("segments-other")
    others.nth(1).wait_for()
    settle(watched.page)
    most = max(most_reserved(file) for file in files[1:])
    for row, file in enumerate(files[1:]):
        at = bisect_right([entry["time_us"] for entry in file.trace], then) - 1
        assert 0 < at < len(file.trace) - 1
        segments = segments_after(file, at)
        shown = Painted(others.nth(row).locator("canvas"))
        # The fullest takes three lines, a third of what the map gives the device it is of.
        found = compared(shown, list(strips(segments, shown.width, most=3 * most)), 0)
        assert found.total() > 50, row
        words = others.nth(row).inner_text()
        assert words.startswith(f"cuda:{row + 1}")
        held = sum(each["total_size"] for each in segments)
        assert in_words(held) in words.replace("\u00a0", " ")
    pictures(watched.page)
    others.nth(1).click()
    wait_for_event(frame, at)
    assert told(frame, "Reserved") == held
    assert others.first.inner_text().startswith("cuda:0")


def test_a_block_is_in_the_colour_of_its_group(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    file = named(shared_data, STREAMS)
    words = {"axis": "event", "blocks": "group", "by": "stream"}
    frame = show(watched, server, STREAMS, at=file.peak, **words)
    # By age colours follow the cursor: what was young then is old at the peak.
    asked = [(by, file.peak) for by in ("stream", "size", "stack", "age")] + [("age", 1_000)]
    for by, event in asked:
        if event != file.peak:
            go(watched, frame, STREAMS, event, blocks="group", by=by)
        frame.locator("select.choice").select_option(by)
        settle(watched.page)
        entries = frame.locator(".segments-legend li:has(i[style])")
        names = [re.sub(r"\s+", " ", text).strip() for text in entries.all_inner_texts()]
        legend = dict(zip(entries.locator("i").evaluate_all(BACKGROUNDS), names, strict=True))
        assert len(legend) == len(names)
        shown, _ = painted(watched, frame)
        segments = segments_after(file, event)
        seen: dict[Any, str] = {}
        for strip in strips(segments, shown.width, most=most_reserved(file)):
            if strip.y + BAR > shown.height:
                continue
            for at, block in placed(strip.segment):
                left, right = strip.x_of(at), strip.x_of(at + block["size"])
                if "life" not in block or right - left < 8 or right > strip.x + strip.width:
                    continue
                (colour,) = shown.colours(int((left + right) / 2), int(strip.y))
                group = group_of(file, block["life"], by, event)
                assert seen.setdefault(group, colour) == colour, (by, block)
                name = legend[colour]
                if name.endswith("smaller groups"):
                    continue
                if by == "size":
                    assert is_size(group, name)
                elif by == "stack" and isinstance(group, tuple):
                    assert is_called(group, name), (name, group)
                else:
                    assert name == group
        assert len({*seen.values()}) > 1, by


def placed(segment: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Blocks with their places in the segment."""
    found, at = [], 0
    for block in segment["blocks"]:
        found.append((at, block))
        at += block["size"]
    return found
