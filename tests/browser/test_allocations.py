"""The picture of allocations in a real browser: what it paints, what it says, how it is handled."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.charting import ABOVE, LEFT, RIGHT, Chart
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settled_address, words_of
from tests.browser.loop import ACTIVATION, LAYERS, SPIKE, STATE, STEPS, WEIGHT, Loop, loop
from tests.browser.picturing import Picture
from tests.browser.reference import CATEGORIES, expected, lives
from tests.fixtures.histories import Event, history
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"loop": "loop.tbmem", "bare": "segments.pickle"}
MIB = 1 << 20


@pytest.fixture(scope="module")
def made() -> Loop:
    return loop()


def _open(
    watched: Watched, server: TensorBoardServer, run: str = "loop", **words: object
) -> Picture:
    asked = {"view": "allocations", "axis": "event", **words}
    name = FILES.get(run, "snapshot.pickle")
    return Picture(watched.page, open_page(watched.page, f"{server.url}{link(run, name, **asked)}"))


def _words(watched: Watched, word: str) -> str:
    """A word of the address, once that has settled with it."""
    settled = words_of(settled_address(watched.page, f"p.memory.{word}="))
    return settled[word].replace("%3A", ":")


def _range(watched: Watched, word: str) -> tuple[int, int]:
    watched.page.wait_for_timeout(400)  # the address settles
    begin, end = _words(watched, word).split("..")
    return int(begin), int(end)


def _without(watched: Watched, word: str) -> None:
    watched.page.wait_for_function("w => !location.hash.includes(w)", arg=f"p.memory.{word}=")


def _at(made: Loop, event: float) -> float:
    """The share of the width that the middle of an event is at."""
    return (event + 0.5) / len(made.allocated)


def _up(made: Loop, bytes_: float) -> float:
    """The share of the height that so many bytes are at."""
    return bytes_ / (made.peak_bytes * 1.06)


@pytest.mark.parametrize("layout", ["stacked", "address", "lane"])
def test_every_pixel_is_what_brute_force_draws(
    watched: Watched, server: TensorBoardServer, made: Loop, picture: Any, layout: str
) -> None:
    shown = _open(watched, server, layout=layout)
    for theme in ("light", "dark"):
        dark = "dark => document.body.classList.toggle('dark-mode', dark)"
        watched.page.evaluate(dark, theme == "dark")
        shown.wait()
        pixels = shown.pixels()
        truth = expected(made.recording, len(pixels), len(pixels[0]), layout, theme)
        for x, (column, told) in enumerate(zip(pixels, truth, strict=True)):
            pairs = enumerate(zip(column, told, strict=True))
            wrong = [(y, *pair) for y, pair in pairs if len({*pair}) > 1]
            assert wrong == [], f"column {x}"
        assert len(pixels) > 600
        picture(watched.page, theme)


def test_the_picture_lies_on_its_plot(watched: Watched, server: TensorBoardServer) -> None:
    picture = _open(watched, server)
    layers = [picture.frame.get_by_test_id(f"allocations-{name}") for name in ("base", "front")]

    def check() -> None:
        plot = picture.box()
        for layer in layers:
            found = layer.bounding_box()
            assert found is not None
            for side, size in plot.items():
                assert found[side] == pytest.approx(size, abs=2), (side, found, plot)

    check()
    watched.page.mouse.move(*picture.point(0.5, 0.5))
    watched.page.mouse.wheel(0, -240)
    picture.wait()
    picture.frame.get_by_role("button", name="fit", exact=True).click()
    picture.wait()
    check()
    picture.frame.get_by_role("radio", name="lane").click()
    picture.wait()
    check()


def test_hovering_tells_without_a_click(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = _open(watched, server)
    event = made.steps[1][0] + LAYERS - 1
    told = picture.hover(_at(made, event), _up(made, LAYERS * (WEIGHT + STATE) + ACTIVATION * 1.5))
    assert told.startswith("21.00 MiB of Activation")
    assert f"{ACTIVATION} bytes" in told
    shown = int(re.search(r"event (\d+)", told)[1])  # type: ignore[index]
    alive = [life for life in lives(made.recording) if life.birth <= shown < life.death]
    assert f"in {len(alive)} allocations at this instant" in told
    watched.page.wait_for_timeout(600)  # what it was, once the pointer rests
    assert "aten::mm" in picture.told()
    assert "step 1" in picture.told()
    assert picture.hover(0.5, 0.98).startswith("nothing is alive here")
    spike = picture.hover(_at(made, made.peak), _up(made, made.peak_bytes - SPIKE / 2))
    assert spike.startswith("700.0 MiB of Temporary")


def test_a_click_selects_in_all_views(
    watched: Watched, server: TensorBoardServer, made: Loop, pictures: Any
) -> None:
    picture = _open(watched, server)
    event = made.steps[0][0] + LAYERS - 1
    picture.click(_at(made, event), _up(made, LAYERS * WEIGHT + ACTIVATION * 0.5))
    inspector = picture.frame.locator(".inspector")
    inspector.get_by_text("21.00 MiB activation").wait_for()
    assert int(_words(watched, "allocation")) == LAYERS
    assert int(_words(watched, "at")) == pytest.approx(event, abs=1)
    picture.wait()
    # Its life is outlined over all its columns, its siblings are hatched.
    first, last = made.steps[0][0], made.steps[0][0] + LAYERS
    pixels = picture.pixels()
    for share in (_at(made, first + 3), _at(made, last + 10)):
        column = pixels[int(share * len(pixels))]
        assert column.count("#212121") > 4
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
    lit = [overlay.evaluate(alpha, [_at(made, event), *place]) > 0 for event in events]
    assert lit == [True, True, False]
    pictures(watched.page)
    # What is brushed there is what the others show.
    chart.drag(0.3, 0.6)
    window = _range(watched, "window")
    for view in ("Allocations", "Segments", "Flame graph"):
        picture.frame.get_by_role("tab", name=view).click()
        inspector.get_by_text("21.00 MiB activation").wait_for()
        assert _range(watched, "window") == window
    picture.frame.get_by_role("tab", name="Allocations").click()
    picture.wait()
    watched.page.keyboard.press("0")
    picture.wait()
    watched.page.keyboard.press("Escape")
    _without(watched, "allocation")
    picture.wait()
    assert "#212121" not in picture.pixels()[int(_at(made, first + 3) * len(pixels))]


def test_ways_lead_from_an_allocation_to_its_life(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = _open(watched, server, allocation=LAYERS)
    ways = picture.frame.locator(".inspector .ways")
    ways.get_by_role("button", name="its life").click()
    begin, end = _range(watched, "window")
    first = made.steps[0][0]
    assert begin <= first <= end
    assert end - begin < 250
    ways.get_by_role("button", name="its birth").click()
    assert _words(watched, "at") == str(first)
    ways.get_by_role("button", name="just before it", exact=True).click()
    watched.page.wait_for_function(f"() => location.hash.includes('at={first - 1}')")


def test_wheel_and_keys_zoom_both_ways(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = _open(watched, server)
    watched.page.mouse.move(*picture.point(0.5, 0.25))
    watched.page.mouse.wheel(0, -240)
    begin, end = _range(watched, "window")
    events = len(made.allocated)
    assert end - begin == pytest.approx(events / 2, abs=3)
    assert (begin + end) / 2 == pytest.approx(events / 2, abs=3)
    watched.page.keyboard.down("Control")
    watched.page.mouse.wheel(0, -240)
    watched.page.keyboard.up("Control")
    low, high = _range(watched, "bytes")
    top = made.peak_bytes * 1.06
    assert high - low == pytest.approx(top / 2, rel=0.01)
    assert low + (high - low) / 4 == pytest.approx(top / 4, rel=0.01)
    picture.canvas.focus()
    watched.page.keyboard.press("0")
    _without(watched, "window")
    _without(watched, "bytes")
    box = picture.box()
    watched.page.mouse.move(box["x"] - 30, box["y"] + box["height"] / 2)
    watched.page.mouse.wheel(0, -240)  # over the axis of bytes
    low, high = _range(watched, "bytes")
    assert high - low == pytest.approx(top / 2, rel=0.01)
    watched.page.keyboard.press("ArrowUp")
    assert _range(watched, "bytes")[0] > low
    watched.page.keyboard.press("-")
    watched.page.keyboard.press("-")
    _without(watched, "bytes")
    watched.page.mouse.move(*picture.point(0.5, 0.5))
    for key, grows in (("w", False), ("s", True)):
        before = _window(watched, events)
        after = _pressed(watched, key, events)
        assert (after[1] - after[0] > before[1] - before[0]) is grows
    middle = _pressed(watched, "w", events)
    assert _pressed(watched, "a", events)[0] < middle[0]
    assert _pressed(watched, "d", events) == middle


def _pressed(watched: Watched, key: str, events: int) -> tuple[int, int]:
    """The window after a key that changes it."""
    before = watched.page.url
    watched.page.keyboard.press(key)
    watched.page.wait_for_function("url => location.href !== url", arg=before)
    return _window(watched, events)


def _window(watched: Watched, events: int) -> tuple[int, int]:
    watched.page.wait_for_timeout(400)
    found = words_of(watched.page.url).get("window")
    if found is None:
        return 0, events
    begin, end = found.split("..")
    return int(begin), int(end)


def test_brushes_zoom_to_what_they_were_drawn_over(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = _open(watched, server)
    events, top = len(made.allocated), made.peak_bytes * 1.06
    picture.drag((0.25, 0.2), (0.5, 0.6))
    assert _range(watched, "window") == pytest.approx((events * 0.25, events * 0.5), abs=3)
    assert _range(watched, "bytes") == pytest.approx((top * 0.2, top * 0.6), rel=0.02)
    picture.wait()
    picture.frame.get_by_role("button", name="fit", exact=True).click()
    _without(watched, "window")
    _without(watched, "bytes")
    picture.drag((0.25, 0.5), (0.5, 0.505))
    assert _range(watched, "window") == pytest.approx((events * 0.25, events * 0.5), abs=3)
    assert "bytes" not in words_of(watched.page.url)
    box = picture.box()
    watched.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 4)
    _without(watched, "window")
    picture.drag((0.5, 0.2), (0.502, 0.6))
    assert _range(watched, "bytes") == pytest.approx((top * 0.2, top * 0.6), rel=0.02)
    assert "window" not in words_of(watched.page.url)


def test_a_drag_with_shift_pans(watched: Watched, server: TensorBoardServer, made: Loop) -> None:
    picture = _open(watched, server, window="200..400", bytes=f"0..{500 * MIB}")
    watched.page.keyboard.down("Shift")
    picture.drag((0.5, 0.5), (0.25, 0.3))
    watched.page.keyboard.up("Shift")
    assert _range(watched, "window") == pytest.approx((250, 450), abs=2)
    assert _range(watched, "bytes") == pytest.approx((100 * MIB, 600 * MIB), rel=0.03)


def test_zooming_in_bytes_moves_nothing(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    event = made.steps[1][0] + LAYERS + 9
    alive = [life for life in lives(made.recording) if life.birth <= event < life.death]
    places = []
    top = 0
    for life in alive:
        places.append((top + life.bytes / 2, life))
        top += life.bytes
    window = f"{event - 5}..{event + 6}"
    for low, high in [(0, 1600 * MIB), (600 * MIB, 1000 * MIB), (900 * MIB, 932 * MIB)]:
        picture = _open(watched, server, window=window, bytes=f"{low}..{high}")
        for place, life in places:
            if not low < place < high:
                continue
            told = picture.hover(5.5 / 11, (place - low) / (high - low))
            if "smaller" not in told:
                assert f"{life.bytes} bytes" in told


def test_a_ruler_measures_time_and_bytes(
    watched: Watched, server: TensorBoardServer, made: Loop, picture: Any
) -> None:
    shown = _open(watched, server)
    before = shown.frame.get_by_test_id("allocations-overlay").evaluate("c => c.toDataURL()")
    shown.frame.get_by_role("button", name="measure").click()
    shown.drag((0.2, 0.3), (0.6, 0.8))
    watched.page.mouse.move(2, 2)
    spoken = shown.frame.get_by_test_id("allocations-ruler").inner_text().replace("\u202f", "")
    assert spoken.startswith(f"Δ {round(0.4 * len(made.allocated))} events")
    found = re.search(r"\+([\d.]+)\sGiB", spoken)
    assert found
    assert float(found[1]) == pytest.approx(0.5 * made.peak_bytes * 1.06 / 2**30, abs=0.02)
    assert (
        shown.frame.get_by_test_id("allocations-overlay").evaluate("c => c.toDataURL()") != before
    )
    assert "window" not in words_of(watched.page.url)
    picture(watched.page, "light")
    shown.canvas.focus()
    watched.page.keyboard.press("Escape")
    assert shown.frame.get_by_test_id("allocations-ruler").inner_text() == ""


def test_layouts_agree_on_what_is_alive(
    watched: Watched, server: TensorBoardServer, made: Loop, pictures: Any
) -> None:
    picture = _open(watched, server)
    alive = picture.highest()
    assert alive[0] == made.peak_bytes
    for layout in ("address", "lane"):
        picture.frame.get_by_role("radio", name=layout).click()
        settled_address(watched.page, f"p.memory.layout={layout}")
        picture.wait()
        assert picture.highest() == alive
        colours = {colour for column in picture.pixels() for colour in column}
        assert {CATEGORIES["parameter"], CATEGORIES["activation"]} <= colours
        pictures(watched.page)


def test_filters_restrict_the_picture(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = _open(watched, server)
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
    assert _words(watched, "minimum") == str(20 * MIB)
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
    picture = _open(watched, server)
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
    box.fill('size>"')
    picture.frame.locator(".wrong").wait_for()
    assert picture.frame.locator(".timeline-notice").count() == 0
    box.fill("")
    picture.wait()
    watched.faults[:] = [fault for fault in watched.faults if "400" not in fault]
    colours = {colour for column in picture.pixels() for colour in column}
    assert CATEGORIES["parameter"] in colours


def test_a_picked_group_stands_out(watched: Watched, server: TensorBoardServer) -> None:
    picture = _open(watched, server)
    entry = picture.frame.locator(".timeline-groups button", has_text="Activation")
    entry.click()
    picture.wait()
    colours = {colour for column in picture.pixels() for colour in column}
    assert CATEGORIES["activation"] in colours
    assert CATEGORIES["gradient"] not in colours


def test_it_is_drawn_when_something_changes_only(
    watched: Watched, server: TensorBoardServer
) -> None:
    picture = _open(watched, server)
    watched.page.wait_for_timeout(1_000)
    picture.front.evaluate("canvas => { canvas.dataset.took = 'seen'; }")
    watched.page.mouse.move(*picture.point(0.3, 0.3))
    watched.page.wait_for_timeout(1_000)
    assert picture.front.get_attribute("data-took") == "seen"
    watched.page.mouse.wheel(0, -240)
    picture.wait()
    assert picture.front.get_attribute("data-took") != "seen"


def test_other_colours_need_no_other_picture(watched: Watched, server: TensorBoardServer) -> None:
    picture = _open(watched, server)
    asked: list[str] = []
    watched.page.on("request", lambda request: asked.append(request.url))
    before = picture.pixels()
    watched.page.evaluate("document.body.classList.add('dark-mode')")
    picture.wait()
    assert picture.pixels() != before
    assert not [url for url in asked if "/tile?" in url]


def test_steps_and_map_are_aligned_with_it(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = _open(watched, server)
    first, last = made.steps[1]
    middle = _at(made, (first + last) / 2)
    track = picture.frame.get_by_test_id("timeline-steps")
    box = track.bounding_box()
    assert box
    watched.page.mouse.click(picture.point(middle, 0)[0], box["y"] + box["height"] / 2)
    assert _range(watched, "window") == pytest.approx((first, last), abs=4)
    picture.wait()
    assert picture.highest()[0] == made.peak_bytes


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
    picture = _open(watched, server, **words)
    watched.page.wait_for_timeout(600)
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
    assert "500" in notice.inner_text()
    picture(watched.page, "light")
    watched.page.unroute("**/tile?**")
    notice.get_by_role("button", name="Try again").click()
    shown = Picture(watched.page, frame)
    assert shown.highest()[1] > 0
    watched.faults.clear()


def test_a_recording_without_a_history_is_one_column(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    picture = _open(watched, server, run="bare")
    told = picture.hover(0.5, 0.2)
    assert "bytes" in told or "smaller" in told
    assert picture.map.count() == 0
    pictures(watched.page)


def test_it_fits_narrow_pages(watched: Watched, server: TensorBoardServer, pictures: Any) -> None:
    watched.page.set_viewport_size({"width": 800, "height": 900})
    picture = _open(watched, server)
    box = picture.box()
    assert 500 < box["width"] < 800
    assert box["height"] > 200
    pictures(watched.page)


def test_without_a_mouse_all_is_within_reach(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    picture = _open(watched, server)
    picture.canvas.focus()
    watched.page.keyboard.press("ArrowLeft")
    at = int(_words(watched, "at"))
    assert at < made.peak
    picture.frame.get_by_role("button", name="table").press("Enter")
    picture.frame.locator("table.groups tr[data-row]").first.wait_for()
    assert _words(watched, "at") == str(at)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of 1 000 steps whose activations live for an event or two each."""
    events: list[Event] = [("alloc", 1 << 30, 8 * MIB)]
    for step in range(1_000):
        address = (2 << 30) + step * 1024
        for size in (3 * MIB, 5 * MIB):
            events += [("alloc", address, size), ("free", address, size)]
    folder: Path = tmp_path_factory.mktemp("long")
    target = folder / "long" / "long.tbmem"
    target.parent.mkdir()
    save(history(events), target, compress=True)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("long-cache"))}
    with TensorBoardServer(folder, environment=cache) as server:
        yield server


def test_a_long_run_of_short_lives_is_no_empty_picture(
    watched: Watched, long: TensorBoardServer
) -> None:
    address = f"{long.url}{link('long', 'long.tbmem', view='allocations', axis='event')}"
    picture = Picture(watched.page, open_page(watched.page, address))
    pixels = picture.pixels()
    height = len(pixels[0])
    # 8 MiB that stay and 5 that do not, in every column.
    for column in pixels[2:]:
        filled = sum(colour != "#ffffff" for colour in column)
        assert filled == pytest.approx(height / 1.06, abs=2)
    told = picture.hover(0.5, 0.8)
    assert told.startswith("5.00 MiB")
    picture.click(0.5, 0.8)


def test_merged_cells_and_gaps_are_zoomed_to(
    watched: Watched, long: TensorBoardServer, tmp_path: Path
) -> None:
    many: list[Event] = [("alloc", 1 << 30, 64 * MIB)]
    many += [("alloc", (2 << 30) + 1024 * at, 1024) for at in range(2_000)]
    for step in range(500):
        address = (8 << 30) + (step << 20)
        many += [("alloc", address + 4096 * at, 4096) for at in range(3)]
        many += [("free", address + 4096 * at, 4096) for at in range(3)]
    target = tmp_path / "logdir" / "many" / "many.tbmem"
    target.parent.mkdir(parents=True)
    save(history(many), target, compress=True)
    with TensorBoardServer(
        tmp_path / "logdir", environment={"TB_MEMORY_CACHE": str(tmp_path / "cache")}
    ) as server:
        asked = link("many", "many.tbmem", view="allocations", axis="event")
        picture = Picture(watched.page, open_page(watched.page, f"{server.url}{asked}"))
        top = (64 * MIB + 2_000 * 1024 + 3 * 4096) * 1.06
        up = (64 * MIB + 1_000 * 1024) / top
        told = picture.hover(0.9, up)
        assert re.match(r"\d+ smaller allocations", told), told
        picture.click(0.9, up)
        low, high = _range(watched, "bytes")
        assert low <= 64 * MIB + 1_000 * 1024 <= high
        assert high - low < top / 4
        picture.wait()
        picture.frame.get_by_role("button", name="fit", exact=True).click()
        _without(watched, "bytes")
        zoom = f"{64 * MIB + 1_990 * 1024}..{int(top / 1.06)}"
        asked = link("many", "many.tbmem", view="allocations", axis="event", bytes=zoom)
        picture = Picture(watched.page, open_page(watched.page, f"{server.url}{asked}"))
        told = picture.hover(0.9, 0.8)
        assert re.match(r"\d short allocations", told), told
        picture.click(0.9, 0.8)
        begin, end = _range(watched, "window")
        assert end - begin < 100
        picture.wait()
        watched.page.wait_for_load_state("networkidle")  # tiles beside it, asked for ahead


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
