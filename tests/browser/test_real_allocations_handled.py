"""What a hand does on the picture of real snapshots: stretches, measures, moves, picks, opens."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from typing import Any

import pytest

from tests.browser.charting import HEADROOM
from tests.browser.conftest import Watched
from tests.browser.looking import words_of
from tests.browser.looping import whole_legend
from tests.browser.named import in_figures
from tests.browser.picturing import Picture
from tests.browser.real import NAMES, agree, digits, show, span
from tests.browser.recorded import Life, Recorded
from tests.browser.reference import BACKGROUND, FAINT, mixed
from tests.browser.strips import PALE
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

SEVERAL, GAP = "Click to zoom in on them", "Click to zoom in until they can be seen"


def test_what_is_in_view_is_stretched_over_the_height(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    wide = 64
    starts = range(wide, truth.events - wide, wide)
    most = {begin: max(truth.allocated[begin + 1 : begin + wide + 1]) for begin in starts}
    begin = min(starts, key=lambda begin: most[begin])
    assert most[begin] < max(truth.allocated) * 0.9
    window = begin, begin + wide
    shown = show(watched, real_server, truth, window=f"{begin}..{begin + wide}")
    agree(shown, truth, lambda _: True, window)
    shown.frame.get_by_role("button", name="fit height").click()
    shown.wait()
    low, high = span(watched, "bytes")
    assert low == 0
    assert high == pytest.approx(most[begin] * HEADROOM, abs=1)
    assert span(watched, "window") == window
    agree(shown, truth, lambda _: True, window)
    # The highest column reaches as far as it then must, and no further.
    pixels = shown.pixels()
    tall = max(sum(colour != BACKGROUND["light"] for colour in column) for column in pixels)
    assert tall == pytest.approx(len(pixels[0]) / HEADROOM, abs=1)
    pictures(watched.page, "stretched")


def test_the_ruler_comes_with_alt_and_with_a_key(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded
) -> None:
    window = truth.peak - 50, truth.peak + 50
    shown = show(watched, real_server, truth, window=f"{window[0]}..{window[1]}")
    ruler = shown.frame.get_by_test_id("allocations-ruler")
    measure = shown.frame.get_by_role("button", name="measure")
    top = max(truth.allocated) * HEADROOM

    def check(across: float, up: float) -> None:
        events, size = measured(ruler.inner_text())
        assert events == round(across * (window[1] - window[0]))
        assert size == pytest.approx(up * top, rel=0.01)
        assert span(watched, "window") == window
        assert "bytes" not in words_of(watched.page.url)

    watched.page.keyboard.down("Alt")
    shown.drag((0.2, 0.3), (0.7, 0.8))
    watched.page.keyboard.up("Alt")
    check(0.5, 0.5)
    assert measure.get_attribute("aria-pressed") == "false"
    shown.canvas.focus()
    watched.page.keyboard.press("Escape")
    assert ruler.inner_text() == ""
    watched.page.keyboard.press("m")
    assert measure.get_attribute("aria-pressed") == "true"
    shown.drag((0.9, 0.8), (0.3, 0.4))
    check(0.6, -0.4)
    watched.page.keyboard.press("Escape")
    watched.page.keyboard.press("m")
    assert measure.get_attribute("aria-pressed") == "false"
    # Without it a drag zooms.
    shown.drag((0.25, 0.5), (0.75, 0.505))
    begin, end = span(watched, "window")
    assert (begin, end) == pytest.approx((window[0] + 25, window[0] + 75), abs=1)


def measured(text: str) -> tuple[int, float]:
    """Events and bytes that the ruler tells."""
    plain = re.sub(r"\s", "", text).replace("\u2212", "-")
    found = re.fullmatch(r"Δ(\d+)events?,Δ\+?(-?[\d.]+)([KMG]i)?B", plain)
    assert found, text
    powers = {None: 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
    return int(found[1]), float(found[2]) * powers[found[3]]


def test_a_drag_with_shift_moves_it_to_a_pixel(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded
) -> None:
    top = max(truth.allocated)
    window, reach = (truth.peak - 100, truth.peak + 100), (top // 4, top // 4 * 3)
    words = {"window": f"{window[0]}..{window[1]}", "bytes": f"{reach[0]}..{reach[1]}"}
    shown = show(watched, real_server, truth, **words)
    before = shown.pixels()
    wide, tall = len(before), len(before[0])
    right, up = 83, 47
    x, y = (math.floor(at) + 0.5 for at in shown.point(0.4, 0.5))
    watched.page.keyboard.down("Shift")
    watched.page.mouse.move(x, y)
    watched.page.mouse.down()
    watched.page.mouse.move(x + 20, y - 10)
    watched.page.mouse.move(x + right, y - up)
    watched.page.mouse.up()
    watched.page.keyboard.up("Shift")
    shown.wait()
    moved = right * (window[1] - window[0]) / wide
    begin, end = span(watched, "window")
    assert (begin, end) == (math.floor(window[0] - moved), math.ceil(window[1] - moved))
    lowered = up * (reach[1] - reach[0]) / tall
    low, high = span(watched, "bytes")
    assert (low, high) == pytest.approx((reach[0] - lowered, reach[1] - lowered), abs=1)
    # What is still in view has gone along, to the pixel.
    after = shown.pixels()
    same = sum(
        after[x + right][y + up] == before[x][y]
        for x in range(wide - right)
        for y in range(tall - up)
    )
    whole = (wide - right) * (tall - up)
    stayed = sum(after[x][y] == before[x][y] for x in range(wide) for y in range(tall))
    assert same > 0.98 * whole > stayed


def test_a_group_picked_in_the_legend_stands_out(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    window = f"{truth.peak - 8}..{truth.peak + 9}"
    shown = show(watched, real_server, truth, window=window, by="size")
    offered = whole_legend(shown)
    before = shown.pixels()
    wide, tall = len(before), len(before[0])
    alive = pile(truth)
    pixel = max(truth.allocated) * HEADROOM / tall
    held: Counter[int] = Counter()
    for life in alive:
        held[life.bytes] += life.bytes
    called = Counter(map(in_figures, held))
    size = next(
        size
        for size, _ in held.most_common()
        if in_figures(size) in offered and called[in_figures(size)] == 1 and size >= 4 * pixel
    )
    entry = shown.frame.locator(".timeline-groups button[title]").nth(
        [*offered].index(in_figures(size))
    )
    assert entry.get_attribute("aria-pressed") == "false"
    entry.click()
    shown.wait()
    assert entry.get_attribute("aria-pressed") == "true"
    after = shown.pixels()
    seen: Counter[bool] = Counter()
    for life, top in zip(alive, itertools.accumulate(life.bytes for life in alive), strict=True):
        if life.bytes < 4 * pixel:
            continue
        y = int((top - life.bytes / 2) / pixel)
        was, now = (column[wide // 2][y] for column in (before, after))
        if life.bytes == size:
            assert now == was == offered[in_figures(size)]
        else:
            assert now == mixed(was, BACKGROUND["light"], FAINT)
        seen[life.bytes == size] += 1
    assert seen[True] > 0 and seen[False] > 0
    pictures(watched.page, "picked")
    entry.click()
    shown.wait()
    assert shown.pixels() == before


def pile(truth: Recorded) -> list[Life]:
    """What is alive at the peak, from the bottom up where each event has a column of its own."""
    return sorted(truth.alive(truth.peak), key=lambda life: life.death - life.birth == 1)


@pytest.mark.parametrize("truth", NAMES[1:], indirect=True)
def test_a_merged_cell_is_zoomed_to(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded
) -> None:
    shown = show(watched, real_server, truth, by="stream")
    at = find(shown, SEVERAL)
    told = shown.hover(*at)
    event = int(re.search(r"event (\d+)", told)[1])  # type: ignore[index]
    shown.click(*at)
    shown.wait()
    begin, end = span(watched, "window")
    # Nine bins, of which there is one a pixel or more, around the one that was clicked.
    assert end == truth.events or end - begin in {9 << power for power in range(20)}
    assert begin <= event < end
    assert end - begin < truth.events / 20
    agree(shown, truth, lambda _: True, (begin, end))


def find(shown: Picture, words: str) -> tuple[float, float]:
    """A place on top of the picture of which these words are said."""
    pixels = shown.pixels()
    wide, tall = len(pixels), len(pixels[0])
    for x in range(1, wide, 3):
        y = sum(colour != BACKGROUND["light"] for colour in pixels[x]) - 1
        place = (x + 0.5) / wide, (y + 0.5) / tall
        if y >= 0 and words in shown.hover(*place):
            return place
    raise AssertionError(f"nowhere it says {words!r}")


@pytest.mark.parametrize("by", ["stream", "size"])
@pytest.mark.parametrize("truth", NAMES[1:], indirect=True)
def test_a_paler_strip_is_opened_up_until_all_are_told_apart(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any, by: str
) -> None:
    alive = pile(truth)
    tops = list(itertools.accumulate(life.bytes for life in alive))
    window = truth.peak - 8, truth.peak + 9
    shown = show(watched, real_server, truth, window=f"{window[0]}..{window[1]}", by=by)
    low, high = 0.0, max(truth.allocated) * HEADROOM
    pale = {mixed(each, BACKGROUND["light"], PALE) for each in whole_legend(shown).values()}
    pixels = shown.pixels()
    column = pixels[len(pixels) // 2]
    # In the middle of the tallest strip.
    stretches = [
        [*run]
        for is_pale, run in itertools.groupby(range(len(column)), lambda y: column[y] in pale)
        if is_pale
    ]
    tallest = max(stretches, key=len)
    target = (sum(tallest) / len(tallest) + 0.5) / len(column) * high
    for _ in range(20):
        place = 0.5, (target - low) / (high - low)
        told = shown.hover(*place)
        if GAP not in told:
            break
        shown.click(*place)
        shown.wait()
        opened = span(watched, "bytes")
        assert span(watched, "window") == window
        assert opened[1] - opened[0] < high - low
        low, high = opened
        assert low <= target < high
    assert (low, high) != (0.0, max(truth.allocated) * HEADROOM), f"it was no strip: {told}"
    size = digits(re.search(r"(\d[\d\s]*) bytes?", told)[1])  # type: ignore[index]
    pixel = (high - low) / shown.box()["height"]
    near = [
        life.bytes
        for life, end in zip(alive, tops, strict=True)
        if end - life.bytes - pixel <= target <= end + pixel
    ]
    assert size in near, (told, near)
    pictures(watched.page, f"opened-{by}")
