"""Steps, annotations and the map in a real browser: pointed at, clicked, walked with keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.charting import Chart
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settled_address, wait_for_table, words_of
from tests.browser.loop import ACTIVATION, LAYERS, STEPS, Loop, loop
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def made() -> Loop:
    return loop()


def _open(watched: Watched, server: TensorBoardServer, **words: object) -> Chart:
    frame = open_page(watched.page, f"{server.url}{link('loop', 'loop.tbmem', **words)}")
    wait_for_table(frame)
    chart = Chart(watched.page, frame)
    frame.get_by_test_id("timeline-steps").wait_for()
    return chart


def _window(watched: Watched) -> tuple[int, int]:
    begin, end = words_of(settled_address(watched.page, "p.memory.window"))["window"].split("..")
    return int(begin), int(end)


def _settled_without(watched: Watched, word: str) -> None:
    watched.page.wait_for_function("word => !location.hash.includes(word)", arg=word)


def _expect(locator: Locator) -> Any:
    return pytest.importorskip("playwright.sync_api").expect(locator)


def _exact(chart: Chart, word: str) -> int:
    """Whole bytes that a line of the inspector tells on a closer look."""
    line = chart.frame.locator(".inspector .facts-list > div", has_text=word).first
    return int("".join(filter(str.isdigit, line.get_attribute("title") or "")))


def _forward(made: Loop, step: int) -> tuple[int, int]:
    return made.steps[step][0], made.steps[step][0] + LAYERS


def test_annotations_are_named_zoomed_to_and_explained(
    watched: Watched, server: TensorBoardServer, made: Loop, pictures: Any
) -> None:
    chart = _open(watched, server, axis="event")
    track = chart.frame.get_by_test_id("timeline-annotations")
    assert track.get_attribute("aria-label") == f"{3 * STEPS} annotations in view"
    first, last = _forward(made, 1)
    middle = (first + last) / 2 / len(made.allocated)
    watched.page.mouse.move(*chart.point(middle, of=track))
    tip = chart.frame.get_by_test_id("timeline-item-tooltip")
    _expect(tip).to_contain_text("forward")
    _expect(tip).to_contain_text(f"event {first} → event {last}")
    _expect(tip).to_contain_text("peak ")  # once it is known
    boxes = chart.frame.get_by_test_id("timeline-annotations-boxes")
    before = boxes.evaluate("canvas => canvas.toDataURL()")
    watched.page.mouse.click(*chart.point(middle, of=track))
    assert _window(watched) == pytest.approx((first, last), abs=2)
    _expect(chart.frame.locator(".inspector .title")).to_have_text("forward")
    _expect(chart.frame.locator(".inspector .subtitle")).to_contain_text("annotation in step 1")
    inside = made.allocated[first - 1 : last]
    assert _exact(chart, "Peak in it") == max(inside)
    assert _exact(chart, "Before it") == made.allocated[first - 1]
    assert _exact(chart, "After it") == made.allocated[last - 1]
    assert _exact(chart, "Born in it") == LAYERS * ACTIVATION
    assert _exact(chart, "Kept") == LAYERS * ACTIVATION
    assert boxes.evaluate("canvas => canvas.toDataURL()") != before
    pictures(watched.page)
    watched.page.mouse.dblclick(*chart.point(0.5, of=track))
    _settled_without(watched, "p.memory.window")


def test_what_is_explained_is_in_the_address_and_leads_on(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="time")
    track = chart.frame.get_by_test_id("timeline-steps")
    first, last = made.steps[1]
    watched.page.mouse.click(*chart.point((first + last) / 2 / len(made.allocated), of=track))
    chosen = words_of(settled_address(watched.page, "p.memory.span"))["span"]
    again = _open(watched, server, axis="event", span=chosen)
    inspector = again.frame.locator(".inspector")
    _expect(inspector.locator(".title")).to_have_text("step 1")
    assert _exact(again, "Peak in it") == max(made.allocated[first - 1 : last])
    inspector.get_by_role("button", name="its end").click()
    assert words_of(settled_address(watched.page, "p.memory.at"))["at"] == str(last - 1)
    inspector.get_by_role("button", name="its peak").click()
    _settled_without(watched, "p.memory.at")  # the peak of all is in this step
    inspector.get_by_role("button", name="zoom to it").click()
    assert _window(watched) == (first, last)
    inspector.get_by_role("button", name="group by step").click()
    assert words_of(settled_address(watched.page, "p.memory.by=step"))["by"] == "step"
    _expect(inspector.get_by_role("button", name="group by step")).to_have_count(0)
    watched.page.keyboard.press("Escape")
    _settled_without(watched, "p.memory.span")


def test_what_a_step_kept_is_a_flame_graph(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event")
    track = chart.frame.get_by_test_id("timeline-steps")
    first, last = made.steps[0]  # which makes the states of the optimizer
    watched.page.mouse.click(*chart.point((first + last) / 2 / len(made.allocated), of=track))
    chart.frame.get_by_role("button", name="what it kept").click()
    words = words_of(settled_address(watched.page, "p.memory.of=kept"))
    assert (words["view"], words["window"]) == ("flame", f"{first}..{last}")
    chart.frame.get_by_test_id("flame-canvas").wait_for()


def test_steps_are_walked_with_keys(
    watched: Watched, server: TensorBoardServer, made: Loop, picture: Any
) -> None:
    chart = _open(watched, server, axis="event")
    press = watched.page.keyboard.press
    track = chart.frame.get_by_test_id("timeline-steps-track")
    spoken = chart.frame.get_by_test_id("timeline-item-spoken")
    tip = chart.frame.get_by_test_id("timeline-item-tooltip")
    track.focus()
    press("ArrowRight")  # begins where the cursor is: at the peak
    _expect(spoken).to_contain_text("step 1, ")
    _expect(spoken).to_contain_text("peak 1.")
    _expect(tip).to_contain_text("step 1")
    picture(watched.page, "reached")
    press("ArrowRight")
    _expect(spoken).to_contain_text("step 2, ")
    press("ArrowRight")  # there is none after it
    _expect(spoken).to_contain_text("step 2, ")
    press("Home")
    _expect(spoken).to_contain_text("step 0, ")
    press("ArrowRight")
    press("Enter")
    first, last = made.steps[1]
    assert _window(watched) == pytest.approx((first, last), abs=4)
    _expect(chart.frame.locator(".inspector .title")).to_have_text("step 1")
    press("ArrowRight")  # what is out of view is moved to
    _expect(spoken).to_contain_text("step 2, ")
    watched.page.wait_for_function(
        "end => Number(location.hash.match(/window=\\d+\\.\\.(\\d+)/)?.[1]) > end", arg=last + 20
    )
    press("ArrowLeft")
    press("Escape")
    _settled_without(watched, "p.memory.window")
    _expect(track).to_be_focused()
    _expect(spoken).to_contain_text("step 1, ")
    press("Tab")
    _expect(tip).to_have_count(0)
    _expect(chart.frame.get_by_test_id("timeline-annotations-track")).to_be_focused()


def test_annotations_are_walked_with_keys(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event", at=made.steps[2][0] + 3)
    press = watched.page.keyboard.press
    chart.frame.get_by_test_id("timeline-annotations-track").focus()
    spoken = chart.frame.get_by_test_id("timeline-item-spoken")
    press("ArrowDown")
    _expect(spoken).to_contain_text(f"forward, {LAYERS} events")
    press("ArrowRight")
    _expect(spoken).to_contain_text("backward, ")
    press("ArrowLeft")
    press("Enter")
    assert _window(watched) == pytest.approx(_forward(made, 2), abs=2)
    press("Escape")
    _settled_without(watched, "p.memory.window")
    press("Escape")  # nothing to go back to: deselects, as anywhere
    _settled_without(watched, "p.memory.span")


def test_the_map_is_worked_with_keys(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event", window="200..400")
    press = watched.page.keyboard.press
    chart.map.focus()
    assert chart.map.get_attribute("role") == "slider"
    assert chart.map.get_attribute("aria-valuetext") == "event 200 to event 400, 200 events"
    press("ArrowRight")
    _expect(chart.map).to_have_attribute("aria-valuetext", "event 240 to event 440, 200 events")
    press("ArrowLeft")
    press("+")
    _expect(chart.map).to_have_attribute("aria-valuetext", "event 240 to event 360, 120 events")
    press("-")
    press("Home")
    _expect(chart.map).to_have_attribute("aria-valuetext", "event 0 to event 200, 200 events")
    press("PageDown")
    _expect(chart.map).to_have_attribute("aria-valuetext", "event 180 to event 380, 200 events")
    press("0")
    events = len(made.allocated)
    _expect(chart.map).to_have_attribute("aria-valuetext", f"everything, {events} events")
    _settled_without(watched, "p.memory.window")
