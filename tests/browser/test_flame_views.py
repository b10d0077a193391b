"""The flame graph beside the other views, in a real browser: windows, filters, groups."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.charting import Chart
from tests.browser.conftest import Watched
from tests.browser.flaming import (
    CURSOR,
    LIBRARY,
    MIB,
    OWN,
    QUIET,
    flame_of,
)
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.looping import grouping, legend
from tests.browser.picturing import Picture
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(flame_server: TensorBoardServer) -> TensorBoardServer:
    """One that shows source, on a recording with stacks and one without."""
    return flame_server


def test_a_frame_narrows_the_other_views_down(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    flame = flame_of(watched, server)
    flame.click(0.7, 2)
    flame.frame.get_by_role("button", name="filter by this frame").click()
    flame.says("200.0 MiB")
    field = flame.frame.get_by_role("searchbox", name="Filter allocations")
    assert field.input_value() == r"stack:/^forward \/home\/me\/model\.py:90$/"
    flame.frame.get_by_role("tab", name="Profile").click()
    heading = flame.frame.locator(".breakdown .at .quiet")
    heading.filter(has_text=re.compile(r"200\.0\sMiB in 1\sblock")).wait_for()

    flame.frame.get_by_role("tab", name="Allocations").click()
    picture = Picture(flame.page, flame.frame)
    # The two that softmax made: one of 200 MiB, later one of 50.
    assert picture.highest() == (200 * MIB, 1)
    chip = flame.frame.get_by_test_id("filtered")
    assert "model.py:90" in chip.inner_text().replace("\\", "")
    flame.frame.get_by_role("tab", name="Segments").click()
    told = flame.frame.get_by_test_id("events-count")
    told.filter(has_text=re.compile(r"^2\sof")).wait_for()
    flame.frame.get_by_label("Filter events").fill("event>3")
    told.filter(has_text=re.compile(r"^1\sof")).wait_for()
    pictures(flame.page)
    flame.frame.get_by_role("button", name="Take the filter away").click()
    told.filter(has_text=re.compile(r"^5\sof")).wait_for()
    flame.frame.get_by_role("tab", name="Allocations").click()
    picture.wait()
    assert chip.count() == 0
    assert picture.highest()[0] == 640 * MIB


def test_a_frame_groups_the_other_views(watched: Watched, server: TensorBoardServer) -> None:
    flame = flame_of(watched, server)
    flame.click(0.3, 3)
    flame.frame.get_by_role("button", name="group by this frame").click()
    typed = flame.frame.get_by_role("textbox", name="Pattern to group by")
    assert typed.input_value() == r"/^forward \/home\/me\/model\.py:88$/"
    flame.frame.locator(".inspector dd", has_text=re.compile(r"400\.0\sMiB")).first.wait_for()
    flame.frame.get_by_role("tab", name="Profile").click()
    row = flame.frame.locator("table.groups tr[data-row]").first
    row.filter(has_text=re.compile(r"400\.0\sMiB")).wait_for()
    # What is folded is no frame to group by.
    flame.frame.get_by_role("tab", name="Flame graph").click()
    flame.frame.locator(".flame-way").wait_for()
    flame.frame.get_by_role("button", name="… 2 library frames").click()
    flame.frame.locator(".flame-way strong", has_text="library").wait_for()
    assert flame.frame.get_by_role("button", name="group by this frame").is_disabled()


def test_the_stack_of_what_is_selected_is_outlined(
    watched: Watched, server: TensorBoardServer
) -> None:
    flame = flame_of(watched, server, allocation=1)
    flame.frame.locator(".inspector .stack").first.wait_for()
    settle(flame.page)
    assert [flame.pixel(0.3, row) for row in range(1, 5)] == [CURSOR] * 4
    assert (flame.pixel(0.7, 2), flame.pixel(0.96, 1)) == (OWN, QUIET)
    flame.frame.get_by_role("button", name="Deselect").click()
    settle(flame.page)
    assert flame.pixel(0.3, 1) == OWN


def test_boxes_have_the_colours_of_groups_and_a_picked_one_is_outlined(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    flame = flame_of(watched, server, by="stack", calls="groups")
    colours = legend(flame.frame)
    made = {90: "forward · model.py:90", 88: "forward · model.py:88"}
    assert flame.pixel(0.3, 2) == flame.pixel(0.3, 4) == colours[made[88]]
    assert flame.pixel(0.7, 2) == flame.pixel(0.7, 3) == colours[made[90]]
    assert flame.pixel(0.96, 1) == colours["no stack recorded"]
    several = flame.pixel(0.3, 1)  # what main called
    assert several == flame.pixel(0.3, 0)
    assert several not in colours.values()
    assert f"group {made[90]}" in flame.told(0.7, 2)
    pictures(flame.page)

    # Picked here, in the legend; by size in the Profile; a step of the way is of both.
    flame.frame.locator(f".timeline-groups button[title='{made[88]}']").click()
    settle(flame.page)
    assert [flame.pixel(0.3, row) for row in (0, 1, 2, 3, 4)] == [several, *[CURSOR] * 4]
    assert flame.pixel(0.7, 2) not in (CURSOR, colours[made[90]])  # stands back
    assert "picked 400.0 MiB · 66.7 % of it" in flame.told(0.3, 1)
    pictures(flame.page, "picked")
    flame.frame.get_by_role("tab", name="Profile").click()
    grouping(flame.frame).select_option("size")
    flame.frame.locator(".timeline-groups button", has_text="200").click()
    flame.frame.get_by_role("tab", name="Flame graph").click()
    flame.frame.get_by_role("radio", name="code").click()
    settle(flame.page)
    assert [flame.pixel(0.7, row) for row in (0, 1, 2, 3)] == [QUIET, *[CURSOR] * 3]
    assert [flame.pixel(0.3, row) for row in (2, 3)] == [LIBRARY, OWN]
    assert flame.pixel(0.96, 1) == QUIET
    flame.click(0.7, 2)
    settle(flame.page)
    assert flame.pixel(0.3, 3) == CURSOR


WEIGHTS = [
    ("highest", "Alive at the highest moment of the window, +5.00 µs 600.0 MiB"),
    ("allocations", "Allocations born in the window 2 allocations"),
    ("kept", "Born in the window and alive at its end 160.0 MiB"),
    # After events 3 and 4 one µs each, and so on: (440 + 540 + 600 + 600) MiB for a µs.
    ("× lifetime", "Bytes × lifetime within the window 2.23 KiB · s"),
]


@pytest.mark.parametrize(("weight", "heading"), WEIGHTS, ids=lambda value: str(value)[:9])
def test_a_window_is_weighed(
    weight: str, heading: str, watched: Watched, server: TensorBoardServer
) -> None:
    flame = flame_of(watched, server, window="3..7")
    flame.frame.get_by_role("radio", name=weight, exact=True).click()
    flame.says(heading.split()[-2])
    assert flame.heading() == heading


def test_the_curve_above_brushes_the_window_and_moves_the_cursor(
    watched: Watched, server: TensorBoardServer
) -> None:
    flame = flame_of(watched, server)
    chart = Chart(flame.page, flame.frame)
    flame.page.mouse.click(*chart.point(0.99))
    flame.says("Alive at +8.00 µs")
    assert flame.heading() == "Alive at +8.00 µs 250.0 MiB"
    assert [row[0] for row in flame.rows()] == [
        "load · train.py:12",
        "no stack recorded",
        "main · train.py:41",
        "before the window",
    ]
    flame.frame.get_by_role("radio", name="kept").click()
    flame.says("Born in the recording")
    chart = Chart(flame.page, flame.frame)
    chart.drag(0.45, 0.99)
    flame.says("Born in the window")
    assert "210.0 MiB" in flame.heading()
    assert words_of(settled_address(flame.page, "memory.window"))["of"] == "kept"
