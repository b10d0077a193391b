"""The Allocations view on snapshots from real GPUs, beside what plain Python finds in them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.charting import HEADROOM
from tests.browser.conftest import Watched
from tests.browser.looking import settled_address, words_of
from tests.browser.looping import wait_without
from tests.browser.marked import HATCH, OUTLINE
from tests.browser.real import MIB, agree, alive_at, cursor, show, span, until
from tests.browser.recorded import Life, Recorded
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def test_what_a_size_may_be_is_many_times_one_that_recurs_anywhere(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
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
    shown = show(watched, real_server, truth, allocation=chosen.id)
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
    pictures(watched.page, "guesses")


def test_only_some_are_shown_and_those_are_counted_exactly(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    window = (truth.peak - 150, truth.peak + 150)
    shown = show(watched, real_server, truth, window=f"{window[0]}..{window[1]}")
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
        pictures(watched.page, f"at-least-{size}")
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


def test_a_life_is_zoomed_to_and_the_moments_around_it_are_jumped_to(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    life = max(
        (life for life in truth.lives if life.birth > 20 and 10 < life.death - life.birth < 400),
        key=lambda life: life.bytes,
    )
    birth, death = life.birth, int(life.death)
    around = (birth - 20, min(death + 20, truth.events))
    shown = show(
        watched,
        real_server,
        truth,
        allocation=life.id,
        only="alive",
        window=f"{around[0]}..{around[1]}",
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
    pictures(watched.page, "its-life")
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


def test_a_click_selects_and_hatches_its_siblings(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    # The largest that is born while a sibling is alive that can be told from others, too.
    stacks: dict[str, list[Life]] = defaultdict(list)
    for life in (life for life in truth.lives if life.frames):
        stacks[life.frames].append(life)

    def largest_sibling(life: Life) -> int:
        same = (each for each in stacks[life.frames] if each.id != life.id)
        return max((each.bytes for each in same if each.at(life.birth)), default=0)

    born = (life for life in truth.lives if life.birth >= 0)
    chosen = max(born, key=lambda life: min(life.bytes, largest_sibling(life)))
    siblings = {life.id for life in stacks[chosen.frames]} - {chosen.id}
    window = (chosen.birth - 20, chosen.birth + 21)
    shown = show(watched, real_server, truth, window=f"{window[0]}..{window[1]}")
    top = truth.highest(lambda _: True)[0] * HEADROOM
    (place,) = (part for part in standing(truth, chosen.birth) if part[0].id == chosen.id)
    shown.click(0.5, (place[1] + chosen.bytes / 2) / top)
    assert words_of(settled_address(watched.page, "p.memory.allocation="))["allocation"] == str(
        chosen.id
    )
    shown.frame.locator(".inspector .ways").first.wait_for()
    watched.page.mouse.move(5, 400)
    shown.wait()
    pixels = shown.pixels()
    hatched, phases = 0, set()
    for x, column in enumerate(pixels):
        event = window[0] + math.ceil((x + 1) * (window[1] - window[0]) / len(pixels)) - 1
        scale = len(column) / top
        drawn = {y for y, colour in enumerate(column) if colour == OUTLINE}
        for life, begin in standing(truth, event):
            # What is less than a pixel tall may move what is above it by one.
            low, high = round(begin * scale), round((begin + life.bytes) * scale)
            lines = drawn & {*range(low + 1, high - 1)} if life.id in siblings else set()
            # The picture begins left of what is seen of it.
            phases |= {(x + y) % HATCH for y in lines}
            if life.id in siblings and high - low > HATCH + 2:
                assert lines, (x, life)
            hatched += len(lines)
            if life.id in siblings or life.id == chosen.id:
                drawn -= {*range(low - 1, high + 1)}
        assert not drawn, (x, event)
    assert hatched > 500 and len(phases) == 1
    pictures(watched.page)
    watched.page.keyboard.press("Escape")
    wait_without(watched, "allocation")
    shown.wait()
    assert OUTLINE not in {colour for column in shown.pixels() for colour in column}


def standing(truth: Recorded, event: int) -> Iterator[tuple[Life, int]]:
    """What is alive after an event, and the bytes below; on top what lives for that one only."""
    below = 0
    for life in sorted(truth.alive(event), key=lambda life: life.death - life.birth == 1):
        yield life, below
        below += life.bytes
