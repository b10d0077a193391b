"""Colours by age in a real browser: they follow the cursor, from light to dark."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.grouped import age
from tests.browser.looking import link, open_page
from tests.browser.loop import loop
from tests.browser.picturing import Picture
from tests.browser.reference import lives
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def bytes_by_age(event: int) -> dict[str, int]:
    """What is alive after an event of the loop, by class of age, one by one."""
    made = loop()
    times = made.recording.table("events").column("time").to_pylist()
    found: Counter[str] = Counter()
    for life in lives(made.recording):
        if not life.birth <= event < life.death:
            continue
        found[age(times[event] - times[life.birth])] += life.bytes
    return dict(found)


def legend(picture: Picture) -> dict[str, int]:
    """Lightness of every age in the legend, in its order."""
    entries = picture.frame.locator(".timeline-groups button")
    names = [re.sub("[\u00a0\u202f]", " ", name) for name in entries.all_inner_texts()]
    colours = entries.locator("i").evaluate_all(
        "all => all.map(each => getComputedStyle(each).backgroundColor)"
    )
    return {
        name.strip(): sum(int(part) for part in re.findall(r"\d+", colour))
        for name, colour in zip(names, colours, strict=True)
    }


def test_ages_are_told_at_the_cursor_and_follow_it(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    made = loop()
    words: dict[str, Any] = {"axis": "event", "by": "age"}
    for at in (made.peak, made.steps[0][0] + 3):
        asked = link("loop", "loop.tbmem", view="allocations", at=at, **words)
        picture = Picture(watched.page, open_page(watched.page, server.url + asked))
        truth = bytes_by_age(at)
        shown = legend(picture)
        assert set(truth) <= set(shown)
        assert list(shown.values()) == sorted(shown.values(), reverse=True)
        assert len(set(shown.values())) == len(shown)
        pictures(watched.page)
        picture.frame.get_by_role("tab", name="Profile").click()
        table = picture.frame.locator("table.groups tr[data-row]")
        table.first.wait_for()
        told = {
            re.sub("[\u00a0\u202f]", " ", row.locator(".clip").inner_text()): int(
                re.sub(r"\D", "", row.locator("td[title*=byte]").first.get_attribute("title") or "")
            )
            for row in table.all()
        }
        assert told == truth
