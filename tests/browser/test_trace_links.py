"""Links of spans in the Trace view, of every kind there is: arrows and ways from both ends."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import settle, settled_address, words_of
from tests.browser.tracing import Drawn, Traced, asked, recorded, spans, traced, window_of
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

#: Run, device, kind of link, and what is said of it at its source and at its target.
LINKS = [
    ("v100", "1:1", "launch", "launched", "launched by"),
    ("v100", "1:1", "forward_backward", "its backward:", "its forward:"),
    ("v100", "1:1", "collective", "launched the collective", "collective launched by"),
    ("tpu", "0", "launch", "launched", "launched by"),
    ("tpu", "0", "async", "done in", "started by"),
]


def _ends(view: Traced, arrow: str) -> tuple[float, float, float, float]:
    """Where an arrow begins and ends on the page: x and y of either."""
    path = view.frame.locator(f"[data-arrow='{arrow}']")
    box = view.frame.get_by_test_id("trace-arrows").bounding_box()
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", path.get_attribute("d") or "")]
    x1, y1, x2, y2 = (*numbers[:2], *numbers[-2:])
    return box["x"] + x1, box["y"] + y1, box["x"] + x2, box["y"] + y2


@pytest.mark.parametrize(("run", "device", "kind", "to", "back"), LINKS)
def test_links_of_every_kind_lead_both_ways(
    watched: Watched,
    profiled: TensorBoardServer,
    shared_data: Path,
    run: str,
    device: str,
    kind: str,
    to: str,
    back: str,
) -> None:
    recording = recorded(shared_data, run)
    drawn = spans(recording)
    row = next(each for each in recording.table("links").to_pylist() if each["kind"] == kind)
    source, target = drawn[row["source"]], drawn[row["target"]]
    low, high = min(source.begin, target.begin), max(source.end, target.end)
    whole, air = asked(profiled, "trace", run, device=device), (high - low) // 4
    window = max(low - air, whole["begin"]), min(high + air, whole["end"])
    arrow = f"{kind} {source.id} {target.id}"
    view = traced(watched, profiled, run, device=device, span=source.id, window=window_of(window))
    tracks = whole["tracks"]
    left, width = view.plot()

    def x(at: int) -> float:
        return left + (at - window[0]) / (window[1] - window[0]) * width

    def panel_of(span: Drawn) -> tuple[float, float]:
        name = tracks[span.track]["kind"]
        name = name if name in ("host", "device") else "steps"
        box = view.frame.locator(f"[data-body='{name}']").bounding_box()
        return box["y"], box["y"] + box["height"]

    def looked_at(word: str, other: Drawn) -> None:
        x1, y1, x2, y2 = _ends(view, arrow)
        handed = source.end if source.end <= target.begin else source.begin
        assert (x1, x2) == pytest.approx((x(handed), x(target.begin)), abs=1)
        for y, span in ((y1, source), (y2, target)):
            top, bottom = panel_of(span)
            assert top - 1 <= y <= bottom + 1
        linked = view.inspector.get_by_role("region", name="Linked").locator("li")
        line = linked.filter(has_text=re.compile(rf"^\s*{re.escape(word)}\s"))
        line.get_by_role("button").and_(view.inspector.get_by_title(other.name)).first.click()

    looked_at(to, target)
    settle(view.page)
    address = settled_address(view.page, f"p.memory.span={target.id}")
    assert words_of(address)["span"] == target.id
    # A way on may move the window to where its end is seen.
    window = tuple(map(int, words_of(address)["window"].split("..")))  # type: ignore[assignment]
    looked_at(back, source)
    assert words_of(settled_address(view.page, f"p.memory.span={source.id}"))["span"] == source.id
