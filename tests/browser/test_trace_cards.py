"""What is told of a span and of an allocation beside the Trace view, and what colours say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import settle, settled_address, words_of
from tests.browser.tracing import HEAD, Traced, asked, recorded, spans, top_of, traced, window_of
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

BERT = "1:0"

#: The colour of a pixel of a canvas that is moved, from the left edge of what is seen of it.
PIXEL = """(canvas, [x, y]) => {
  const [all, seen] = [canvas, canvas.parentElement].map((each) => each.getBoundingClientRect());
  const scale = canvas.width / all.width;
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, 0);
  const at = [Math.floor((seen.left - all.left + x) * scale), Math.floor(y * scale)];
  return [...context.getImageData(...at, 1, 1).data.slice(0, 3)];
}"""


def _numbers(text: str | None) -> list[int]:
    """The whole numbers in a text, whatever stands between their thousands."""
    return [
        int(re.sub(r"\D", "", each)) for each in re.findall(r"\d[\d\u202f\u00a0,]*", text or "")
    ]


def _exact(view: Traced, word: str) -> int:
    line = view.inspector.locator(".facts-list > div", has_text=word).first
    return _numbers(line.get_attribute("title"))[0]


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ")


@pytest.fixture(scope="module")
def span(shared_data: Path) -> str:
    """An operator that allocates, frees, leaves something alive and has others inside of it."""
    recording = recorded(shared_data, "bert")
    (index,) = (device.index for device in recording.devices if device.key == BERT)
    kinds = recording.table("spans").column("kind").to_pylist()
    parents = recording.table("spans").column("parent").to_pylist()
    return next(
        str(row["span"])
        for row in recording.table("span_memory").to_pylist()
        if row["device"] == index
        and kinds[row["span"]] == "op"
        and row["births"] > row["frees"] > 0
        and parents.count(row["span"]) > 1
    )


def test_the_memory_of_a_span_is_told_to_the_byte(
    watched: Watched, profiled: TensorBoardServer, span: str
) -> None:
    card = asked(profiled, "span", "bert", device=BERT, id=span)
    view = traced(watched, profiled, "bert", device=BERT, span=span)
    assert card["freed"]["bytes"] > 0 < card["kept"]["bytes"]
    told = {word: _exact(view, word) for word in ("Born in it", "Freed in it", "Kept")}
    assert told == {
        "Born in it": card["born"]["bytes"],
        "Freed in it": card["freed"]["bytes"],
        "Kept": card["kept"]["bytes"],
    }
    for word, level in (("Peak in it", "peak"), ("Before it", "before"), ("After it", "after")):
        assert _exact(view, word) == card[level]["allocated"]
    left = view.inspector.get_by_role("region", name="Left alive").locator("li button")
    assert [_numbers(each.get_attribute("title"))[0] for each in left.all()] == [
        row["requested"] or row["size"] for row in card["left"]
    ]
    below = view.inspector.get_by_role("region", name="Below it").locator("tbody tr").all()
    assert len(below) == len(card["below"]["rows"]) > 1
    for line, row in zip(below, card["below"]["rows"], strict=True):
        assert row["name"] in (line.locator("button").get_attribute("title") or "")
        titles = [_numbers(cell.get_attribute("title")) for cell in line.locator("td").all()[2:]]
        assert [each[0] for each in titles] == [row["allocated"], row["freed"]]
    said = view.inspector.get_by_role("region", name="Arguments").inner_text()
    assert {*card["args"]} and all(word in said for word in card["args"])
    stack = view.inspector.get_by_role("region", name="Inside").locator("li button").all()
    assert [each.get_attribute("title") for each in stack] == [
        one["name"] for one in card["inside"][-len(stack) :]
    ]
    left.first.click()
    link = words_of(settled_address(view.page, "p.memory.allocation="))
    assert link["allocation"] == str(card["left"][0]["id"])


def test_what_ran_between_the_last_use_and_the_free_is_told(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    rows = asked(
        profiled, "lives", "bert", device=BERT, axis="time", sort="-bytes", offset=0, limit=100
    )["rows"]
    card = next(
        card
        for row in rows
        for card in [asked(profiled, "allocation", "bert", id=row["id"])]
        if card["between"] and card["between"]["calls"] and card["last_use"]["why"] == "launch"
    )
    view = traced(watched, profiled, "bert", device=BERT, allocation=card["id"])
    told = view.inspector.get_by_role("region", name="Spans")
    calls = card["between"]["calls"]
    told.locator("summary", has_text=f"{calls} span").click()
    lines = [_plain(line.inner_text()) for line in told.locator("details li").all()]
    rows = card["between"]["rows"][:8]
    assert [
        line.startswith(f"{row['calls']} × ") for line, row in zip(lines, rows, strict=True)
    ] == [row["calls"] > 1 for row in rows]
    titles = [line.get_attribute("title") for line in told.locator("details li").all()]
    assert titles == [row["name"] for row in rows]
    used = card["last_use"]["span"]
    told.get_by_title(used["name"], exact=True).first.click()
    address = settled_address(view.page, f"p.memory.span={used['id']}")
    assert words_of(address)["span"] == used["id"]


def test_colours_are_those_of_the_legend(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    recording = recorded(shared_data, "bert")
    (index,) = (device.index for device in recording.devices if device.key == BERT)
    drawn, tracks = spans(recording), asked(profiled, "trace", "bert", device=BERT)["tracks"]
    net = {
        row["span"]: row["allocated"] - row["freed"]
        for row in recording.table("span_memory").to_pylist()
        if row["device"] == index
    }
    kinds = recording.table("spans").column("kind").to_pylist()
    linear = [
        (place, one)
        for place, one in enumerate(drawn)
        if one.name == "aten::linear" and net.get(place, 0) > 0
    ]
    place, gained = linear[0]
    window = gained.begin - 20_000, gained.end + 20_000
    view = traced(watched, profiled, "bert", device=BERT, window=window_of(window))
    row = top_of(tracks, gained.track, gained.depth)
    went = view.scroll("host", row - HEAD)
    _, width = view.plot()
    # Near its lower edge, where no name stands.
    x = ((gained.end + gained.begin) / 2 - window[0]) / (window[1] - window[0]) * width
    items = view.frame.get_by_test_id("trace-host-items")
    legend = view.frame.locator("[data-panel=host] .trace-legend")

    def swatch(word: str) -> list[int]:
        line = legend.locator("span", has_text=re.compile(rf"^\s*{word}\s*$"))
        colour = line.locator("i").first.evaluate(
            "swatch => getComputedStyle(swatch).backgroundColor"
        )
        return _numbers(colour)[:3]

    def painted() -> Any:
        settle(view.page)
        return items.evaluate(PIXEL, [x, row - went + 16])

    assert kinds[place] == "op"
    assert painted() == pytest.approx(swatch("op"), abs=2)
    legend.get_by_role("radio", name="by memory").click()
    red, _, blue = painted()
    neither = swatch("neither")
    assert red - blue > neither[0] - neither[2] + 10
    assert words_of(settled_address(view.page, "p.memory.colours="))["colours"] == "net"
