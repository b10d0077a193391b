"""The rectangles of a plan, by address, against a picture made by brute force from the proto."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.proto.hlo import hlo_classes
from tb_memory_plugin.readers import hlo
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle
from tests.browser.picturing import Picture
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

FILE = "jit_train_step.hlo_proto.pb"
#: Events in view, each many pixels wide.
EVENTS = 40
#: Categories' colours (theme/palette.ts), in the order of their codes.
COLOURS = ("#4477aa", "#ccbb44", "#66ccee", "#ee6677", "#228833", "#aa3377")
BACKGROUND = "#ffffff"
#: Pixels that a buffer, or a hole, is looked for in: edges are another's matter.
TALL = 5
#: Pixels from one line to the next on what is held all the time.
HATCH = 8


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("drawn")
    (folder / "step").mkdir()
    (folder / "step" / FILE).symlink_to(shared_data / "xla" / FILE)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("drawn-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def blocks(path: Path) -> tuple[list[tuple[int, int, int, int, str]], int]:
    """Begin, end, bottom, top and name of every buffer as the proto has them; where the top is.

    What is held all the time first, allocation upon allocation, then the temporary one.
    """
    proto = hlo_classes()["HloProto"].FromString(path.read_bytes())
    plan = proto.buffer_assignment
    size = {each.id: each.size for each in plan.logical_buffers}
    found, bottom = [], 0
    held = [each for each in plan.buffer_allocations if not each.is_thread_local]
    lasting = [
        each
        for each in held
        if each.is_entry_computation_parameter or each.maybe_live_out or each.is_constant
    ]
    (trace,) = plan.heap_simulator_traces
    last = len(trace.events)
    for each in lasting:
        found.append((-1, last, bottom, bottom + each.size, f"allocation {each.index}"))
        bottom += each.size
    (temporary,) = (each for each in held if each not in lasting)
    offset = {each.logical_buffer_id: each.offset for each in temporary.assigned}
    begun: dict[int, int] = {}
    users: dict[int, int] = {}
    root: dict[int, int] = {}
    for at, event in enumerate(trace.events):
        own = event.buffer_id
        if event.kind == 1:
            top = root.get(own, own)
            users[top] -= 1
            if not users[top]:
                low = bottom + offset[top]
                found.append((begun.pop(top), at, low, low + size[top], f"buffer {top}"))
            continue
        other = event.share_with_canonical_id
        top = root[own] = root.get(other, other) if event.kind == 2 else own
        users[top] = users.get(top, 0) + 1
        begun.setdefault(top, at)
    return found, bottom + temporary.size


def pale(colour: str) -> str:
    """Halfway to the background."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{(part ^ 255) // 2 + (part & 255):02x}" for part in parts)


def test_every_pixel_of_a_buffer_is_of_its_category(
    watched: Watched, server: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    drawn, top = blocks(shared_data / "xla" / FILE)
    recording = plan_recording(derive(hlo.read(shared_data / "xla" / FILE)))
    table = recording.table("allocations").to_pylist()
    category = {(row["birth"], row["address"]): row["category"] for row in table}
    window = (100, 100 + EVENTS)
    words = {"view": "allocations", "device": "plan:0", "layout": "address", "by": "category"}
    address = link("step", FILE, **words, window=f"{window[0]}..{window[1]}")
    frame = open_page(watched.page, server.url + address)
    shown = Picture(watched.page, frame)
    settle(watched.page)
    watched.page.mouse.move(5, 400)
    settle(watched.page)
    pictures(watched.page, "plan-by-address")
    pixels = shown.pixels()
    height = len(pixels[0])
    seen = free = hatched = lasting = 0
    for event in range(*window):
        column = pixels[int((event - window[0] + 0.5) * len(pixels) / EVENTS)]
        alive = sorted(
            (low, high, begin) for begin, end, low, high, _ in drawn if begin <= event < end
        )
        reached = 0
        for low, high, begin in alive:
            if (low - reached) * height / top > TALL:
                assert column[int((reached + low) / 2 * height / top)] == BACKGROUND, event
                free += 1
            if (high - low) * height / top > (TALL if begin >= 0 else 2):
                colour = COLOURS[category[None if begin < 0 else begin, low]]
                # Without the edges of what is tall enough to have some.
                off = 2 if begin >= 0 else 1
                inner = column[int(low * height / top) + off : int(high * height / top) + 1 - off]
                # What lives through the whole program is hatched, and nothing else is.
                assert set(inner) <= {colour, pale(colour)}, (event, low)
                if begin >= 0:
                    assert set(inner) == {colour}, (event, low)
                else:
                    hatched += inner.count(pale(colour))
                    lasting += len(inner)
                seen += 1
            reached = max(reached, high)
    assert seen > 1_000 and free > 50
    assert hatched > 100 and hatched / lasting == pytest.approx(1 / HATCH, rel=0.2)
    frame.locator(".allocations-signs").get_by_text("held all the time").wait_for()
