"""By address and in lanes lives of real snapshots are drawn where their files have them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.filed import File, Filed
from tests.browser.looking import settle, settled_address
from tests.browser.looping import wait_without
from tests.browser.marked import HATCH, LINE, OUTLINE
from tests.browser.picturing import Picture
from tests.browser.real import show
from tests.browser.recorded import Recorded
from tests.browser.reference import BACKGROUND, FAINT, Life, lanes, mixed
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

#: Events in view, the peak in the middle; each is a column of its own.
EVENTS = 17
#: Lives that are looked for.
LARGE = 5

#: Where lives of a moment begin and end, in shares of the picture's height.
Places = dict[Filed, tuple[float, float]]


def test_large_lives_are_where_their_file_has_them(
    watched: Watched,
    real_server: TensorBoardServer,
    truth: Recorded,
    shared_data: Path,
    pictures: Any,
) -> None:
    file = File(shared_data / "snapshots" / f"{truth.name}.pickle")
    large = sorted(file.alive(file.peak), key=lambda life: -life.bytes)[:LARGE]
    window = f"{file.peak - EVENTS // 2}..{file.peak + EVENTS // 2 + 1}"
    shown = show(watched, real_server, truth, window=window)
    for layout, place in {"address": by_address(file), "lane": in_lanes(file)}.items():
        shown.frame.get_by_role("radio", name=layout).click()
        settled_address(watched.page, f"p.memory.layout={layout}")
        shown.wait()
        before = middle(shown)
        for life in large:
            low, high = place[life]
            assert (high - low) * len(before) > 4
            told = shown.hover(0.5, (low + high) / 2)
            assert f"{life.bytes} bytes" in told and f"event {file.peak}" in told
            near = re.search(r"about 0x([0-9a-f]+),", told)
            assert (near is not None) is (layout == "address")
            if near:
                assert life.address <= int(near[1], 16) < life.address + life.bytes
            shown.click(0.5, (low + high) / 2)
            shown.frame.locator(".inspector", has_text=hex(life.address)).wait_for()
        check_marks(middle(shown), place, large[-1])
        pictures(watched.page, layout)
        watched.page.keyboard.press("Escape")
        wait_without(watched, "allocation")
        # Of what is searched for by its address all others stand back.
        held = large[0]
        shown.frame.get_by_label("Find allocations").fill(hex(held.address + held.bytes // 2))
        shown.frame.get_by_test_id("allocations-hits").wait_for()
        shown.wait()
        after = middle(shown)
        for life in large:
            at = int(sum(place[life]) / 2 * len(before))
            faint = mixed(before[at], BACKGROUND["light"], FAINT)
            assert after[at] == (before[at] if life == held else faint)
        shown.frame.get_by_label("Find allocations").fill("")
        shown.wait()


def middle(shown: Picture) -> list[str]:
    """The colours after the peak from the bottom up, nothing under the pointer."""
    shown.page.mouse.move(5, 400)
    settle(shown.page)
    pixels = shown.pixels()
    return pixels[len(pixels) // 2]


def check_marks(column: list[str], place: Places, chosen: Filed) -> None:
    """That the chosen one is outlined, its siblings are hatched, and nothing else is marked."""
    marked = {y for y, colour in enumerate(column) if colour == OUTLINE}
    for life, ends in place.items():
        first, last = (round(share * len(column)) for share in ends)
        if life == chosen:
            assert {first, last - 1} <= {y + off for y in marked for off in (-1, 0, 1)}
            assert not marked & {*range(first + LINE + 1, last - LINE - 1)}
        elif life.stack == chosen.stack:
            assert last - first < HATCH + 2 or marked & {*range(first + 1, last - 1)}
        else:
            continue
        marked -= {*range(first - 1, last + 1)}
    assert not marked


def by_address(file: File) -> Places:
    """All that is ever mapped lies one above the other, without what is never between."""
    spans = [
        (entry["addr"], entry["addr"] + entry["size"])
        for entry in file.trace
        if entry["action"].startswith("segment_")
    ]
    spans += [(s["address"], s["address"] + s["total_size"]) for s in file.replay.segments]
    end = top = 0
    bottoms = dict[Filed, int]()
    alive = file.alive(file.peak)
    for begin, stop in sorted(spans):
        begin = max(begin, end)
        for life in alive:
            if begin <= life.address < stop:
                bottoms[life] = top + life.address - begin
        top += max(stop - begin, 0)
        end = max(stop, end)
    assert len(bottoms) == len(alive)
    return _shares(bottoms, top)


def in_lanes(file: File) -> Places:
    """As brute force has it of all the lives there are."""
    whole = sorted(file.lives, key=lambda life: (life.birth, life.address))
    events = len(file.trace)
    of = [
        Life(life.birth, int(min(life.death, events)), life.bytes, "", life.address)
        for life in whole
    ]
    bottoms = dict(zip(whole, lanes(of), strict=True))
    top = max(bottom + life.bytes for life, bottom in bottoms.items())
    return _shares({life: bottoms[life] for life in file.alive(file.peak)}, top)


def _shares(bottoms: dict[Filed, int], top: int) -> Places:
    return {life: (bottom / top, (bottom + life.bytes) / top) for life, bottom in bottoms.items()}
