"""What the picture of allocations paints, in a real browser, pixel by pixel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.conftest import Watched
from tests.browser.grouped import labels
from tests.browser.looking import link, settled_address, wear
from tests.browser.loop import LAYERS, Loop, loop, uneven
from tests.browser.looping import grouping, legend, open_loop
from tests.browser.marked import mark
from tests.browser.reference import CATEGORIES, Stretch, expected, lives, painted, standing
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

MIB = 1 << 20


@pytest.fixture(scope="module")
def uneven_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on the loop with a clock that is not even."""
    folder = tmp_path_factory.mktemp("uneven")
    (folder / "runs" / "loop").mkdir(parents=True)
    save(loop(uneven).recording, folder / "runs" / "loop" / "loop.tbmem", compress=True)
    cache = {"TB_MEMORY_CACHE": str(folder / "cache")}
    with TensorBoardServer(folder / "runs", environment=cache) as running:
        yield running


@pytest.mark.parametrize("axis", ["event", "time"])
@pytest.mark.parametrize("layout", ["stacked", "address", "lane"])
def test_every_pixel_is_what_brute_force_draws(
    watched: Watched, uneven_server: TensorBoardServer, picture: Any, layout: str, axis: str
) -> None:
    made = loop(uneven)
    shown = open_loop(watched, uneven_server, layout=layout, axis=axis)
    for theme in ("light", "dark"):
        wear(watched.page, theme)
        pixels = shown.pixels()
        size = len(pixels), len(pixels[0])
        same(pixels, expected(made.recording, *size, layout, theme, axis))
        assert len(pixels) > 600
        picture(watched.page, theme)


def same(pixels: list[list[str]], truth: list[list[str]]) -> None:
    """That every pixel is what it must be."""
    for x, (column, told) in enumerate(zip(pixels, truth, strict=True)):
        pairs = enumerate(zip(column, told, strict=True)) if column != told else ()
        wrong = [(y, *pair) for y, pair in pairs if len({*pair}) > 1]
        assert column == told, f"column {x}: {wrong}"


def test_every_pixel_has_the_colour_of_its_group(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    shown = open_loop(watched, server, at=made.peak)
    earlier: set[str] = set()
    parts: list[list[Stretch]] = []
    tall = 0
    for by in ("stack", "op", "module", "stream", "pool", "size", "age", "step"):
        grouping(shown.frame).select_option(by)
        named = labels(made, by, made.peak)
        shown.frame.locator(f".timeline-groups button[title='{named[made.peak]}']").wait_for()
        shown.wait()
        colours = legend(shown.frame)
        assert {*named.values()} <= {*colours} and {*colours} != earlier
        assert len({*colours.values()}) == len(colours)
        earlier = {*colours}
        pixels = shown.pixels()
        width, height = len(pixels), len(pixels[0])
        if len(parts) != width or tall != height:
            parts, tall = standing(made.recording, width, height), height
        given = {event: colours[name] for event, name in named.items()}
        same(pixels, painted(parts, height, colours=given))


def test_every_pixel_of_what_is_found_and_selected_is_what_brute_force_draws(
    watched: Watched, server: TensorBoardServer, made: Loop, picture: Any
) -> None:
    of = lives(made.recording)
    stacks = made.recording.table("events").column("stack").to_pylist()
    found = {life.birth for life in of if life.bytes > 10 * MIB}
    selected = of[LAYERS + 2]
    siblings = {life.birth for life in of if stacks[life.birth] == stacks[selected.birth]}
    siblings.remove(selected.birth)
    shown = open_loop(watched, server, allocation=LAYERS + 2)
    shown.frame.locator(".inspector .ways").first.wait_for()
    shown.frame.get_by_label("Find allocations").fill("size>10MiB")
    shown.frame.get_by_test_id("allocations-hits").wait_for()
    for layout in ("stacked", "address", "lane"):
        shown.frame.get_by_role("radio", name=layout).click()
        shown.wait()
        pixels = shown.pixels()
        parts = standing(made.recording, len(pixels), len(pixels[0]), layout)
        truth = painted(parts, len(pixels[0]), found=found)
        hatched = mark(truth, parts, selected.birth, siblings)
        assert hatched > 1_000
        picture(watched.page, f"marked-{layout}")
        same(pixels, truth)


def test_the_picture_lies_on_its_plot(watched: Watched, server: TensorBoardServer) -> None:
    picture = open_loop(watched, server)
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


def test_zooming_in_bytes_moves_nothing(
    watched: Watched, server: TensorBoardServer, made: Loop
) -> None:
    event = made.steps[1][0] + LAYERS + 9
    alive = [life for life in lives(made.recording) if life.birth <= event < life.death]
    tops = list(itertools.accumulate(life.bytes for life in alive))
    middles = [(top - life.bytes / 2, life) for top, life in zip(tops, alive, strict=True)]
    window = f"{event - 5}..{event + 6}"
    told: dict[int, set[str]] = {}
    picture = open_loop(watched, server, window=window)
    for low, high in [(0, 1600 * MIB), (600 * MIB, 1000 * MIB), (900 * MIB, 932 * MIB)]:
        words = {"view": "allocations", "axis": "event", "window": window}
        address = link("loop", "loop.tbmem", **words, bytes=f"{low}..{high}")
        watched.page.evaluate("address => { location.hash = address; }", address)
        picture.wait()
        inside = [(at, life) for at, life in middles if low < at < high]
        # The one that is in the last window too, and a few of the others.
        chosen = [pair for pair in inside if 900 * MIB < pair[0] < 932 * MIB][:1]
        chosen += inside[:: max(1, len(inside) // 4)]
        for at, life in chosen:
            said = picture.hover(5.5 / 11, (at - low) / (high - low))
            assert f"{life.bytes} bytes" in said
            told.setdefault(life.birth, set()).add(f"{low}")
    assert len(told) >= 6
    assert max(map(len, told.values())) == 3  # one was found at every zoom


def test_layouts_agree_on_what_is_alive(
    watched: Watched, server: TensorBoardServer, made: Loop, pictures: Any
) -> None:
    picture = open_loop(watched, server)
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


def test_a_picked_group_stands_out(watched: Watched, server: TensorBoardServer) -> None:
    picture = open_loop(watched, server)
    entry = picture.frame.locator(".timeline-groups button", has_text="Activation")
    entry.click()
    picture.wait()
    colours = {colour for column in picture.pixels() for colour in column}
    assert CATEGORIES["activation"] in colours
    assert CATEGORIES["gradient"] not in colours


def test_it_is_drawn_when_something_changes_only(
    watched: Watched, server: TensorBoardServer
) -> None:
    picture = open_loop(watched, server)
    watched.page.wait_for_timeout(1_000)
    picture.front.evaluate("canvas => { canvas.dataset.took = 'seen'; }")
    watched.page.mouse.move(*picture.point(0.3, 0.3))
    watched.page.wait_for_timeout(1_000)
    assert picture.front.get_attribute("data-took") == "seen"
    watched.page.mouse.wheel(0, -240)
    picture.wait()
    assert picture.front.get_attribute("data-took") != "seen"


def test_other_colours_need_no_other_picture(watched: Watched, server: TensorBoardServer) -> None:
    picture = open_loop(watched, server)
    asked: list[str] = []
    watched.page.on("request", lambda request: asked.append(request.url))
    before = picture.pixels()
    wear(watched.page, "dark")
    assert picture.pixels() != before
    assert not [url for url in asked if "/tile?" in url]
