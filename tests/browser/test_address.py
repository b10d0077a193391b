"""The picture by address in a real browser: what is mapped when, and the holes it tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.laid import parts
from tests.browser.looking import link, open_page, settle
from tests.browser.picturing import Picture
from tests.browser.restated import segments_after
from tests.conftest import SHARED_DATA
from tests.fixtures.histories import Event, history
from tests.plugin.server import TensorBoardServer

MIB = 1 << 20
BACKGROUND, HELD = "#ffffff", "#eceff1"
#: Real snapshots, and a device of each.
REAL = (("oom_expandable_3gpu", "1"), ("small_train", "0"))

#: An expandable segment that grows and shrinks, and another that comes and goes.
BASE, OTHER = 16 << 30, 64 << 30
EVENTS: list[Event] = [
    ("map", BASE, 40 * MIB),
    ("alloc", BASE, 10 * MIB),
    ("alloc", BASE + 20 * MIB, 5 * MIB),
    ("map", BASE + 40 * MIB, 20 * MIB),
    ("segment", OTHER, 20 * MIB),
    ("alloc", OTHER + 10 * MIB, 10 * MIB),
    ("free", OTHER + 10 * MIB, 10 * MIB),
    ("unsegment", OTHER, 20 * MIB),
    ("unmap", BASE + 40 * MIB, 20 * MIB),
    ("snapshot", 0, 0),
]
#: In the bin of each event what is mapped of the picture, and what is allocated of that, in MiB.
#: (The first bin shows the state before: no more was allocated after its event.)
MAPPED = [[], *[[(0, 40)]] * 2] + [[(0, 60)]] + [[(0, 80)]] * 3 + [[(0, 60)]] + [[(0, 40)]] * 2
USED = [
    [],
    [(0, 10)],
    *[[(0, 10), (20, 25)]] * 3,
    [(0, 10), (20, 25), (70, 80)],
    *[[(0, 10), (20, 25)]] * 4,
]
EXTENT = 80


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on a made recording and, where they are, real snapshots."""
    folder = tmp_path_factory.mktemp("address")
    (folder / "made" / "plugins" / "memory").mkdir(parents=True)
    recording = history(
        EVENTS,
        blocks=[
            {"address": BASE, "size": 10 * MIB, "requested": 10 * MIB},
            {"address": BASE + 20 * MIB, "size": 5 * MIB, "requested": 5 * MIB},
        ],
        segments=[{"address": BASE, "size": 40 * MIB, "expandable": True}],
    )
    save(recording, folder / "made" / "plugins" / "memory" / "made.tbmem", compress=True)
    for name, _ in REAL:
        real = SHARED_DATA / "snapshots" / f"{name}.pickle"
        if real.exists():
            (folder / name).mkdir()
            (folder / name / "snapshot.pickle").symlink_to(real)
    cache = tmp_path_factory.mktemp("address-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


def shown(
    watched: Watched, server: TensorBoardServer, run: str, source: str, **words: object
) -> Picture:
    asked = {"view": "allocations", "axis": "event", "layout": "address", **words}
    return Picture(
        watched.page, open_page(watched.page, f"{server.url}{link(run, source, **asked)}")
    )


def told(picture: Picture, across: float, up: float) -> str:
    """What is said of a place once the server has answered."""
    said = picture.hover(across, up)
    for _ in range(50):
        if said.splitlines()[0] != "mapped":
            return said
        settle(picture.page)
        said = picture.told()
    raise AssertionError(f"nothing more was said than\n{said}")


def test_grey_is_what_is_mapped_and_free_at_each_instant(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    made = shown(watched, server, "made", "made.tbmem")
    pixels = made.pixels()
    wide, tall = len(pixels), len(pixels[0])
    for event, (mapped, used) in enumerate(zip(MAPPED, USED, strict=True)):
        column = pixels[int((event + 0.5) / len(EVENTS) * wide)]
        for place in range(EXTENT):
            colour = column[int((place + 0.5) / EXTENT * tall)]
            if any(begin <= place < end for begin, end in used):
                assert colour not in (BACKGROUND, HELD), (event, place)
            elif any(begin <= place < end for begin, end in mapped):
                assert colour == HELD, (event, place)
            else:
                assert colour == BACKGROUND, (event, place)
    pictures(watched.page, "made")


def test_the_hole_is_told_to_the_byte_and_within_its_segment(
    watched: Watched, server: TensorBoardServer
) -> None:
    made = shown(watched, server, "made", "made.tbmem")
    at = lambda event: (event + 0.5) / len(EVENTS)  # noqa: E731
    said = told(made, at(2), 30 / EXTENT)
    assert said.startswith("mapped, but not allocated")
    assert f"a hole of 15.00 MiB ({15 * MIB} bytes)" in said
    assert "in a segment of 40.00 MiB from 0x400000000" in said
    said = told(made, at(4), 30 / EXTENT)
    assert f"a hole of 35.00 MiB ({35 * MIB} bytes)" in said
    assert "in a segment of 60.00 MiB" in said
    # The other segment's hole touches it in the picture, and is another one.
    said = told(made, at(5), 65 / EXTENT)
    assert f"a hole of 10.00 MiB ({10 * MIB} bytes)" in said
    assert f"in a segment of 20.00 MiB from {OTHER:#x}" in said
    assert told(made, at(2), 50 / EXTENT).startswith("not mapped")
    assert told(made, at(8), 65 / EXTENT).startswith("not mapped")


def test_what_a_filter_leaves_out_is_no_hole(watched: Watched, server: TensorBoardServer) -> None:
    made = shown(watched, server, "made", "made.tbmem", minimum=7 * MIB)
    said = told(made, 2.5 / len(EVENTS), 22 / EXTENT)
    assert said.startswith("allocated, but not drawn")
    assert f"a block of 5.00 MiB ({5 * MIB} bytes)" in said


@pytest.mark.parametrize(("name", "device"), REAL)
def test_real_holes_are_those_of_the_segments(
    watched: Watched,
    server: TensorBoardServer,
    shared_data: Path,
    pictures: Any,
    name: str,
    device: str,
) -> None:
    file = File(shared_data / "snapshots" / f"{name}.pickle", int(device))
    holes = cache(lambda event: holes_after(file, event))
    real = shown(watched, server, name, "snapshot.pickle", device=device)
    pictures(watched.page, name)
    seen = set()
    for across in (0.02, 0.5, 0.99):
        seen |= check(real, holes, across, [up / 12 + 0.04 for up in range(12)])
    assert "not mapped" in seen
    # Close by: where something is alive.
    for _ in range(6):
        watched.page.mouse.move(*real.point(0.5, 0.02))
        watched.page.keyboard.down("Control")
        watched.page.mouse.wheel(0, -400)
        watched.page.keyboard.up("Control")
    real.wait()
    pictures(watched.page, f"{name}-near")
    for across in (0.3, 0.8):
        seen |= check(real, holes, across, [up / 12 + 0.03 for up in range(12)])
    assert "mapped, but not allocated" in seen


#: Address and size of a hole, and the address of its segment.
Hole = tuple[int, int, int]


def holes_after(file: File, event: int) -> set[Hole]:
    """What is mapped after an event of a snapshot and free, as its file has it."""
    return {
        (segment["address"] + hole.begin, hole.end - hole.begin, segment["address"])
        for segment in segments_after(file, event)
        for hole in parts(segment, "free")
    }


def check(
    picture: Picture, holes: Callable[[int], set[Hole]], across: float, heights: list[float]
) -> set[str]:
    """That every hole told at these places is one of those after that event; what was said."""
    seen = set()
    for up in heights:
        said = told(picture, across, up)
        seen.add(said.splitlines()[0])
        assert "about" not in said or "about 0x" in said
        found = re.search(r"a hole of .*\((\d+) bytes?\)", said)
        if not found:
            continue
        event = int(re.search(r"event (\d+)", said)[1])  # type: ignore[index]
        address = re.search(r"from (0x[0-9a-f]+), in a segment of .* from (0x[0-9a-f]+)", said)
        assert address, said
        assert (int(address[1], 16), int(found[1]), int(address[2], 16)) in holes(event)
    return seen
