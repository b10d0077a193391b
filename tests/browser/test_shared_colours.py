"""A group has one colour in all views: the legends of three of them, key by key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle, wait_for_table
from tests.browser.looping import grouping, legend
from tests.browser.mapping import BACKGROUNDS
from tests.browser.real import serving
from tests.browser.reference import CATEGORIES
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed

VIEWS = ("Profile", "Allocations", "Segments")
#: Real ones with more groups than there are colours.
SNAPSHOTS = ("small_train", "oom_expandable_3gpu", "no_time_us_segments")


def test_a_group_has_its_colour_in_every_view(watched: Watched, server: TensorBoardServer) -> None:
    asked = link("loop", "loop.tbmem", view="profile", axis="event")
    frame = open_page(watched.page, server.url + asked)
    wait_for_table(frame)
    told = {"category": "Activation", "stack": "backward · autograd.py:3"}
    for by, one in told.items():
        for view in VIEWS:
            frame.get_by_role("tab", name=view).click()
            grouping(frame).select_option(by)
            entry = frame.locator(f".timeline-groups button[title='{one}']")
            entry.wait_for()
            if view == "Profile":
                first = legend(frame)
                assert len(first) == len({*first.values()}) == (5 if by == "category" else 2)
                if by == "category":
                    named = {name.lower().replace(" ", "_"): each for name, each in first.items()}
                    assert named == CATEGORIES
            assert legend(frame) == first, view
        if by == "category":
            frame.get_by_role("radio", name="group", exact=True).click()
        # The map has the groups of what is in it at the cursor, at the peak all of them.
        frame.locator(".segments-legend li", has_text=one).wait_for()
        assert in_map(frame) == first
    # The line of the capacity, in the chart of Segments too, is drawn while it is chosen.
    capacity = frame.locator(".timeline-lines button", has_text="capacity")
    painted = "canvas => canvas.toDataURL()"
    pictures = []
    for is_shown in ("true", "false", "true"):
        assert capacity.get_attribute("aria-pressed") == is_shown
        pictures.append(frame.get_by_test_id("timeline-canvas").evaluate(painted))
        capacity.click()
        watched.page.mouse.move(5, 400)
        settle(watched.page)
    assert pictures[0] == pictures[2] != pictures[1]


def in_map(frame: FrameLocator) -> dict[str, str]:
    """The colour of every group in the legend of the map of segments."""
    entries = frame.locator(".segments-legend li:has(i[style])")
    colours = entries.locator("i").evaluate_all(BACKGROUNDS)
    names = [re.sub(r"\s+", " ", name).strip() for name in entries.all_inner_texts()]
    return dict(zip(names, colours, strict=True))


@pytest.fixture(scope="module")
def snapshots(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots."""
    with serving(SNAPSHOTS, shared_data, tmp_path_factory) as running:
        yield running


def test_groups_of_real_snapshots_have_colours_of_their_own(
    watched: Watched, snapshots: TensorBoardServer
) -> None:
    """One recording after the other in the same page: none takes colours from the one before."""
    asked = link(SNAPSHOTS[0], "snapshot.pickle", view="profile", axis="event")
    frame = open_page(watched.page, snapshots.url + asked)
    for name in SNAPSHOTS:
        frame.get_by_role("button", name=name).click()
        settle(watched.page)
        for by in ("stack", "size"):
            grouping(frame).select_option(by)
            settle(watched.page)
            found = legend(frame)
            assert len(found) == len({*found.values()}) > 1, (name, by, found)
            for view in ("Allocations", "Segments", "Profile"):
                frame.get_by_role("tab", name=view).click()
                settle(watched.page)
                there = legend(frame)  # as many as there is room for
                assert len(there) == len({*there.values()}), (name, by, view, there)
                assert {**there, **found} == {**found, **there}, (name, by, view)
                assert there.keys() & found.keys()
