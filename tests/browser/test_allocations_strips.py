"""What is too small to be drawn by itself, in a real browser, pixel by pixel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import Recording, save
from tests.browser.charting import HEADROOM
from tests.browser.conftest import Watched
from tests.browser.filed import File, Filed
from tests.browser.looking import link, wear
from tests.browser.looping import open_loop, whole_legend
from tests.browser.named import in_figures
from tests.browser.picturing import Picture
from tests.browser.real import show
from tests.browser.recorded import recorded
from tests.browser.reference import BACKGROUND, CATEGORIES, lives, mixed, shown_events
from tests.browser.strips import PALE, Part, compare, least_drawn, piled
from tests.fixtures.histories import Event, history
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

KIB, MIB = 1 << 10, 1 << 20
#: Events in view of a real snapshot, each a column of its own.
EVENTS = 17


def crowd() -> Recording:
    """Hundreds of small allocations between a few large ones; some of both are freed."""
    events: list[Event] = []
    labels: list[dict[str, Any]] = []
    living: dict[int, int] = {}

    def alloc(size: int, category: str) -> int:
        address = (1 << 40) + len(events) * 64 * MIB
        labels.append({"event": len(events), "address": address, "category": category})
        events.append(("alloc", address, size))
        living[address] = size
        return address

    def free(address: int) -> None:
        events.append(("free", address, living.pop(address)))

    alloc(30 * MIB + 1, "parameter")
    small = [alloc((16 + 7919 * n % 24) * KIB + n % 3, "gradient") for n in range(200)]
    large = alloc(20 * MIB + 3, "activation")
    for n in range(200):
        alloc((16 + 104729 * n % 24) * KIB + n % 5, "activation")
    for n in range(30):
        alloc((700 + 37 * n) * KIB, "temporary")
    alloc(10 * MIB, "parameter")
    free(large)
    for address in small[::2]:
        free(address)
    events.append(("snapshot", 0, 0))
    return history(events, labels=labels)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on it."""
    folder = tmp_path_factory.mktemp("crowd")
    (folder / "runs" / "loop").mkdir(parents=True)
    save(crowd(), folder / "runs" / "loop" / "loop.tbmem", compress=True)
    cache = {"TB_MEMORY_CACHE": str(folder / "cache")}
    with TensorBoardServer(folder / "runs", environment=cache) as running:
        yield running


def test_what_is_too_small_is_a_paler_strip_in_its_place(
    watched: Watched, crowded: TensorBoardServer, picture: Any
) -> None:
    of = lives(crowd())
    total = [sum(life.bytes for life in of if at in life) for at in range(of[0].death)]
    top = max(total) * HEADROOM
    shown = open_loop(watched, crowded)

    @cache
    def pile(event: int, least: int) -> list[Part]:
        return piled([(e.bytes, CATEGORIES[e.category]) for e in of if event in e], [], least)

    for theme in ("light", "dark"):
        wear(watched.page, theme)
        pixels = shown.pixels()
        pixel = top / len(pixels[0])
        least = least_drawn(top, len(pixels[0]))
        assert max(life.bytes for life in of if life.bytes < 100 * KIB) < least
        columns = [pile(event, least) for event in shown_events(total, len(pixels))]
        found = compare(pixels, columns, pixel, theme)
        for category in ("gradient", "activation"):
            assert found[mixed(CATEGORIES[category], BACKGROUND[theme], PALE)] > 2_000
        picture(watched.page, theme)


@pytest.mark.parametrize(
    ("name", "by"), [("small_train", "size"), ("oom_expandable_3gpu", "stream")]
)
def test_every_pixel_of_a_real_window_is_what_its_file_says(
    watched: Watched,
    real_server: TensorBoardServer,
    shared_data: Path,
    picture: Any,
    name: str,
    by: str,
) -> None:
    file = File(shared_data / "snapshots" / f"{name}.pickle")
    at_peak = file.alive(file.peak)
    first = file.peak - EVENTS // 2
    words = {"window": f"{first}..{first + EVENTS}", "by": by}
    shown = show(watched, real_server, recorded(shared_data, name), **words)
    offered = whole_legend(shown)
    most = sum(life.bytes for life in at_peak)
    found = check(shown, file, lambda _: True, most, offered, by)
    pale = {mixed(colour, BACKGROUND["light"], PALE) for colour in offered.values()}
    if by == "stream":
        assert sum(found[colour] for colour in pale) > 1_000
    else:
        assert len({*found} & {*offered.values()}) > 3
    picture(watched.page, "real")
    # With some of them left out in every way there is.
    largest = max(life.bytes for life in at_peak)
    left = lambda life: life.death < math.inf and KIB <= life.bytes < largest  # noqa: E731
    most = max(
        sum(life.bytes for life in file.alive(event) if left(life))
        for event in range(first, first + EVENTS)
    )
    asked = {"view": "allocations", "axis": "event", "device": "0", **words}
    asked |= {"only": "freed", "minimum": str(KIB), "filter": f"size<{largest}"}
    asked["bytes"] = f"0..{int(most * HEADROOM)}"
    address = link(name, "snapshot.pickle", **asked)
    watched.page.evaluate("address => { location.hash = address; }", address)
    shown.wait()
    found = check(shown, file, left, most, offered, by)
    assert sum(found.values()) > 2 * found[BACKGROUND["light"]]
    picture(watched.page, "filtered")


def check(
    shown: Picture,
    file: File,
    chosen: Callable[[Filed], bool],
    most: int,
    offered: dict[str, str],
    by: str,
) -> Counter[str]:
    """That every pixel is what those ``chosen`` make it; how many there are of each colour.

    They are at most ``most`` bytes; ``offered`` are the colours of the groups ``by`` something.
    """
    colours = colours_of(file, offered, by)
    pixels = shown.pixels()
    wide, tall = len(pixels), len(pixels[0])
    top = most * HEADROOM
    least = least_drawn(top, tall)
    first = file.peak - EVENTS // 2

    @cache
    def pile(event: int) -> list[Part]:
        alive = sorted(file.alive(event), key=lambda life: (life.birth, life.address))
        # What is alive after one event only is added up by group on top of the others.
        sums = dict.fromkeys(offered.values(), 0)
        longer = []
        for life in filter(chosen, alive):
            if life.death - life.birth == 1:
                sums[colours[life.bytes]] += life.bytes
            else:
                longer.append((life.bytes, colours[life.bytes]))
        merged = [(size, colour) for colour, size in sums.items() if size]
        return piled(longer, merged, least)

    columns = [pile(first + math.ceil((x + 1) * EVENTS / wide) - 1) for x in range(wide)]
    return compare(pixels, columns, top / tall)


def colours_of(file: File, shown: dict[str, str], by: str) -> dict[int, str]:
    """The colour of allocations by size, where there is one stream or no name is twice."""
    sizes = {life.bytes for life in file.lives}
    if by == "stream":
        assert len({life.stream for life in file.lives}) == len(shown) == 1
        return dict.fromkeys(sizes, next(iter(shown.values())))
    assert len({in_figures(size) for size in sizes}) == len(sizes)
    (rest,) = (colour for name, colour in shown.items() if name.endswith(" smaller groups"))
    return {size: shown.get(in_figures(size), rest) for size in sizes}
