"""The picture of allocations where there are too many to be drawn, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle
from tests.browser.looping import shown_range, wait_without
from tests.browser.picturing import Picture
from tests.fixtures.histories import Event, history
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.framed


MIB = 1 << 20


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
        low, high = shown_range(watched, "bytes")
        assert low <= 64 * MIB + 1_000 * 1024 <= high
        assert high - low < top / 4
        picture.wait()
        picture.frame.get_by_role("button", name="fit", exact=True).click()
        wait_without(watched, "bytes")
        zoom = f"{64 * MIB + 1_990 * 1024}..{int(top / 1.06)}"
        asked = link("many", "many.tbmem", view="allocations", axis="event", bytes=zoom)
        picture = Picture(watched.page, open_page(watched.page, f"{server.url}{asked}"))
        told = picture.hover(0.9, 0.8)
        assert re.match(r"\d short allocations", told), told
        picture.click(0.9, 0.8)
        begin, end = shown_range(watched, "window")
        assert end - begin < 100
        picture.wait()
        settle(watched.page)  # tiles beside it, asked for ahead
        watched.page.goto("about:blank")  # before the server it polls is gone
