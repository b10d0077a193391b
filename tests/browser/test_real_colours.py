"""Colours of real snapshots: those of the groups that their files say allocations are in."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.filed import File, Filed
from tests.browser.looking import link
from tests.browser.looping import grouping
from tests.browser.mapping import BACKGROUNDS
from tests.browser.named import group_of, is_called, is_size
from tests.browser.picturing import Picture
from tests.browser.real import COLOURED, show
from tests.browser.recorded import Life, recorded
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed

#: Events in view, the peak in the middle; each is a column of its own.
EVENTS = 17
#: Allocations in view at once, and the least pixels that one is looked at with.
PILE, TALL = 24, 3
#: Groups that have a colour each, where not all of them have.
TOP = 16


@pytest.mark.parametrize("name", COLOURED)
def test_every_allocation_hovered_has_the_colour_and_name_of_its_group(
    watched: Watched, real_server: TensorBoardServer, shared_data: Path, name: str
) -> None:
    file, read = File(shared_data / "snapshots" / f"{name}.pickle"), recorded(shared_data, name)
    filed = {(life.birth, life.address): life for life in file.alive(file.peak)}
    # What is alive after one event only is on top of the others.
    pile = sorted(read.alive(file.peak), key=lambda life: life.death - life.birth == 1)
    assert {(life.birth, life.address) for life in pile} == {*filed}
    stood = _standing(pile, filed)
    window = f"{file.peak - EVENTS // 2}..{file.peak + EVENTS // 2 + 1}"
    low, high = _richest(stood)
    words: dict[str, Any] = {"window": window, "bytes": f"{low}..{high}"}
    shown = show(watched, real_server, read, at=file.peak, by="stack", **words)
    options = grouping(shown.frame).locator("option")
    offered = options.evaluate_all("all => all.map(({ value }) => value)")
    assert {"stack", "size", "stream", "pool", "age", "lifetime"} <= {*offered}
    moments = [("age", file.peak // 2), *((by, file.peak) for by in offered if by != "pattern")]
    for by, at in moments:
        asked = {"view": "allocations", "axis": "event", "device": "0", "by": by, "at": at}
        address = link(name, "snapshot.pickle", **asked, **words)
        watched.page.evaluate("address => { location.hash = address; }", address)
        shown.wait()
        _check(shown, file, stood, (low, high), by, at)


def _standing(
    pile: list[Life], filed: dict[tuple[int, int], Filed]
) -> list[tuple[Filed, int, int]]:
    """Each life with the bytes that it stands on and reaches up to."""
    tops = itertools.accumulate(life.bytes for life in pile)
    return [
        (filed[life.birth, life.address], top - life.bytes, top)
        for life, top in zip(pile, tops, strict=True)
    ]


def _richest(stood: list[tuple[Filed, int, int]]) -> tuple[int, int]:
    """Where in the pile allocations of the most stacks can be told apart."""

    def stacks(begin: int) -> int:
        part = stood[begin : begin + PILE]
        pixel = (part[-1][2] - part[0][1]) / 500
        return len({life.stack for life, _, _ in part if life.bytes > TALL * pixel})

    begin = max(range(len(stood) - PILE + 1), key=stacks)
    return stood[begin][1], stood[begin + PILE - 1][2]


def _check(
    shown: Picture,
    file: File,
    stood: list[tuple[Filed, int, int]],
    seen: tuple[int, int],
    by: str,
    at: int,
) -> None:
    """That what is in view is in the colour of its group, and called so; distinct groups differ."""
    legend = _legend(shown.frame)
    pixels = shown.pixels()
    column = pixels[len(pixels) // 2]
    low, high = seen
    pixel = (high - low) / len(column)
    there = [
        (life, (begin + end) / 2)
        for life, begin, end in stood
        if end - begin >= TALL * pixel and low < (begin + end) / 2 < high
    ]
    assert len(there) > 5, by
    found: dict[Any, str] = {}
    for life, middle in there:
        group = group_of(file, life, by, at)
        colour = column[int((middle - low) / pixel)]
        if group not in found:
            told = shown.hover(0.5, (middle - low) / (high - low)).split("\n")[0]
            parted = re.fullmatch(r"[\d.]+ [KMG]?i?B( of |, )(.*)", told)
            assert parted, told
            assert (parted[2], colour) in legend, (by, told, colour, legend)
            _check_name(parted[2], group, by, file, len(legend))
            found[group] = colour
        assert colour == found[group], (by, life)
    named = [group for group, colour in found.items() if colour != _rest(legend)]
    assert len({found[group] for group in named}) == len(named), (by, found)
    assert len({colour for _, colour in legend}) == len(legend), (by, legend)


def _check_name(name: str, group: Any, by: str, file: File, shown: int) -> None:
    smaller = re.fullmatch(r"(\d+) smaller groups", name)
    if smaller:
        everything = {group_of(file, life, by, file.peak) for life in file.lives}
        assert int(smaller[1]) == len(everything) - shown + 1
        held: Counter[Any] = Counter()
        for life in file.alive(file.peak):
            held[group_of(file, life, by, file.peak)] += life.bytes
        assert held[group] <= held.most_common(TOP)[-1][1]
    elif by == "size":
        assert is_size(group, name)
    elif by == "stack" and isinstance(group, tuple):
        assert is_called(group, name), (name, group)
    else:
        assert name == group


def _legend(frame: FrameLocator) -> list[tuple[str, str]]:
    """Name and colour of every group, those that are folded away too."""
    more = frame.locator(".timeline-more", has_text="more")
    if more.count():
        more.click()
    entries = frame.locator(".timeline-groups button[title]")
    names = entries.evaluate_all("all => all.map(each => each.title)")
    colours = entries.locator("i").evaluate_all(BACKGROUNDS)
    plain = [re.sub("[\u00a0\u202f]", " ", name) for name in names]
    return list(zip(plain, colours, strict=True))


def _rest(legend: list[tuple[str, str]]) -> str | None:
    """The colour of the groups that have none of their own."""
    return next((colour for name, colour in legend if name.endswith(" smaller groups")), None)
