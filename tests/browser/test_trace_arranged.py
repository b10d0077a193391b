"""The Trace view arranged and searched: panels, tracks, bookmarks, hits, all in its link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import settle, settled_address, words_of
from tests.browser.tracing import BELOW, HEAD, PITCH, asked, recorded, reopened, spans, traced
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed


def _order(view: Any) -> list[str]:
    panels = view.frame.locator(".trace-panel").all()
    return [panel.get_attribute("data-panel") or "" for panel in panels]


def test_panels_are_moved_folded_and_resized_and_the_link_says_so(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    view = traced(watched, profiled, "bert", device="1:0")
    assert _order(view) == ["usage", "steps", "host", "device", "allocations"]
    view.frame.get_by_role("button", name="Move Device streams up").click()
    view.frame.get_by_role("button", name="Steps and annotations", exact=True).click()
    edge = view.frame.get_by_role("separator", name="Height of Host threads")
    before = view.glass("host").bounding_box()["height"]
    edge.focus()
    for _ in range(3):
        view.page.keyboard.press("ArrowUp")
    settle(view.page)
    assert view.glass("host").bounding_box()["height"] == before - 60
    arranged = ["usage", "steps", "device", "host", "allocations"]
    assert _order(view) == arranged
    words = words_of(settled_address(view.page, "p.memory.panels="))
    assert words["panels"] == f"usage.steps-.device.host{before - 60:.0f}.allocations"
    reopened(watched, watched.page.url)
    assert _order(view) == arranged
    assert view.glass("host").bounding_box()["height"] == before - 60
    assert view.frame.get_by_test_id("timeline-steps").count() == 0
    view.frame.get_by_role("button", name="reset panels").click()
    settle(view.page)
    assert _order(view) == ["usage", "steps", "host", "device", "allocations"]


def test_a_panel_is_dragged_to_another_place(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "bert", device="1:0")
    handle = view.frame.locator("[data-panel=host] .trace-handle")
    handle.drag_to(view.frame.locator("[data-panel=usage] .trace-head"))
    settle(view.page)
    assert _order(view) == ["host", "usage", "steps", "device", "allocations"]


def test_allocations_are_laid_out_as_in_their_own_view(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    view = traced(watched, profiled, "bert", device="1:0")
    picture = view.frame.get_by_test_id("allocations-axes")
    stacked = picture.get_attribute("aria-label")
    choice = view.frame.get_by_role("radiogroup", name="Layout")
    choice.get_by_text("address").click()
    assert words_of(settled_address(view.page, "p.memory.layout="))["layout"] == "address"
    settle(view.page)
    assert picture.get_attribute("aria-label") != stacked
    view.frame.get_by_role("tab", name="Allocations").click()
    settle(view.page)
    address = choice.get_by_role("radio", name="address")
    assert address.get_attribute("aria-checked") == "true"


def test_an_edge_is_dragged(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "bert", device="1:0")
    picture = view.frame.get_by_test_id("timeline-chart")
    before = picture.bounding_box()["height"]
    box = view.frame.get_by_role("separator", name="Height of Memory").bounding_box()
    x, y = box["x"] + 200, box["y"] + 3
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x, y + 50, steps=3)
    view.page.mouse.up()
    settle(view.page)
    assert picture.bounding_box()["height"] == before + 50


def test_tracks_are_folded_pinned_and_hidden(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "gpus", device="GPU_6_bfc")

    def heads() -> list[str]:
        settle(view.page)
        found = view.frame.locator("[data-panel=host] .trace-track").all()
        return [head.get_attribute("data-track") or "" for head in found]

    first, second, third, *_ = heads()
    head = view.frame.locator(f"[data-track='{first}']")
    head.locator(".trace-fold").click()
    settle(view.page)
    assert head.locator(".trace-fold").get_attribute("aria-expanded") == "false"
    view.frame.locator(f"[data-track='{third}']").get_by_role("button", name="pin").click()
    assert heads()[:3] == [third, first, second]
    view.frame.locator(f"[data-track='{first}']").get_by_role("button", name="hide").click()
    assert heads()[:2] == [third, second]
    words = words_of(settled_address(view.page, "p.memory.tracks="))
    assert words["tracks"] == f"p{third}.h{first}.f{first}"
    reopened(watched, watched.page.url)
    assert heads()[:2] == [third, second]
    view.frame.get_by_role("button", name="show 1 hidden").click()
    assert heads()[:3] == [third, first, second]


def test_bookmarks_are_named_gone_to_and_taken_out(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    view = traced(watched, profiled, "bert", device="1:0", window="2000000..2200000")
    view.frame.locator(".trace-bookmarks summary").click()
    view.frame.get_by_label("Name of the bookmark").fill("a layer ~ 1..2")
    view.frame.get_by_role("button", name="add window").click()
    settle(view.page)
    address = settled_address(view.page, "p.memory.marks=")
    view.frame.get_by_role("button", name="reset zoom").click()
    settle(view.page)
    assert "window" not in words_of(view.page.url)
    listed = view.frame.locator(".trace-bookmarks li")
    listed.get_by_role("button", name="a layer ~ 1..2", exact=True).click()
    words = words_of(settled_address(view.page, "p.memory.window="))
    assert words["window"] == "2000000..2200000"
    reopened(watched, address)
    view.frame.locator(".trace-bookmarks summary").click()
    view.frame.get_by_role("button", name="Remove a layer ~ 1..2").click()
    settle(view.page)
    view.page.wait_for_function("!location.hash.includes('memory.marks')")


def test_bookmarks_stand_where_they_are_on_the_axis(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    marks = "2000000..2100000..layer~2150000..2150001..a moment"
    view = traced(watched, profiled, "bert", device="1:0", window="1900000..2200000", marks=marks)
    left, width = view.plot()
    for name, begin, end in (("layer", 2_000_000, 2_100_000), ("a moment", 2_150_000, 2_150_000)):
        drawn = view.frame.locator(f"[data-mark='{name}']").bounding_box()
        assert drawn["x"] == pytest.approx(left + width * (begin - 1_900_000) / 300_000, abs=1)
        assert drawn["width"] == pytest.approx(width * (end - begin) / 300_000, abs=2)
    view.frame.locator("[data-mark='layer'] button").click()
    words = words_of(settled_address(view.page, "p.memory.window=2000000"))
    assert words["window"] == "2000000..2100000"
    drawn = view.frame.locator("[data-mark='layer']").bounding_box()
    assert drawn["x"] == pytest.approx(left, abs=1)
    assert drawn["width"] == pytest.approx(width, abs=2)


def test_what_is_pinned_stays_in_sight(watched: Watched, profiled: TensorBoardServer) -> None:
    tracks = asked(profiled, "trace", "gpus", device="GPU_6_bfc")["tracks"]
    host = [track for track in tracks if track["kind"] == "host"]
    pinned = min(host[1:], key=lambda track: track["lanes"])
    view = traced(watched, profiled, "gpus", device="GPU_6_bfc", tracks=f"p{pinned['id']}")
    view.scroll("host", 0)
    tall = HEAD + pinned["lanes"] * PITCH + BELOW
    rows = [HEAD + 6 + lane * PITCH for lane in range(pinned["lanes"])]
    before = [view.lane("host", row) for row in rows]
    assert any(map(any, before))
    under = view.lane("host", tall + HEAD + 6)
    assert view.scroll("host", 700) == 700
    assert [view.lane("host", row) for row in rows] == before
    assert view.lane("host", tall + HEAD + 6) != under
    head = view.frame.locator(f"[data-track='{pinned['id']}']").bounding_box()
    assert head["y"] == view.glass("host").bounding_box()["y"]


def test_hits_are_counted_walked_and_stand_out(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    all_spans = spans(recorded(shared_data, "bert"))
    hits = sorted(
        (one for one in all_spans if "aten::addmm" in one.name), key=lambda one: one.begin
    )
    view = traced(watched, profiled, "bert", device="1:0")
    field = view.frame.get_by_label("Find spans by name")
    field.fill("aten::addmm")
    settle(view.page)
    found = view.frame.get_by_test_id("trace-found")
    assert found.inner_text().replace("\u00a0", " ") == f"{len(hits)} hits"
    places: list[int] = []
    for key in ("Enter", "Enter", "Enter", "Shift+Enter"):
        field.press(key)
        settle(view.page)
        place, _, count = found.inner_text().partition(" of ")
        places.append(int(place))
        assert int(count) == len(hits)
        words = words_of(settled_address(view.page, "p.memory.span="))
        assert words["span"] == hits[int(place) - 1].id
    assert places == [1, 2, 3, 2]
    assert words_of(view.page.url)["spans"] == "aten%3A%3Aaddmm"
    field.fill("no such span")
    settle(view.page)
    assert found.inner_text() == "nothing found"
