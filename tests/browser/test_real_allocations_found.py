"""What is found in the picture of real snapshots, beside what plain Python finds in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.charting import HEADROOM
from tests.browser.conftest import Watched
from tests.browser.picturing import Picture
from tests.browser.real import MIB, hits, show, until
from tests.browser.recorded import Life, Recorded
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def test_what_is_searched_for_is_counted_and_the_rest_is_dimmed(
    watched: Watched, real_server: TensorBoardServer, truth: Recorded, pictures: Any
) -> None:
    window = (truth.peak - 60, truth.peak + 60)
    shown = show(watched, real_server, truth, window=f"{window[0]}..{window[1]}")
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
            pictures(watched.page, query.split()[0])
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
    until(shown, lambda: hits(shown), wanted)


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
