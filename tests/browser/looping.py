"""The picture of the training loop in an open page: where things are, what the address says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.browser.loop import Loop
from tests.browser.mapping import BACKGROUNDS
from tests.browser.picturing import Picture
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator

#: The source of a run, where that is not a snapshot.
FILES = {"loop": "loop.tbmem", "bare": "segments.pickle"}


def open_loop(
    watched: Watched, server: TensorBoardServer, run: str = "loop", **words: object
) -> Picture:
    asked = {"view": "allocations", "axis": "event", **words}
    name = FILES.get(run, "snapshot.pickle")
    return Picture(watched.page, open_page(watched.page, f"{server.url}{link(run, name, **asked)}"))


def grouping(frame: FrameLocator) -> Locator:
    """The choice of what is coloured and grouped by."""
    return frame.locator("select.choice:not([aria-label])")


def legend(frame: FrameLocator) -> dict[str, str]:
    """The colour of every group, by name."""
    entries = frame.locator(".timeline-groups button[title]")
    names = entries.evaluate_all("all => all.map(each => each.title)")
    colours = entries.locator("i").evaluate_all(BACKGROUNDS)
    return {
        re.sub("[\u00a0\u202f]", " ", name): colour
        for name, colour in zip(names, colours, strict=True)
    }


def whole_legend(shown: Picture) -> dict[str, str]:
    """As :func:`legend`, of the groups too that are folded away."""
    more = shown.frame.locator(".timeline-more", has_text="more")
    if more.count():
        more.click()
        shown.wait()
    return legend(shown.frame)


def word_of(watched: Watched, word: str) -> str:
    """A word of the address, once that has settled with it."""
    settled = words_of(settled_address(watched.page, f"p.memory.{word}="))
    return settled[word].replace("%3A", ":")


def shown_range(watched: Watched, word: str) -> tuple[int, int]:
    settle(watched.page)
    begin, end = word_of(watched, word).split("..")
    return int(begin), int(end)


def wait_without(watched: Watched, word: str) -> None:
    watched.page.wait_for_function("w => !location.hash.includes(w)", arg=f"p.memory.{word}=")


def across(made: Loop, event: float) -> float:
    """The share of the width that the middle of an event is at."""
    return (event + 0.5) / len(made.allocated)


def up(made: Loop, bytes_: float) -> float:
    """The share of the height that so many bytes are at."""
    return bytes_ / (made.peak_bytes * 1.06)
