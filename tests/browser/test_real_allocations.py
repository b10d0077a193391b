"""The Allocations view on snapshots from real GPUs, beside what plain Python finds in them."""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.charting import HEADROOM
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settled_address, words_of
from tests.browser.picturing import Picture
from tests.browser.recorded import Life, Recorded, recorded
from tests.plugin.server import TensorBoardServer

#: A training loop whose window begins late, and one of three GPUs that ran out of memory.
NAMES = ("small_train", "oom_expandable_3gpu")

MIB = 1 << 20


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots."""
    folder = tmp_path_factory.mktemp("real")
    for name in NAMES:
        (folder / name).mkdir()
        real = shared_data / "snapshots" / f"{name}.pickle"
        (folder / name / "snapshot.pickle").symlink_to(real)
    cache = tmp_path_factory.mktemp("real-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


@pytest.fixture(scope="module", params=NAMES)
def truth(request: pytest.FixtureRequest, shared_data: Path) -> Recorded:
    return recorded(shared_data, request.param)


def show(watched: Watched, server: TensorBoardServer, truth: Recorded, **words: object) -> Picture:
    asked = {"view": "allocations", "axis": "event", "device": "0", **words}
    address = server.url + link(truth.name, "snapshot.pickle", **asked)
    return Picture(watched.page, open_page(watched.page, address))


def test_what_a_size_may_be_is_many_times_one_that_recurs_anywhere(
    watched: Watched, server: TensorBoardServer, truth: Recorded, picture: Any
) -> None:
    basis = truth.recording.values("allocations", "requested").tolist()
    counts = Counter(size for size in basis if size > 0)
    at_peak = Counter(life.bytes for life in truth.lives if life.at(truth.peak))
    # One whose size is a multiple of one that recurs, but not at the peak.
    elsewhere = {size for size, count in counts.items() if count > 1 >= at_peak[size]}
    chosen = next(
        life
        for life in sorted(truth.lives, key=lambda life: -life.bytes)
        if any(life.bytes % size == 0 and 1 < life.bytes // size <= 4 for size in elsewhere)
    )
    shown = show(watched, server, truth, allocation=chosen.id)
    guesses = shown.frame.locator(".inspector .guesses li")
    guesses.first.wait_for()
    said = [re.sub(r"[\u202f\u00a0]", " ", text) for text in guesses.all_inner_texts()]
    exact = [
        int(re.sub(r"\D", "", each.get_attribute("title") or ""))
        for each in guesses.locator("[title*=byte]").all()
    ]
    fitting = sorted(
        (size for size in counts if counts[size] > 1 and chosen.bytes % size == 0), reverse=True
    )
    times = [size for size in fitting if 1 < chosen.bytes // size <= 512]
    assert exact == times[:3]
    assert elsewhere & set(exact)
    for text, size in zip(said[-len(exact) :], exact, strict=True):
        assert text.startswith(f"{chosen.bytes // size} × ")
        assert text.replace(" ", "").endswith(f"there{counts[size]}times")
    for text in said[: -len(exact)]:
        *sides, width = [int(re.sub(r" ", "", part)) for part in re.findall(r"\d[\d ]*", text)]
        product = width
        for side in sides:
            product *= side
        assert product == chosen.bytes
        one, other = ([1, *sides])[-2:]
        assert {one * width, other * width, one * other * width} & set(fitting)
    picture(watched.page, "guesses")


def test_only_some_are_shown_and_those_are_counted_exactly(
    watched: Watched, server: TensorBoardServer, truth: Recorded, picture: Any
) -> None:
    window = (truth.peak - 150, truth.peak + 150)
    shown = show(watched, server, truth, window=f"{window[0]}..{window[1]}")
    only = shown.frame.get_by_label("Which allocations")
    least = shown.frame.get_by_label("Least bytes of an allocation")
    moment = truth.peak
    which: dict[str, Callable[[Life], bool]] = {
        "alive": lambda life: life.at(moment),
        "freed": lambda life: life.death < math.inf,
        "never": lambda life: life.death == math.inf,
        "all": lambda _: True,
    }
    for size, words in ((0, ""), (4 * MIB, "4 MiB")):
        least.fill(words)
        least.press("Enter")
        for key, chosen in which.items():
            only.select_option(key)
            shown.wait()
            large = lambda life, of=chosen, least=size: of(life) and life.bytes >= least  # noqa: E731
            agree(shown, truth, large, window)
        picture(watched.page, f"at-least-{size}")
    # Another moment: where the cursor is.
    only.select_option("alive")
    shown.canvas.focus()
    watched.page.keyboard.press("ArrowLeft")
    watched.page.keyboard.press("ArrowLeft")
    moment = cursor(watched)
    assert moment < truth.peak
    shown.wait()
    agree(shown, truth, lambda life: life.at(moment) and life.bytes >= 4 * MIB, window)
    # From further away a column is one of its moments, and exactly that.
    only.select_option("freed")
    shown.frame.get_by_role("button", name="fit", exact=True).click()
    shown.wait()

    def at_its_moment() -> bool:
        told = re.search(r"at event (\d+)", shown.described())
        assert told
        alive = [
            life.bytes for life in truth.lives if life.at(int(told[1])) and life.death < math.inf
        ]
        alive = [size for size in alive if size >= 4 * MIB]
        return shown.highest() == (sum(alive), len(alive))

    until(shown, at_its_moment, True)


def alive_at(event: int) -> Callable[[Life], bool]:
    return lambda life: life.at(event)


def cursor(watched: Watched) -> int:
    """The event that the cursor is at, once the address has settled."""
    watched.page.wait_for_timeout(400)
    return int(words_of(settled_address(watched.page, "p.memory.at="))["at"])


def agree(
    shown: Picture, truth: Recorded, chosen: Callable[[Life], bool], window: tuple[int, int]
) -> None:
    """That the highest instant in a window of single events is that of those ``chosen``."""
    most, counts = truth.highest(chosen, *window)
    until(shown, lambda: shown.highest()[0], most)
    assert shown.highest()[1] in counts


def until(shown: Picture, found: Callable[[], Any], wanted: Any) -> None:
    """Waits until what is ``found`` on the page is what is ``wanted``."""
    for _ in range(50):
        if found() == wanted:
            return
        shown.page.wait_for_timeout(100)
    assert found() == wanted


def test_what_is_searched_for_is_counted_and_the_rest_is_dimmed(
    watched: Watched, server: TensorBoardServer, truth: Recorded, picture: Any
) -> None:
    window = (truth.peak - 60, truth.peak + 60)
    shown = show(watched, server, truth, window=f"{window[0]}..{window[1]}")
    before = shown.pixels()
    scale = len(before[0]) / (truth.highest(lambda _: True)[0] * HEADROOM)
    large = int(3 / scale)  # so that each is drawn by itself, at the peak too
    at_peak = truth.alive(truth.peak)
    word = telling_word([life for life in at_peak if life.bytes >= large])
    held = max(at_peak, key=lambda life: life.bytes)
    inside = held.address + held.bytes // 2
    queries: dict[str, Callable[[Life], bool]] = {
        f"{word} size>={large}": lambda life: word in life.frames and life.bytes >= large,
        word.upper(): lambda life: word in life.frames,
        f"stack:{word} -size>=1MiB": lambda life: word in life.frames and life.bytes < MIB,
        # These snapshots name no operators, tensors, categories or steps: nothing is found by them.
        "op:mm": lambda _: False,
        "name:weight": lambda _: False,
        "category:gradient": lambda _: False,
        "step:3": lambda _: False,
        f"category:unknown size>10MiB step:none {word}": (
            lambda life: life.bytes > 10 * MIB and word in life.frames
        ),
        f"{inside:#x}": lambda life: life.holds(inside),
        f"address:{inside:#X}": lambda life: life.holds(inside),
        f"{inside:#x} size>={large}": lambda life: life.holds(inside) and life.bytes >= large,
    }
    box = shown.frame.get_by_label("Find allocations")
    for query, hit in queries.items():
        box.fill(query)
        said(shown, truth, hit)
        if f"size>={large}" in query:
            shown.wait()
            picture(watched.page, query.split()[0])
            check_dimmed(truth, window, before, shown.pixels(), hit)
    box.fill("")
    shown.wait()
    assert shown.pixels() == before


def telling_word(among: list[Life]) -> str:
    """A function's name that about half of ``among`` have in their stacks, by bytes."""
    words: set[str] = {
        word for life in among for word in re.findall(r"^[a-z_]{5,}(?= )", life.frames, re.M)
    }
    whole = sum(life.bytes for life in among)

    def unevenness(word: str) -> int:
        return abs(2 * sum(life.bytes for life in among if word in life.frames) - whole)

    return min(sorted(words), key=unevenness)


def said(shown: Picture, truth: Recorded, hit: Callable[[Life], bool]) -> None:
    """That the words beside the search have what is found in all, and of that at the cursor."""
    alive = truth.found(lambda life: hit(life) and life.at(truth.peak))
    wanted = [*truth.found(hit), *alive]
    hits = shown.frame.get_by_test_id("allocations-hits")

    def told() -> list[int]:
        parts = [
            (digits(part.inner_text().partition("hit")[0]), digits(part.get_attribute("title")))
            for part in (hits.locator("span[title]").all() if hits.count() else [])
        ]
        return [number for part in parts for number in part]

    until(shown, told, wanted)


def check_dimmed(
    truth: Recorded,
    window: tuple[int, int],
    before: list[list[str]],
    after: list[list[str]],
    hit: Callable[[Life], bool],
) -> None:
    """That in every column what did not change is as tall as the hits, and all else is paler."""
    height = len(before[0])
    scale = height / (truth.highest(lambda _: True)[0] * HEADROOM)
    seen = 0
    for x, (bright, dim) in enumerate(zip(before, after, strict=True)):
        event = window[0] + math.ceil((x + 1) * (window[1] - window[0]) / len(before)) - 1
        alive = truth.alive(event)
        if any(life.death - life.birth <= 2 for life in alive):
            continue  # merged with others of its colour
        hits = [life for life in alive if hit(life)]
        kept = sum(was == now != "#ffffff" for was, now in zip(bright, dim, strict=True))
        assert abs(kept - sum(life.bytes for life in hits) * scale) <= len(hits), (x, event)
        seen += len(hits)
        for was, now in zip(bright, dim, strict=True):
            assert was == now or lightness(now) > lightness(was)
    assert seen > 0


def lightness(colour: str) -> int:
    return sum(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def digits(text: str | None) -> int:
    return int(re.sub(r"\D", "", text or ""))


def span(watched: Watched, word: str) -> tuple[int, int]:
    """The two ends of a range in the address, once that has settled."""
    watched.page.wait_for_timeout(400)
    begin, end = words_of(settled_address(watched.page, f"p.memory.{word}="))[word].split("..")
    return int(begin), int(end)


@pytest.mark.parametrize("truth", NAMES[:1], indirect=True)
def test_the_map_moves_and_resizes_what_is_seen(
    watched: Watched, server: TensorBoardServer, truth: Recorded
) -> None:
    shown = show(watched, server, truth)
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
    watched: Watched, server: TensorBoardServer, truth: Recorded, picture: Any
) -> None:
    window = (truth.peak - 8, truth.peak + 9)
    shown = show(watched, server, truth, window=f"{window[0]}..{window[1]}")
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
    picture(watched.page, "near")


@pytest.mark.parametrize("truth", NAMES[:1], indirect=True)
def test_time_is_an_axis_and_is_measured(
    watched: Watched, server: TensorBoardServer, truth: Recorded, picture: Any
) -> None:
    shown = show(watched, server, truth, axis="time")
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
    picture(watched.page, "measured")
    shown.drag((0.75, 0.8), (0.5, 0.6))
    told = measured(shown)
    assert told == pytest.approx(((window[1] - window[0]) / 4, -0.2 * most * HEADROOM), rel=0.02)
    assert span(watched, "window") == window
    # The same moments by event: what is in view stays in view.
    shown.frame.get_by_role("radio", name="event").click()
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


def test_a_life_is_zoomed_to_and_the_moments_around_it_are_jumped_to(
    watched: Watched, server: TensorBoardServer, truth: Recorded, picture: Any
) -> None:
    life = max(
        (life for life in truth.lives if life.birth > 20 and 10 < life.death - life.birth < 400),
        key=lambda life: life.bytes,
    )
    birth, death = life.birth, int(life.death)
    around = (birth - 20, min(death + 20, truth.events))
    shown = show(
        watched, server, truth, allocation=life.id, only="alive", window=f"{around[0]}..{around[1]}"
    )
    ways = shown.frame.locator(".inspector .ways")
    for name, event, isAlive in (
        ("just before it", birth - 1, False),
        ("its birth", birth, True),
        ("just before its end", death - 1, True),
        ("its end", death, False),
    ):
        ways.get_by_role("button", name=name, exact=True).click()
        assert cursor(watched) == event
        assert life.at(event) is isAlive
        shown.wait()
        agree(shown, truth, alive_at(event), around)
    shown.frame.get_by_label("Which allocations").select_option("all")
    ways.get_by_role("button", name="its life").click()
    margin = max(1, math.floor((death - birth) * 0.1 + 0.5))
    window = span(watched, "window")
    assert window == (max(0, birth - margin), min(truth.events, death + margin))
    shown.wait()
    picture(watched.page, "its-life")
    # It is outlined in all the columns that it is alive in, and in no other.
    pixels = shown.pixels()
    for x, column in enumerate(pixels):
        event = window[0] + math.ceil((x + 1) * (window[1] - window[0]) / len(pixels)) - 1
        assert ("#212121" in column) is life.at(event), (x, event)
    # By time: from when it was born to when it was freed.
    shown.frame.get_by_role("radio", name="time").click()
    ways.get_by_role("button", name="its life").click()
    assert life.birth_time is not None and life.death_time is not None
    length = life.death_time - life.birth_time
    wanted = (life.birth_time - 0.1 * length, life.death_time + 0.1 * length)
    assert span(watched, "window") == pytest.approx(wanted, abs=2)
