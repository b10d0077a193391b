"""What real profiles are made of at clicked moments, against a plain walk over their events."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tb_memory_plugin.readers.xplane_dtypes import dtype_name
from tests.browser.charting import Chart
from tests.browser.looking import settle, settled_address, words_of
from tests.browser.xplanes import FILES, opened
from tests.formats.test_kineto_real import OPS, Search, ns, track
from tests.formats.xplane_reading import Walked, alive, walk

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

BEFORE = "before the window"
MOMENTS = (0.13, 0.52, 0.9)
#: Bytes and allocations by group; of what was there before only the bytes are known.
Groups = dict[str, tuple[int, int]]

_ROWS = """rows => rows.map(row => {
  const [name, size, , count] = row.children;
  return [name.querySelector("[title]").title, size.title, count.textContent];
})"""


def shown(frame: FrameLocator) -> Groups:
    """Every group of the breakdown."""
    more = frame.get_by_role("button", name="show more")
    while more.count():
        more.click()
        frame.locator(".scroller[aria-busy=false]").wait_for()
    rows = frame.locator("table.groups tr[data-row]").evaluate_all(_ROWS)
    return {
        label: (digits(size), 0 if label == BEFORE else digits(count))
        for label, size, count in rows
    }


def digits(text: str) -> int:
    return int("".join(filter(str.isdigit, text)))


def click(watched: Watched, chart: Chart, share: float) -> int:
    """Clicks the curve at a share of its width; the event that the cursor is at then."""
    chart.canvas.scroll_into_view_if_needed()
    watched.page.mouse.click(*chart.point(share))
    settle(watched.page)
    return int(words_of(settled_address(watched.page, "p.memory.at="))["at"])


def summed(found: list[tuple[str, int]]) -> Groups:
    groups: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for label, size in found:
        total, count = groups[label]
        groups[label] = (total + size, count + 1)
    return dict(groups)


def described(by: str, event: Walked) -> str:
    """The group of an allocation of an XPlane, by what its event itself says."""
    if by == "dtype_shape":
        dtype = dtype_name(event.number("data_type"))
        return f"{dtype} {event.stats['shape']}" if dtype else "no dtype known"
    return str(event.stats[{"region": "region_type", "op": "tf_op"}[by]])


def agrees(frame: FrameLocator, found: list[tuple[str, int]], total: int) -> int:
    """That the breakdown is of ``found`` and, up to the total, of what was there before."""
    expected = summed(found)
    if rest := total - sum(size for _, size in found):
        expected[BEFORE] = (rest, 0)
    assert shown(frame) == expected
    heading = frame.locator(".breakdown h2.at .quiet")
    assert digits(heading.get_attribute("title") or "") == total
    return len(expected)


@pytest.mark.parametrize(
    ("run", "key", "by"),
    [
        ("gpus", "GPU_4_bfc", "region"),
        ("gpus", "GPU_6_bfc", "op"),
        ("bfc", "bfc_cpu_allocator_for_gpu", "dtype_shape"),
    ],
)
def test_moments_of_an_xplane(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, run: str, key: str, by: str
) -> None:
    events = walk(shared_data / FILES[run])[key]
    frame = opened(watched, profiled, run, device=key, axis="event", by=by)
    chart = Chart(watched.page, frame)
    moments, groups = set(), 0
    for share in MOMENTS:
        moments.add(at := click(watched, chart, share))
        living = [
            (described(by, each), each.number("allocation_bytes")) for each in alive(events, at)
        ]
        groups = max(groups, agrees(frame, living, events[at].number("bytes_allocated")))
    assert len(moments) == len(MOMENTS) and groups >= 3


@pytest.mark.parametrize("by", ["op", "module"])
def test_moments_of_a_trace(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, by: str
) -> None:
    search = Search(Path(FILES["bert"]).name)
    events = search.memory["1:0"]
    frame = opened(watched, profiled, "bert", device="1:0", axis="event", by=by)
    chart = Chart(watched.page, frame)
    moments, groups = set(), 0
    for share in MOMENTS:
        moments.add(at := click(watched, chart, share))
        living: dict[int, tuple[str, int]] = {}
        for event in events[: at + 1]:
            args = event["args"]
            if args["Bytes"] < 0:
                living.pop(args["Addr"], None)
                continue
            around = search.around(track(event), ns(event["ts"]))
            found = around.first(*OPS) if by == "op" else around.module
            living[args["Addr"]] = (found or f"no {by} known", args["Bytes"])
        total = events[at]["args"]["Total Allocated"]
        groups = max(groups, agrees(frame, list(living.values()), total))
    assert len(moments) == len(MOMENTS) and groups >= 3
