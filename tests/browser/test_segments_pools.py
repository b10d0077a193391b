"""What every pool and stream holds, as it is told and painted, against a replay of a snapshot."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.browser.charting import ABOVE, LEFT
from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.looking import settle
from tests.browser.mapping import BACKGROUNDS, POOLS, RIGHT, event_of, in_words, show
from tests.browser.replaying import Range, by_place, total_of
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

#: Where, from which event to which, and how many pools and streams; with fewer events than the plot
#: has pixels each has a bin of its own. Most of ten streams give their segments back, and nothing
#: names the pool of those; of private pools that give theirs back events do.
CASES = [("no_time_us_segments", 1_000, 1_500, 9), ("pools", 1_990, 2_450, 2)]

#: First row and last of what a pool's picture is drawn in.
TOP, BASE = 6, 47

_BLOCKS = re.compile(r"in (\d+)\s?blocks?")

#: Of each column of a pool's picture the first row that has the ink of the line and the first in
#: the colour of the area, -1 for none.
_ROWS = """(canvas, colour) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const own = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const isInk = (pixel) => Math.max(...pixel) < 80;
  const isOwn = (pixel) => pixel.every((part, at) => part === own[at]);
  return [isInk, isOwn].map((is) => Array.from({ length: width }, (_, x) => {
    for (let y = 0; y < height; y++) {
      const at = 4 * (y * width + x);
      if (data[at + 3] > 128 && is([...data.slice(at, at + 3)])) return y;
    }
    return -1;
  }));
}"""


@pytest.fixture(scope="module")
def server(segments_server: TensorBoardServer) -> TensorBoardServer:
    """One on real snapshots and a made one with private pools."""
    return segments_server


def opened(name: str, shared_data: Path, folder: Path) -> File:
    """A snapshot that is served."""
    if name != "pools":
        return File(shared_data / "snapshots" / f"{name}.pickle")
    made = snapshot(**POOLS, event_pools=True)
    return File(write_pickle(made, folder / "snapshot.pickle"))


@pytest.mark.parametrize(("name", "begin", "end", "places"), CASES)
def test_pools_and_streams_hold_what_a_replay_finds(
    watched: Watched,
    server: TensorBoardServer,
    shared_data: Path,
    tmp_path: Path,
    pictures: Any,
    name: str,
    begin: int,
    end: int,
    places: int,
) -> None:
    file = opened(name, shared_data, tmp_path)
    replay = file.replay
    states = by_place(replay, replay.states(begin, end))
    allocated = by_event(file, states, begin, end)
    frame = show(watched, server, name, axis="event", window=f"{begin}..{end}", at=begin + 40)
    pools = frame.locator(".segments-pool")
    pools.first.wait_for()
    names = pools.evaluate_all("all => all.map((each) => each.dataset.pool)")
    assert len(set().union(*states)) == places
    assert set().union(*states) <= set(names)
    chart = frame.get_by_test_id("timeline-canvas")
    for share in (0.1, 0.35, 0.6, 0.9):
        box = chart.bounding_box()
        assert box
        x = box["x"] + LEFT + share * (box["width"] - LEFT - RIGHT)
        watched.page.mouse.click(x, box["y"] + ABOVE + 40)
        settle(watched.page)
        event = event_of(frame)
        assert abs(event - begin - share * (end - begin)) < 2
        captions = dict(zip(names, pools.locator("figcaption").all_inner_texts(), strict=True))
        held = states[event - begin]
        for place, text in captions.items():
            own = held.get(place, [])
            assert said(text) == (in_words(total_of(own)), len(own)), place
        blocks = sum(int(each[1]) for each in map(_BLOCKS.search, captions.values()) if each)
        done = [entry["action"] for entry in replay.trace[event + 1 :]]
        live = sum(b["state"] != "inactive" for each in replay.segments for b in each["blocks"])
        assert blocks == live - done.count("alloc") + done.count("free_completed")
    for place in sorted(set().union(*states)):
        canvas = frame.locator(f".segments-pool[data-pool='{place}'] canvas")
        reserved = [total_of(held.get(place, [])) for held in states]
        wide = canvas.evaluate("canvas => canvas.clientWidth") - LEFT - RIGHT
        swatch = frame.locator(f".segments-pool[data-pool='{place}'] i")
        (colour,) = swatch.evaluate_all(BACKGROUNDS)
        line, area = (rows[LEFT : LEFT + wide] for rows in canvas.evaluate(_ROWS, colour))
        compare(line, reserved, max(reserved), event - begin, place)
        # The line lies on the upper edge of an area that fills all that is reserved.
        compare(area, allocated[place], max(reserved), event - begin, place, 2)
    assert sum(len({*sizes}) > 3 for sizes in allocated.values()) >= min(places, 3)
    pictures(watched.page)


def by_event(
    file: File, states: list[dict[str, list[Range]]], first: int, stop: int
) -> dict[str, list[int]]:
    """Bytes allocated in every pool and stream after every event of the window."""
    found: dict[str, list[int]] = defaultdict(lambda: [0] * len(states))
    for life in file.lives:
        begin, end = max(life.birth, first), min(life.death, stop)
        if begin >= end:
            continue
        (name,) = (
            name
            for name, held in states[begin - first].items()
            if any(each.address <= life.address < each.end for each in held)
        )
        for event in range(begin, int(end)):
            found[name][event - first] += life.bytes
    return found


def compare(
    painted: list[int], sizes: list[int], most: int, cursor: int, name: str, below: int = 1
) -> None:
    """Whether what is painted reaches as high as it is large, to a pixel, but under the cursor."""
    for at, size in enumerate(sizes):
        if abs(at - cursor) < 3:
            continue
        column = int((at + 0.5) * len(painted) / len(sizes))
        beside = sizes[max(0, at - 1) : at + 2]
        low, high = (
            round(BASE - (BASE - TOP) * each / most) for each in (min(beside), max(beside))
        )
        y = painted[column]
        assert (y < 0 and low == BASE) or high - 1 <= y <= low + below, (name, at, size, y)


def said(caption: str) -> tuple[str, int]:
    """Bytes and segments of a caption."""
    text = caption.replace("\u202f", "").replace("\u00a0", " ")
    found = re.search(r"at the cursor: (.*) reserved in (\d+) segments?", text)
    if found is None:
        assert text.endswith("at the cursor: nothing reserved")
        return "0 B", 0
    return found[1], int(found[2])
