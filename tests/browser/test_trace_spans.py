"""Spans of the Trace view: pointed at, selected, walked with keys, linked by arrows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.recording.recording import Recording
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.tracing import (
    HEAD,
    Drawn,
    Traced,
    asked,
    recorded,
    spans,
    top_of,
    traced,
    window_of,
)
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

BERT = "1:0"


@pytest.fixture(scope="module")
def recording(shared_data: Path) -> Recording:
    return recorded(shared_data, "bert")


@pytest.fixture(scope="module")
def all_spans(recording: Recording) -> list[Drawn]:
    return spans(recording)


def _kernel(all_spans: list[Drawn]) -> Drawn:
    return max((one for one in all_spans if one.track == 2), key=lambda one: one.end - one.begin)


def _around(span: Drawn, times: float = 1.0) -> tuple[int, int]:
    air = int((span.end - span.begin) * times)
    return span.begin - air, span.end + air


def _selected(watched: Watched) -> str:
    settle(watched.page)
    return words_of(settled_address(watched.page, "p.memory.span="))["span"]


def _link(recording: Recording, all_spans: list[Drawn], target: str) -> Drawn:
    """What launched a span."""
    table = recording.table("links")
    target_rows = table.column("target").to_pylist()
    return all_spans[table.column("source")[target_rows.index(int(target))].as_py()]


def test_a_span_is_told_selected_explained_and_linked_to_who_launched_it(
    watched: Watched,
    profiled: TensorBoardServer,
    recording: Recording,
    all_spans: list[Drawn],
    pictures: Any,
) -> None:
    kernel = _kernel(all_spans)
    window = _around(kernel)
    view = traced(watched, profiled, "bert", device=BERT, window=window_of(window))
    middle = (kernel.begin + kernel.end) / 2
    point = view.point("device", window, middle, HEAD + 8)
    view.page.mouse.move(*point)
    view.tooltip.wait_for()
    told = view.tooltip.inner_text()
    assert kernel.name in told
    assert "kernel" in told and "cuda:0 stream 7" in told
    view.page.mouse.click(*point)
    assert _selected(watched) == kernel.id
    said = view.inspector.inner_text()
    assert "kernel" in said and "cuda:0 stream 7" in said
    launch = _link(recording, all_spans, kernel.id)
    assert f"launched by {launch.name}" in said.replace("\n", " ")
    arrows = view.frame.locator("[data-arrow]")
    assert [arrow.get_attribute("data-arrow") for arrow in arrows.all()] == [
        f"launch {launch.id} {kernel.id}"
    ]
    left, width = view.plot()
    scale = width / (window[1] - window[0])
    numbers = arrows.first.get_attribute("d").replace("M", "").replace("C", " ").split()
    end_x = float(numbers[-2]) + view.frame.get_by_test_id("trace-arrows").bounding_box()["x"]
    assert end_x == pytest.approx(left + (kernel.begin - window[0]) * scale, abs=1)
    pictures(view.page, "trace-launch")
    # The way back: the call that launched it, and the same arrow.
    view.inspector.get_by_role("button", name=launch.name).click()
    assert _selected(watched) == launch.id
    settle(view.page)
    assert arrows.first.get_attribute("data-arrow") == f"launch {launch.id} {kernel.id}"


def test_what_is_around_a_span_and_what_it_says_can_be_walked(
    watched: Watched, profiled: TensorBoardServer, all_spans: list[Drawn]
) -> None:
    (deepest, *_) = sorted(
        (one for one in all_spans if one.name == "aten::addmm"), key=lambda one: -one.depth
    )
    view = traced(watched, profiled, "bert", device=BERT, span=deepest.id)
    card = asked(profiled, "span", "bert", device=BERT, id=deepest.id)
    said = view.inspector.inner_text()
    assert "Arguments" in said
    first = next(iter(card["args"]))
    assert first in said
    names = [one["name"] for one in card["inside"]]
    buttons = view.inspector.get_by_role("region", name="Inside").locator("li button")
    assert buttons.last.get_attribute("title") == names[-1]
    assert buttons.count() == min(len(names), 12)
    buttons.last.click()
    assert _selected(watched) == card["inside"][-1]["id"]
    assert names[-1] in (view.inspector.locator(".title").get_attribute("title") or "")


def test_keys_walk_along_a_lane_out_and_in(
    watched: Watched, profiled: TensorBoardServer, all_spans: list[Drawn]
) -> None:
    kernels = sorted((one for one in all_spans if one.track == 2), key=lambda one: one.begin)
    start = kernels[20]
    view = traced(watched, profiled, "bert", device=BERT, span=start.id)
    glass = view.glass("device")
    glass.focus()
    for key, wanted in (("ArrowRight", 21), ("ArrowRight", 22), ("ArrowLeft", 21)):
        view.page.keyboard.press(key)
        settle(view.page)
        assert _selected(watched) == kernels[wanted].id
    said = view.frame.get_by_test_id("trace-device-spoken").inner_text()
    assert "kernel" in said and "level 1 on cuda:0 stream 7" in said
    view.page.keyboard.press("Enter")
    settle(view.page)
    window = words_of(settled_address(view.page, "p.memory.window="))["window"].split("..")
    begin, end = (int(each) for each in window)
    chosen = kernels[21]
    assert begin <= chosen.begin and chosen.end <= end
    assert end - begin < 2 * (chosen.end - chosen.begin)


def test_keys_go_to_parents_and_children(
    watched: Watched, profiled: TensorBoardServer, all_spans: list[Drawn]
) -> None:
    start = next(one for one in all_spans if one.name == "aten::addmm")
    card = asked(profiled, "span", "bert", device=BERT, id=start.id)
    window = window_of(_around(start, 0.2))
    view = traced(watched, profiled, "bert", device=BERT, span=start.id, window=window)
    view.glass("host").focus()
    view.page.keyboard.press("ArrowUp")
    parent = _selected(watched)
    assert parent == card["inside"][-1]["id"]
    view.page.keyboard.press("ArrowDown")
    settle(view.page)
    children = {one.id for one in all_spans if one.depth == start.depth and one.track == 0}
    assert _selected(watched) in children


def test_an_allocation_has_arrows_from_who_made_it_to_who_freed_it(
    watched: Watched, profiled: TensorBoardServer, pictures: Any
) -> None:
    rows = asked(
        profiled, "lives", "bert", device=BERT, axis="time", sort="-bytes", offset=0, limit=50
    )["rows"]
    card = next(
        card
        for row in rows
        if row["birth"] is not None and row["death"] is not None
        for card in [asked(profiled, "allocation", "bert", id=row["id"])]
        if card["made_in"] and card["freed_in"]
    )
    life = card["birth_time"], card["death_time"]
    air = (life[1] - life[0]) // 4
    window = life[0] - air, life[1] + air
    words = {"allocation": card["id"], "window": window_of(window)}
    view = traced(watched, profiled, "bert", device=BERT, **words)
    arrows = view.frame.locator("[data-arrow]")
    made, freed = card["made_in"], card["freed_in"]
    assert [arrow.get_attribute("data-arrow") for arrow in arrows.all()] == [
        f"made {made['id']}",
        f"freed {freed['id']}",
    ]
    picture = view.frame.get_by_test_id("allocations-picture").bounding_box()
    box = view.frame.get_by_test_id("trace-arrows").bounding_box()
    numbers = arrows.first.get_attribute("d").replace("M", "").replace("C", " ").split()
    left, width = view.plot()
    born = left + (life[0] - window[0]) / (window[1] - window[0]) * width
    assert box["x"] + float(numbers[-2]) == pytest.approx(born, abs=1.5)
    assert picture["y"] < box["y"] + float(numbers[-1]) < picture["y"] + picture["height"]
    pictures(view.page, "trace-allocation")
    view.inspector.get_by_role("region", name="Spans").get_by_role("button").first.click()
    assert _selected(watched) == made["id"]


def test_colours_say_kind_or_memory(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "bert", device=BERT)
    legend = view.frame.locator("[data-panel=host] .trace-legend")
    assert "module" in legend.inner_text()
    assert legend.get_by_role("radio", name="by kind").get_attribute("aria-checked") == "true"
    legend.get_by_role("radio", name="by memory").click()
    assert words_of(settled_address(view.page, "p.memory.colours="))["colours"] == "net"
    assert "allocated" in legend.inner_text()


def test_a_click_on_several_comes_closer_until_each_can_be_told(
    watched: Watched, profiled: TensorBoardServer, all_spans: list[Drawn]
) -> None:
    view: Traced = traced(watched, profiled, "v100", device="1:1")
    tracks = asked(profiled, "trace", "v100", device="1:1")["tracks"]
    left, width = view.plot()
    box = view.glass("host").bounding_box()
    point = left + 0.5 * width, box["y"] + top_of(tracks, 0, 2) + 5
    view.page.mouse.move(*point)
    view.tooltip.wait_for()
    assert "too short to tell apart" in view.tooltip.inner_text()
    view.page.mouse.click(*point)
    settle(view.page)
    window = words_of(settled_address(view.page, "p.memory.window="))["window"].split("..")
    assert int(window[1]) - int(window[0]) < 1_738_039_000 / 20
