"""The chart in a real browser: what it paints, what it says, and what it does when handled."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.charting import ABOVE, BELOW, HEADROOM, Chart
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle, settled_address, wait_for_table, words_of
from tests.browser.loop import CAPACITY, LAYERS, RESERVED, STATE, STEPS, WEIGHT, Loop, loop
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed

PARAMETER, OPTIMIZER, ACTIVATION = "#4477aa", "#ccbb44", "#ee6677"
INK, DANGER = "#212121", "#c62828"


@pytest.fixture(scope="module")
def made() -> Loop:
    return loop()


def _open(watched: Watched, server: TensorBoardServer, run: str = "loop", **words: object) -> Chart:
    name = {"loop": "loop.tbmem", "bare": "segments.pickle"}.get(run, "snapshot.pickle")
    frame = open_page(watched.page, f"{server.url}{link(run, name, **words)}")
    wait_for_table(frame)
    return Chart(watched.page, frame)


def _window(watched: Watched) -> tuple[int, int]:
    """The window in the address, once that has settled."""
    found = words_of(settled_address(watched.page, "p.memory.window"))["window"]
    begin, end = found.split("..")
    return int(begin), int(end)


def _settled_without(watched: Watched, word: str) -> None:
    watched.page.wait_for_function("word => !location.hash.includes(word)", arg=word)


def _at(frame: FrameLocator) -> str:
    return frame.locator("h2.at").inner_text().replace("\u00a0", " ")


def test_it_is_painted_to_scale(
    watched: Watched, server: TensorBoardServer, made: Loop, picture: Any
) -> None:
    chart = _open(watched, server, axis="event")
    plot = chart.box()["height"] - ABOVE - BELOW
    pixels_a_byte = plot / (CAPACITY * HEADROOM)
    event = made.steps[1][0] - 6  # after the first step: little else but weights and states is left
    painted = chart.column((event + 0.5) / len(made.allocated))
    assert painted[PARAMETER] == pytest.approx(LAYERS * WEIGHT * pixels_a_byte, abs=2)
    assert painted[OPTIMIZER] == pytest.approx(LAYERS * STATE * pixels_a_byte, abs=2)
    assert ACTIVATION not in painted
    forward = chart.column((made.steps[1][0] + LAYERS - 0.5) / len(made.allocated))
    assert forward[ACTIVATION] > painted[OPTIMIZER]
    assert INK in painted  # the line of reserved
    picture(watched.page, "light")


def test_hovering_the_peak_gives_it_to_the_byte(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event")
    chart.hover_event(made.peak, (made.peak + 0.5) / len(made.allocated))
    assert chart.told() == max(made.allocated)
    assert chart.told("reserved") == RESERVED
    tooltip = chart.frame.get_by_test_id("timeline-tooltip").inner_text()
    assert "1 − allocated ÷ reserved" in tooltip
    assert "step 1" in tooltip


@pytest.mark.parametrize("axis", ["event", "time"])
def test_no_peak_is_lost_at_any_zoom(
    watched: Watched, server: TensorBoardServer, made: Loop, axis: str
) -> None:
    unit = 1000 if axis == "time" else 1
    chart = _open(watched, server, axis=axis)
    assert chart.highest() == max(made.allocated)
    chart.hover_event(made.peak, (made.peak + 0.5) / len(made.allocated))
    for _ in range(14):
        watched.page.mouse.wheel(0, -200)
        chart.wait()
        assert chart.highest() == max(made.allocated)
    settle(watched.page)
    begin, end = _window(watched)
    assert begin <= unit * made.peak <= end
    assert end - begin < 40 * unit


@pytest.mark.parametrize("axis", ["event", "time"])
def test_every_window_says_its_own_highest(
    watched: Watched, server: TensorBoardServer, made: Loop, axis: str
) -> None:
    unit = 1000 if axis == "time" else 1
    for first, last in [(41, 300), (90, 110), (210, 420), (424, 806), (500, 505), (0, 30)]:
        where = {"window": f"{first * unit}..{last * unit}"}
        chart = _open(watched, server, axis=axis, **where)
        assert chart.highest() == max(made.allocated[first : last + 1]), where


def test_brushing_zooms_and_reset_shows_everything(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event")
    before = chart.image()
    chart.drag(0.25, 0.5)
    begin, end = _window(watched)
    chart.wait()
    assert begin == pytest.approx(0.25 * len(made.allocated), abs=3)
    assert end == pytest.approx(0.5 * len(made.allocated), abs=3)
    assert chart.image() != before
    assert f"event {begin} to event {end}" in chart.described()
    chart.frame.get_by_role("button", name="reset zoom").click()
    _settled_without(watched, "p.memory.window")
    chart.wait()
    watched.page.mouse.move(0, 0)
    assert chart.image() == before


def test_a_click_moves_the_table_to_that_moment(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event")
    assert _at(chart.frame).startswith("Alive at the peak")
    event = made.steps[2][0] + LAYERS - 1
    share = (event + 0.5) / len(made.allocated)
    chart.hover(share)
    assert chart.told() == made.allocated[event]
    watched.page.mouse.click(*chart.point(share))
    assert words_of(settled_address(watched.page, "p.memory.at"))["at"] == str(event)
    chart.frame.locator(
        "h2.at", has_text=f"{made.allocated[event] / 2**30:.2f}\u00a0GiB"
    ).wait_for()
    assert not _at(chart.frame).startswith("Alive at the peak")
    watched.page.keyboard.press("Escape")
    chart.frame.locator("h2.at", has_text="Alive at the peak").wait_for()


def test_a_double_click_shows_everything_and_leaves_the_cursor(
    watched: Watched, server: TensorBoardServer
) -> None:
    chart = _open(watched, server, axis="event", window="100..300", at=150)
    watched.page.mouse.dblclick(*chart.point(0.7))
    _settled_without(watched, "p.memory.window")
    assert words_of(settled_address(watched.page, "p.memory.at"))["at"] == "150"


def test_it_is_worked_with_keys(watched: Watched, server: TensorBoardServer, made: Loop) -> None:
    chart = _open(watched, server, axis="event")
    press = watched.page.keyboard.press
    chart.frame.get_by_test_id("timeline-chart").focus()
    press("ArrowRight")
    after = made.peak + 2  # its death; the request for that moves nothing
    assert words_of(settled_address(watched.page, "p.memory.at"))["at"] == str(after)
    spoken = chart.frame.get_by_test_id("timeline-spoken")
    assert f"event {after} " in spoken.inner_text()
    press("ArrowLeft")
    _settled_without(watched, "p.memory.at")
    press("w")
    narrow = _window(watched)
    assert narrow[1] - narrow[0] < 0.7 * len(made.allocated)
    assert narrow[0] < made.peak < narrow[1]
    press("d")
    watched.page.wait_for_function(
        "was => !location.hash.includes(was)", arg=f"window={narrow[0]}.."
    )
    moved = _window(watched)
    assert moved[0] > narrow[0]
    assert abs((moved[1] - moved[0]) - (narrow[1] - narrow[0])) <= 1
    for _ in range(4):
        press("s")
    _settled_without(watched, "p.memory.window")


def test_shift_and_the_middle_button_move_sideways(
    watched: Watched, server: TensorBoardServer
) -> None:
    chart = _open(watched, server, axis="event", window="200..400")
    watched.page.keyboard.down("Shift")
    chart.drag(0.5, 0.25)
    watched.page.keyboard.up("Shift")
    # The address may settle while the hand is on its way.
    watched.page.wait_for_function("() => /window=2(4[89]|5[012])[.]/.test(location.hash)")
    assert _window(watched) == pytest.approx((250, 450), abs=2)
    watched.page.mouse.move(*chart.point(0.25))
    watched.page.mouse.down(button="middle")
    watched.page.mouse.move(*chart.point(0.4))
    watched.page.mouse.move(*chart.point(0.5))
    watched.page.mouse.up(button="middle")
    watched.page.wait_for_function("() => /window=(19[89]|20[012])[.]/.test(location.hash)")
    assert _window(watched) == pytest.approx((200, 400), abs=2)


@pytest.mark.parametrize("window", [None, "0..100", "300..301"])
def test_a_swipe_over_the_chart_never_leaves_the_page(
    window: str | None, watched: Watched, server: TensorBoardServer
) -> None:
    chart = _open(watched, server, axis="event", **({"window": window} if window else {}))
    for turn in (-300, 300):
        init = {"deltaX": turn, "cancelable": True, "bubbles": True}
        kept = chart.canvas.evaluate(
            "(c, init) => !c.dispatchEvent(new WheelEvent('wheel', init))", init
        )
        assert kept
    chart.wait()


def test_the_axis_is_switched_with_the_window(watched: Watched, server: TensorBoardServer) -> None:
    chart = _open(watched, server, axis="time", window="100000..200000")
    in_time = chart.highest()
    chart.frame.get_by_role("radio", name="event", exact=True).click()
    watched.page.wait_for_function("() => location.hash.includes('axis=event')")
    assert _window(watched) == pytest.approx((100, 200), abs=2)
    chart.wait()
    assert chart.highest() == in_time
    assert "from event" in chart.described()


def test_a_picked_group_stands_out(watched: Watched, server: TensorBoardServer, made: Loop) -> None:
    chart = _open(watched, server, axis="event")
    share = (made.steps[1][0] + LAYERS - 0.5) / len(made.allocated)
    assert chart.column(share)[PARAMETER] > 10
    entry = chart.frame.locator(".timeline-groups button", has_text="Activation")
    entry.click()
    assert entry.get_attribute("aria-pressed") == "true"
    settle(watched.page)
    assert PARAMETER not in chart.column(share)
    assert chart.column(share)[ACTIVATION] > 10
    entry.click()
    settle(watched.page)
    assert chart.column(share)[PARAMETER] > 10


def test_lines_are_hidden_and_shown(watched: Watched, server: TensorBoardServer) -> None:
    chart = _open(watched, server, axis="event")
    entry = {
        name: chart.frame.locator(".timeline-lines button", has_text=name)
        for name in ("reserved", "capacity", "fragmentation")
    }
    small = chart.column(0.9)[PARAMETER]
    entry["capacity"].click()
    entry["reserved"].click()
    settle(watched.page)
    column = chart.column(0.9)
    assert INK not in column
    assert column[PARAMETER] > 1.2 * small  # what was made room for is gone
    before = chart.image()
    entry["fragmentation"].click()
    settle(watched.page)
    assert entry["fragmentation"].get_attribute("aria-pressed") == "true"
    assert chart.image() != before


def test_steps_are_named_and_zoomed_to(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event")
    track = chart.frame.get_by_test_id("timeline-steps")
    assert track.get_attribute("aria-label") == f"{STEPS} steps in view"
    first, last = made.steps[1]
    middle = (first + last) / 2 / len(made.allocated)
    watched.page.mouse.move(*chart.point(middle, of=track))
    told = chart.frame.get_by_test_id("timeline-item-tooltip").inner_text()
    assert told.startswith("step 1")
    assert f"event {first} → event {last}" in told
    watched.page.mouse.click(*chart.point(middle, of=track))
    assert _window(watched) == pytest.approx((first, last), abs=4)
    watched.page.mouse.dblclick(*chart.point(0.5, of=track))
    _settled_without(watched, "p.memory.window")


def test_marks_are_told_beside_the_pointer(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event")
    chart.hover(made.steps[0][1] / len(made.allocated))
    assert "Snapshot" in chart.frame.get_by_test_id("timeline-tooltip").inner_text()


def test_the_map_chooses_the_window(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    chart = _open(watched, server, axis="event")
    whole = len(made.allocated)
    for begin, end, expected in [
        (0.3, 0.6, (0.3, 0.6)),  # across the part to see
        (0.45, 0.55, (0.4, 0.7)),  # the window itself
        (0.7, 0.8, (0.4, 0.8)),  # its end
    ]:
        chart.drag(begin, end, of=chart.map)
        settle(watched.page)
        assert _window(watched) == pytest.approx([whole * share for share in expected], abs=4)


def test_a_recording_without_a_history_is_one_bar(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    chart = _open(watched, server, run="bare")
    left, right = chart.column(0.1), chart.column(0.9)
    assert left == right
    assert max(pixels for colour, pixels in left.items() if colour != "#000000") > 20
    assert chart.frame.get_by_test_id("timeline-map").count() == 0
    assert chart.frame.locator(".no-history").is_visible()
    picture(watched.page, "light")


def test_it_fits_narrow_pages_and_the_dark(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    watched.page.set_viewport_size({"width": 800, "height": 900})
    frame = open_page(watched.page, f"{server.url}?darkMode=true{link('loop', 'loop.tbmem')}")
    wait_for_table(frame)
    chart = Chart(watched.page, frame)
    assert "#ffffff" in chart.column(0.9)  # reserved is light on dark
    wide = chart.box()["width"]
    assert 500 < wide < 800
    legend = frame.locator(".timeline-legend").bounding_box()
    assert legend
    assert legend["x"] >= 0
    assert legend["x"] + legend["width"] <= 800
    picture(watched.page, "dark")
    watched.page.set_viewport_size({"width": 1400, "height": 900})
    chart.wait()
    assert chart.box()["width"] > wide


def test_real_snapshots_peak_where_the_facts_say(
    watched: Watched, shared_data: Any, tmp_path: Any
) -> None:
    facts = json.loads((shared_data / "snapshots" / "facts.json").read_text())
    names = ["small_train", "many_snapshots", "no_time_us"]
    for name in names:
        target = tmp_path / "logdir" / name / f"{name}.pickle"
        target.parent.mkdir(parents=True)
        target.write_bytes((shared_data / "snapshots" / f"{name}.pickle").read_bytes())
    cache = {"TB_MEMORY_CACHE": str(tmp_path / "cache")}
    with TensorBoardServer(tmp_path / "logdir", environment=cache) as server:
        for name in names:
            frame = open_page(watched.page, f"{server.url}{link(name, f'{name}.pickle')}")
            wait_for_table(frame)
            expected = facts[f"{name}.pickle"]["devices"]["0"]
            chart = Chart(watched.page, frame)
            assert chart.highest() == expected["allocated_peak"]
            said = re.sub("\u202f", "", chart.described())
            assert f"at event {expected['allocated_peak_event']}" in said
        watched.page.goto("about:blank")  # before the server it polls is gone
