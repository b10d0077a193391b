"""What the picture of allocations tells, selects, finds and leaves out, in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.charting import ABOVE, LEFT, RIGHT, Chart
from tests.browser.conftest import Watched
from tests.browser.loop import ACTIVATION, LAYERS, SAID, SPIKE, STATE, STEPS, WEIGHT, Loop
from tests.browser.looping import across, open_loop, shown_range, up, wait_without, word_of
from tests.browser.reference import CATEGORIES, lives, standing
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

MIB = 1 << 20


def test_hovering_tells_without_a_click(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = open_loop(watched, server)
    event = made.steps[1][0] + LAYERS - 1
    told = picture.hover(
        across(made, event), up(made, LAYERS * (WEIGHT + STATE) + ACTIVATION * 1.5)
    )
    assert told.startswith("21.00 MiB of Activation")
    assert f"{ACTIVATION} bytes" in told
    shown = int(re.search(r"event (\d+)", told)[1])  # type: ignore[index]
    alive = [life for life in lives(made.recording) if life.birth <= shown < life.death]
    assert f"in {len(alive)} allocations at this instant" in told
    watched.page.wait_for_timeout(600)  # what it was, once the pointer rests
    assert "aten::mm" in picture.told()
    assert "step 1" in picture.told()
    (life,) = (life for life in alive if life.birth == made.steps[1][0] + 1)
    assert f"{life.death - life.birth} µs long" in picture.told()
    assert picture.hover(0.5, 0.98).startswith("nothing is alive here")
    spike = picture.hover(across(made, made.peak), up(made, made.peak_bytes - SPIKE / 2))
    assert spike.startswith("700.0 MiB of Temporary")
    picture.click(across(made, made.peak), up(made, made.peak_bytes - SPIKE / 2))
    inspector = picture.frame.locator(".inspector")
    inspector.get_by_role("heading", name="Stack of its forward").wait_for()
    said = re.sub(r"\s+", " ", inspector.inner_text())
    assert f"Compiled {SAID['compile_context']} Metadata {SAID['user_metadata']} " in said
    forward = said.partition("Stack of its forward")[2].partition("Stack of")[0]
    assert "forward · model.py:88" in forward
    assert "train.py:41" not in forward


def test_a_click_selects_in_all_views(
    watched: Watched, server: TensorBoardServer, made: Loop, pictures: Any
) -> None:
    picture = open_loop(watched, server)
    event = made.steps[0][0] + LAYERS - 1
    picture.click(across(made, event), up(made, LAYERS * WEIGHT + ACTIVATION * 0.5))
    inspector = picture.frame.locator(".inspector")
    inspector.get_by_text("21.00 MiB activation").wait_for()
    assert int(word_of(watched, "allocation")) == LAYERS
    assert int(word_of(watched, "at")) == pytest.approx(event, abs=1)
    picture.wait()
    # Its life is outlined over all its columns, its siblings are hatched.
    first, last = made.steps[0][0], made.steps[0][0] + LAYERS
    pixels = picture.pixels()
    for share in (across(made, first + 3), across(made, last + 10)):
        column = pixels[int(share * len(pixels))]
        assert column.count("#212121") > 4
    check_hatched(made, pixels, selected=LAYERS)
    pictures(watched.page)
    # In the Profile its life is a bar over the chart, and its group's row is marked.
    picture.frame.get_by_role("tab", name="Profile").click()
    row = picture.frame.locator("table.groups tr.holds")
    row.wait_for()
    assert "Activation" in row.inner_text()
    chart = Chart(watched.page, picture.frame)
    overlay = picture.frame.get_by_test_id("timeline-overlay")
    alpha = """(canvas, [share, left, sides, y]) => {
      const ratio = canvas.width / canvas.clientWidth;
      const x = left + share * (canvas.clientWidth - sides);
      return canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data[3];
    }"""
    place = [LEFT, LEFT + RIGHT, ABOVE - 4]
    watched.page.wait_for_timeout(300)
    events = (first + 3, last + 10, made.steps[1][0] + 5)
    lit = [overlay.evaluate(alpha, [across(made, event), *place]) > 0 for event in events]
    assert lit == [True, True, False]
    pictures(watched.page)
    # What is brushed there is what the others show.
    chart.drag(0.3, 0.6)
    window = shown_range(watched, "window")
    for view in ("Allocations", "Segments", "Flame graph"):
        picture.frame.get_by_role("tab", name=view).click()
        inspector.get_by_text("21.00 MiB activation").wait_for()
        assert shown_range(watched, "window") == window
    picture.frame.get_by_role("tab", name="Allocations").click()
    picture.wait()
    watched.page.keyboard.press("0")
    picture.wait()
    watched.page.keyboard.press("Escape")
    wait_without(watched, "allocation")
    picture.wait()
    assert "#212121" not in picture.pixels()[int(across(made, first + 3) * len(pixels))]


def check_hatched(made: Loop, pixels: list[list[str]], selected: int) -> None:
    """That there are lines on all that is of the same stack, and on nothing else."""
    of = lives(made.recording)
    stacks = made.recording.table("events").column("stack").to_pylist()
    lines: dict[int, int] = {}
    areas: dict[int, int] = {}
    for column, parts in zip(
        pixels, standing(made.recording, len(pixels), len(pixels[0])), strict=True
    ):
        for part in parts:
            assert part.life
            life = part.life.birth
            inside = column[part.begin : part.end]
            lines[life] = lines.get(life, 0) + inside.count("#212121")
            areas[life] = areas.get(life, 0) + len(inside)
    own = of[selected].birth
    siblings = {life for life in lines if life != own and stacks[life] == stacks[own]}
    assert len(siblings) == LAYERS * (2 + STEPS) - 1
    for life, count in lines.items():
        if life in siblings:
            assert count == pytest.approx(areas[life] / 8, rel=0.3, abs=3), life
        elif life != own:
            assert count == 0, life


def test_ways_lead_from_an_allocation_to_its_life(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = open_loop(watched, server, allocation=LAYERS)
    ways = picture.frame.locator(".inspector .ways")
    ways.get_by_role("button", name="its life").click()
    begin, end = shown_range(watched, "window")
    first = made.steps[0][0]
    assert begin <= first <= end
    assert end - begin < 250
    ways.get_by_role("button", name="its birth").click()
    assert word_of(watched, "at") == str(first)
    ways.get_by_role("button", name="just before it", exact=True).click()
    watched.page.wait_for_function(f"() => location.hash.includes('at={first - 1}')")


def test_filters_restrict_the_picture(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = open_loop(watched, server)
    show = picture.frame.get_by_label("Which allocations")
    kept = LAYERS * (WEIGHT + STATE)
    show.select_option("never")
    picture.wait()
    assert picture.highest() == (kept, 2 * LAYERS)
    show.select_option("alive")
    picture.wait()
    assert picture.highest()[0] == made.peak_bytes
    show.select_option("freed")
    picture.wait()
    assert picture.highest()[0] == max(
        now
        - min(made.allocated[e], WEIGHT * LAYERS + (STATE * LAYERS if e >= made.steps[1][0] else 0))
        for e, now in enumerate(made.allocated)
        if e >= made.steps[1][0]
    )
    show.select_option("all")
    least = picture.frame.get_by_label("Least bytes of an allocation")
    least.fill("20 MiB")
    least.press("Enter")
    assert word_of(watched, "minimum") == str(20 * MIB)
    picture.wait()
    colours = {colour for column in picture.pixels() for colour in column}
    assert CATEGORIES["activation"] in colours
    assert CATEGORIES["parameter"] not in colours
    least.fill("1 TiB")
    least.press("Enter")
    note = picture.frame.locator(".timeline-notice")
    note.get_by_text("No allocation here is of those shown").wait_for()
    note.get_by_role("button", name="Show all").click()
    picture.wait()
    assert picture.highest()[0] == made.peak_bytes


def test_hits_stand_out_and_are_counted(
    watched: Watched, server: TensorBoardServer, made: Loop, pictures: Any
) -> None:
    picture = open_loop(watched, server)
    picture.canvas.focus()
    watched.page.keyboard.press("/")
    watched.page.keyboard.type("category:activation size>10MiB")
    hits = picture.frame.get_by_test_id("allocations-hits")
    hits.get_by_text("alive at the cursor").wait_for()
    said = hits.inner_text().replace("\u00a0", " ")
    count = STEPS * LAYERS
    assert said.startswith(f"{count} hits, {count * ACTIVATION / 2**30:.2f} GiB")
    picture.wait()
    colours = {colour for column in picture.pixels() for colour in column}
    assert CATEGORIES["activation"] in colours
    assert CATEGORIES["parameter"] not in colours
    pictures(watched.page)
    box = picture.frame.get_by_label("Find allocations")
    hits_of = {
        "op:aten::mm_backward step:1": (LAYERS, LAYERS * WEIGHT),
        "op:aten::mm_backward step:3": (0, 0),
        "name:layers.7.weight": (1, WEIGHT),
        "name:layers.3": (11, 11 * WEIGHT),  # 3 and 30 to 39
        "module:attention -step:0": (LAYERS, LAYERS * ACTIVATION),
    }
    for query, (count, size) in hits_of.items():
        box.fill(query)
        counted = re.compile(rf"^{count}\shits?" if count else r"^no hits|^0\shits")
        hits.filter(has_text=counted).wait_for()
        if count:
            title = hits.locator("[title*=byte]").first.get_attribute("title") or ""
            assert int(re.sub(r"\D", "", title)) == size
    box.fill('size>"')
    picture.frame.locator(".wrong").wait_for()
    assert picture.frame.locator(".timeline-notice").count() == 0
    box.fill("")
    picture.wait()
    watched.faults[:] = [fault for fault in watched.faults if "400" not in fault]
    colours = {colour for column in picture.pixels() for colour in column}
    assert CATEGORIES["parameter"] in colours
