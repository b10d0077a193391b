"""The breakdown's table in a real browser: a click on a head sorts it, and the head says so."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle, settled_address, wait_for_table, words_of
from tests.browser.loop import Loop
from tests.browser.reference import lives
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed


def test_a_click_on_a_head_sorts_by_it_and_turns_it_round(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    ops = {row["event"]: row["op"] for row in made.recording.table("labels").to_pylist()}
    alive = [life for life in lives(made.recording) if made.peak in life]
    oldest = [*dict.fromkeys(ops[life.birth] for life in alive)]
    names = sorted(oldest)
    held: Counter[str] = Counter()
    for life in alive:
        held[ops[life.birth]] += life.bytes
    largest = [op for op, _ in held.most_common()]
    orders = [largest, oldest, oldest[::-1], names, names[::-1]]
    assert len({tuple(order) for order in orders}) == len(orders)

    frame = open_page(watched.page, server.url + link("loop", "loop.tbmem", by="op", axis="event"))
    wait_for_table(frame)
    settle(watched.page)
    heads = [text.rstrip("▴▾") for text in frame.locator("table.groups th").all_inner_texts()]
    assert heads[1:] == ["Bytes", "Share", "Blocks", "Largest", "Oldest"]
    assert (sorted_by(frame), shown(frame)) == ({1: "descending"}, largest)
    for column, word, order in ((5, "oldest", oldest), (0, "label", names)):
        for said, direction, wanted in (
            (word, "ascending", order),
            (f"-{word}", "descending", order[::-1]),
        ):
            frame.locator("table.groups th").nth(column).get_by_role("button").click()
            settle(watched.page)
            assert sorted_by(frame) == {column: direction}
            assert shown(frame) == wanted
            assert words_of(settled_address(watched.page, f"p.memory.sort={said}"))["sort"] == said
    # What is sorted by the size begins with the largest.
    frame.locator("table.groups th").nth(1).get_by_role("button").click()
    settle(watched.page)
    assert (sorted_by(frame), shown(frame)) == ({1: "descending"}, largest)


def sorted_by(frame: FrameLocator) -> dict[int, str]:
    """The columns whose heads say that the table is sorted by them, and in which direction."""
    heads = frame.locator("table.groups th")
    said = heads.evaluate_all("all => all.map(each => each.getAttribute('aria-sort'))")
    return {place: word for place, word in enumerate(said) if word not in (None, "none")}


def shown(frame: FrameLocator) -> list[str]:
    """The names of the groups from the first row on."""
    names = frame.locator("table.groups tr[aria-level='1'] td.name").all_inner_texts()
    return [name.strip("▸▾ \n\t\u00a0") for name in names]
