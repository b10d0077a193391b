"""An allocation that failed on a real GPU is marked on the picture, where its file has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.looking import link
from tests.browser.picturing import Picture
from tests.browser.real import NAMES, show
from tests.browser.recorded import Recorded
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

NAME, ORDINAL = NAMES[1], 1
DANGER = (0xC6, 0x28, 0x28)

#: Where in the page a canvas has a colour from top to bottom, in pixels.
_LINES = """(canvas, colour) => {
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  const counts = new Array(width).fill(0);
  for (let at = 0; at < data.length; at += 4)
    if (colour.every((part, of) => data[at + of] === part)) counts[(at / 4) % width] += 1;
  const { left, width: wide } = canvas.getBoundingClientRect();
  return counts.flatMap((count, x) =>
    count > 0.9 * height ? [left + ((x + 0.5) * wide) / width] : []);
}"""


@pytest.mark.parametrize("truth", NAMES[1:], indirect=True)
def test_a_failed_allocation_is_marked_on_the_picture(
    watched: Watched,
    real_server: TensorBoardServer,
    truth: Recorded,
    shared_data: Path,
    pictures: Any,
) -> None:
    trace = File(shared_data / "snapshots" / f"{NAME}.pickle", ORDINAL).trace
    (event,) = (at for at, entry in enumerate(trace) if entry["action"] == "oom")
    times = [1000 * (entry["time_us"] - trace[0]["time_us"]) for entry in trace]
    # The cursor is elsewhere: it lies on the mark at the peak, where this failed.
    shown = show(watched, real_server, truth, device=ORDINAL, at=event - 100)
    asked: dict[str, Any] = {"view": "allocations", "device": ORDINAL, "at": event - 100}
    for axis, place, begin, end in (
        ("event", event, 0, len(trace)),
        ("event", event, event - 7, event + 9),
        ("time", times[event], times[0], times[-1] + 1),
    ):
        words = {"axis": axis, "window": f"{begin}..{end}"}
        address = link(NAME, "snapshot.pickle", **asked, **words)
        watched.page.evaluate("address => { location.hash = address; }", address)
        shown.wait()
        check(shown, (place - begin) / (end - begin))
        pictures(watched.page, axis)
    # Where nothing failed there is no mark.
    words = {"axis": "event", "window": f"{event + 1}..{len(trace)}"}
    address = link(NAME, "snapshot.pickle", **asked, **words)
    watched.page.evaluate("address => { location.hash = address; }", address)
    shown.wait()
    check(shown, None)


def check(shown: Picture, share: float | None) -> None:
    """That there is a red line at a share of the width, and no other; None is no line at all."""
    box = shown.box()
    curve = shown.frame.get_by_test_id("allocations-curve")
    frame = next(each for each in shown.page.frames if "name=memory" in each.url)
    offset = frame.frame_element().bounding_box()
    assert offset is not None
    found = [x + offset["x"] - box["x"] for x in curve.evaluate(_LINES, DANGER)]
    inside = [x for x in found if 0 <= x <= box["width"]]
    if share is None:
        assert inside == []
    else:
        assert len(inside) == 1
        assert inside[0] == pytest.approx(share * box["width"], abs=1.5)
