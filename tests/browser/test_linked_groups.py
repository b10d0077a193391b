"""A group that is picked in one view is picked in all of them, on a snapshot of real GPUs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.looking import link, open_page, settle, wait_for_table, words_of
from tests.browser.looping import legend
from tests.browser.picturing import Picture
from tests.browser.test_linked import _HAS, CURSOR, go
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed

NAME = "oom_expandable_3gpu"
#: Of marked rows of lines what the title of their sums says.
_TITLES = """all => all.map(each => each.querySelectorAll("td.number")[1].title)"""


def pick(frame: FrameLocator, name: str) -> None:
    frame.locator(".timeline-groups").get_by_title(name, exact=True).click()


def test_a_group_is_picked_in_all_views(
    watched: Watched, real_server: TensorBoardServer, shared_data: Path
) -> None:
    file = File(shared_data / "snapshots" / f"{NAME}.pickle")
    asked = {"view": "profile", "axis": "event", "device": "0", "by": "stack", "blocks": "group"}
    frame = open_page(watched.page, real_server.url + link(NAME, "snapshot.pickle", **asked))
    wait_for_table(frame)
    (name, colour), (other, of_other), *_ = legend(frame).items()

    def stands_out(testid: str) -> bool:
        """Whether a canvas has the colour of the one group and nothing of the other's."""
        settle(watched.page)
        canvas = frame.get_by_test_id(testid)
        one, rest = (cast("int", canvas.evaluate(_HAS, each)) for each in (colour, of_other))
        return one > 100 and rest == 0

    assert not stands_out("timeline-canvas")
    pick(frame, name)
    assert stands_out("timeline-canvas")
    row = frame.locator("table.groups tr[aria-selected=true]")
    title = row.locator("[title*=byte]").first.get_attribute("title") or ""
    total = int(re.sub(r"\D", "", title))
    sums: Counter[tuple[tuple[str, str, int], ...]] = Counter()
    for life in file.alive(file.peak):
        sums[life.stack] += life.bytes
    (stack,) = (stack for stack, held in sums.items() if held == total)

    go(watched, frame, "Allocations")
    pixels = Counter(
        colour for column in Picture(watched.page, frame).pixels() for colour in column
    )
    assert pixels[colour] > 100
    assert not pixels[of_other]
    go(watched, frame, "Segments")
    assert stands_out("segments-canvas")
    go(watched, frame, "Flame graph")
    assert frame.get_by_test_id("flame-canvas").evaluate(_HAS, CURSOR) > 100
    go(watched, frame, "Source")
    marked = frame.locator("table.lines tr.holds:has(td.line)").evaluate_all(_TITLES)
    part = [title.split(", of which ")[1] for title in marked]
    assert [int(re.sub(r"\D", "", title)) for title in part] == [total] * len(marked)
    own = {each for each in stack if "-packages" not in each[1] and each[1].startswith("/")}
    assert 0 < len(marked) <= len(own)

    # Another, picked in the chart of Segments, is the one in the Profile; a second click is none.
    go(watched, frame, "Segments")
    pick(frame, other)
    assert not stands_out("segments-canvas")
    go(watched, frame, "Profile")
    row.filter(has_text=other).wait_for()
    go(watched, frame, "Allocations")
    pick(frame, other)
    settle(watched.page)
    assert "group" not in words_of(watched.page.url)
    go(watched, frame, "Profile")
    assert row.count() == 0
