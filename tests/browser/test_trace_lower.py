"""Under the panels of the Trace view: memory by span, of windows and areas, and steps compared."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import settle, settled_address, words_of
from tests.browser.tracing import HEAD, PITCH, Traced, asked, reopened, traced, window_of
from tests.fixtures import chrome
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

WINDOW = (2_000_000, 3_000_000)


def _numbers(view: Traced, column: int) -> list[int]:
    """The exact bytes of a column of the table."""
    cells = view.frame.locator("table[aria-label='Memory by span'] tr[data-row]").all()
    titles = [row.locator("td").nth(column).get_attribute("title") or "0" for row in cells]
    return [int(re.sub(r"[^0-9−]", "", title).replace("−", "-")) for title in titles]


def _names(view: Traced) -> list[str]:
    cells = view.frame.locator("table[aria-label='Memory by span'] td.name").all()
    return [cell.get_attribute("title") or "" for cell in cells]


def _sums(server: TensorBoardServer, **words: Any) -> list[dict[str, Any]]:
    found = asked(server, "trace.sums", "bert", device="1:0", limit=100, **words)
    rows: list[dict[str, Any]] = found["rows"]
    return rows


def test_memory_by_span_is_of_the_window_and_of_a_kind(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    view = traced(watched, profiled, "bert", device="1:0", window=window_of(WINDOW))
    rows = _sums(profiled, kind="op", begin=WINDOW[0], end=WINDOW[1])
    assert _names(view) == [row["name"] for row in rows]
    assert _numbers(view, 3) == [row["allocated"] for row in rows]
    assert _numbers(view, 5) == [row["net"] for row in rows]
    view.frame.get_by_label("Kind of spans").select_option("module")
    settle(view.page)
    modules = _sums(profiled, kind="module", begin=WINDOW[0], end=WINDOW[1])
    assert _names(view) == [row["name"] for row in modules]
    view.frame.get_by_role("button", name="Freed").click()
    settle(view.page)
    freed = _numbers(view, 4)
    assert freed == sorted(freed, reverse=True)
    assert words_of(settled_address(view.page, "p.memory.sums="))["sums"] == "module.-freed"
    link = view.frame.get_by_role("link", name="CSV").first
    assert "trace.sums.csv" in (link.get_attribute("href") or "")


def test_the_spread_over_steps_is_told(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "v100", device="1:1")
    rows = asked(profiled, "trace.sums", "v100", device="1:1", kind="op", limit=100)["rows"]
    cells = view.frame.locator("table[aria-label='Memory by span'] tbody td:last-child").all()
    said = [re.sub(r"[^0-9]+", " ", cell.get_attribute("title") or "").split() for cell in cells]
    wanted = [
        [str(each["steps"][name]) for name in ("count", "least", "most", "median")] for each in rows
    ]
    assert len({tuple(each[1:]) for each in wanted}) > 5
    assert [_joined(each, number) for each, number in zip(said, wanted, strict=True)] == wanted


def _joined(parts: list[str], numbers: list[str]) -> list[str]:
    """Numbers that were written in groups of digits, as many as ``numbers`` are."""
    found, digits = [], iter("".join(parts))
    for number in numbers:
        found.append("".join(next(digits, "") for _ in number))
    return found if next(digits, None) is None else [*found, "more"]


def test_a_row_walks_its_calls(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "bert", device="1:0")
    row = view.frame.locator("tr[data-row]", has=view.frame.locator("td[title='aten::addmm']"))
    calls = next(one["calls"] for one in _sums(profiled, kind="op") if one["name"] == "aten::addmm")
    ids = []
    for place in (1, 2):
        row.click()
        settle(view.page)
        assert row.get_by_role("status").inner_text().strip("‹› ") == f"{place} of {calls}"
        ids.append(words_of(settled_address(view.page, "p.memory.span="))["span"])
    row.get_by_role("button", name="Previous call").click()
    settle(view.page)
    assert words_of(view.page.url)["span"] == ids[0] != ids[1]


def test_a_call_that_cannot_be_found_is_told(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "bert", device="1:0")
    refused = {
        "headers": {"X-Memory-Status": "400"},
        "body": json.dumps({"error": "This recording was moved."}),
    }
    view.page.route("**/plugin/memory/trace.find?*", lambda route: route.fulfill(**refused))
    row = view.frame.locator("tr[data-row]").first
    row.click()
    told = view.frame.get_by_role("region", name="Memory by span").get_by_role("alert")
    told.filter(has_text="This recording was moved.").wait_for()
    view.page.unroute("**/plugin/memory/trace.find?*")
    row.click()
    row.get_by_role("status").wait_for()
    assert told.count() == 0


def test_an_area_of_tracks_is_summed_up(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "v100", device="1:1")
    tracks = asked(profiled, "trace", "v100", device="1:1")["tracks"]
    box = view.glass("host").bounding_box()
    left, width = view.plot()
    below = box["y"] + HEAD + tracks[0]["lanes"] * PITCH - 6
    view.frame.get_by_role("button", name="select area").click()
    view.page.mouse.move(left + 0.3 * width, box["y"] + HEAD + 6)
    view.page.mouse.down()
    view.page.mouse.move(left + 0.5 * width, below, steps=4)
    view.page.mouse.up()
    settle(view.page)
    areas = view.frame.get_by_test_id("trace-area")
    assert areas.count() == 1
    drawn = areas.bounding_box()
    assert drawn["x"] == pytest.approx(left + 0.3 * width, abs=1.5)
    assert drawn["width"] == pytest.approx(0.2 * width, abs=2)
    assert "selected area" in view.frame.get_by_role("region", name="Memory by span").inner_text()
    href = view.frame.get_by_role("link", name="CSV").first.get_attribute("href") or ""
    words = dict(part.split("=") for part in href.partition("?")[2].split("&"))
    assert words["tracks"] == "0"
    found = asked(
        profiled,
        "trace.sums",
        "v100",
        device="1:1",
        kind="op",
        tracks="0",
        begin=words["begin"],
        end=words["end"],
    )
    assert _numbers(view, 3) == [row["allocated"] for row in found["rows"]]
    link = words_of(settled_address(view.page, "p.memory.area="))["area"]
    assert link == f"{words['begin']}..{words['end']}..0"
    reopened(watched, view.page.url)
    assert areas.bounding_box()["x"] == drawn["x"]
    view.frame.get_by_role("button", name="deselect").click()
    settle(view.page)
    assert areas.count() == 0


def test_steps_lie_over_each_other(
    watched: Watched, profiled: TensorBoardServer, pictures: Any
) -> None:
    view = traced(watched, profiled, "v100", device="1:1")
    view.frame.get_by_role("radio", name="steps over each other").click()
    settle(view.page)
    steps = asked(profiled, "trace.steps", "v100", device="1:1")["steps"]
    curves = view.frame.locator("[data-curve]")
    assert {curve.get_attribute("data-curve") for curve in curves.all()} == {
        step["id"] for step in steps
    }
    row = view.frame.locator(f"[data-step='{steps[1]['id']}']")
    row.get_by_role("checkbox").click()
    settle(view.page)
    assert curves.count() == len(steps) - 1
    link = words_of(settled_address(view.page, "p.memory.steps="))["steps"]
    assert link == ".".join(step["id"] for step in steps if step is not steps[1])
    reopened(watched, view.page.url)
    assert curves.count() == len(steps) - 1
    view.frame.locator(f"[data-step='{steps[2]['id']}']").hover()
    assert steps[2]["name"] in view.frame.locator("figcaption").inner_text()
    pictures(view.page, "trace-steps")
    view.frame.get_by_role("button", name=steps[3]["name"]).click()
    assert words_of(settled_address(view.page, "p.memory.span="))["span"] == steps[3]["id"]


def test_what_is_in_view_is_saved_as_a_trace(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "bert", device="1:0", window=window_of(WINDOW))
    with view.page.expect_download() as download:
        view.frame.get_by_role("link", name="trace", exact=False).first.click()
    events = chrome.check(json.loads(download.value.path().read_text()))
    assert any(event["name"] == "aten::addmm" for event in events)
    assert any(event["ph"] == "C" for event in events)
