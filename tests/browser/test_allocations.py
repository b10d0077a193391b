"""The picture of allocations in a real browser: links, failures, real snapshots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle, words_of
from tests.browser.loop import Loop
from tests.browser.looping import open_loop
from tests.browser.picturing import Picture
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.framed


MIB = 1 << 20


def test_a_link_shows_the_same_again(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    words = {
        "layout": "lane",
        "only": "freed",
        "minimum": 1024,
        "find": "aten::mm",
        "window": "100..300",
        "bytes": f"0..{300 * MIB}",
    }
    picture = open_loop(watched, server, **words)
    settle(watched.page)
    kept = words_of(watched.page.url)
    assert kept["layout"] == "lane"
    assert kept["only"] == "freed"
    assert kept["minimum"] == "1024"
    assert kept["find"] == "aten%3A%3Amm"
    assert kept["window"] == "100..300"
    assert kept["bytes"] == f"0..{300 * MIB}"
    assert picture.frame.get_by_label("Find allocations").input_value() == "aten::mm"


def test_a_failure_is_told_and_tried_again(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    watched.page.route("**/tile?**", lambda route: route.fulfill(status=500, body="no"))
    address = f"{server.url}{link('loop', 'loop.tbmem', view='allocations', axis='event')}"
    frame = open_page(watched.page, address)
    notice = frame.locator(".timeline-notice[role=alert]")
    notice.wait_for()
    settle(watched.page)  # nothing is asked again by itself, which would do without a click
    assert "500" in notice.inner_text()
    picture(watched.page, "light")
    watched.page.unroute("**/tile?**")
    notice.get_by_role("button", name="Try again").click()
    shown = Picture(watched.page, frame)
    assert shown.highest()[1] > 0
    settle(watched.page)
    watched.faults.clear()


def test_a_recording_without_a_history_is_one_column(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    picture = open_loop(watched, server, run="bare")
    told = picture.hover(0.5, 0.2)
    assert "bytes" in told or "smaller" in told
    assert picture.map.count() == 0
    pictures(watched.page)


def test_it_fits_narrow_pages(watched: Watched, server: TensorBoardServer, pictures: Any) -> None:
    watched.page.set_viewport_size({"width": 800, "height": 900})
    picture = open_loop(watched, server)
    box = picture.box()
    assert 500 < box["width"] < 800
    assert box["height"] > 340
    pictures(watched.page)


def test_real_snapshots_peak_where_the_facts_say(
    watched: Watched, shared_data: Any, tmp_path: Path, pictures: Any
) -> None:
    facts = json.loads((shared_data / "snapshots" / "facts.json").read_text())
    names = ["small_train", "many_snapshots", "no_time_us", "llm_fullstep", "annotated_compile"]
    for name in names:
        target = tmp_path / "logdir" / name / f"{name}.pickle"
        target.parent.mkdir(parents=True)
        target.write_bytes((shared_data / "snapshots" / f"{name}.pickle").read_bytes())
    cache = {"TB_MEMORY_CACHE": str(tmp_path / "cache")}
    with TensorBoardServer(tmp_path / "logdir", environment=cache) as server:
        for name in names:
            asked = link(name, f"{name}.pickle", view="allocations", axis="event")
            picture = Picture(watched.page, open_page(watched.page, f"{server.url}{asked}"))
            truth = facts[f"{name}.pickle"]["devices"]["0"]
            assert picture.highest()[0] == truth["allocated_peak"]
            assert f"event {truth['allocated_peak_event']}" in picture.described()
            events = truth["events"]
            peak = truth["allocated_peak_event"]
            watched.page.mouse.move(*picture.point((peak + 0.5) / events, 0.5))
            for _ in range(4):
                watched.page.mouse.wheel(0, -240)
            picture.wait()
            assert picture.highest()[0] == truth["allocated_peak"]
        pictures(watched.page)
        watched.page.goto("about:blank")  # it asks its server now and then, which ends here
