"""Every view on snapshots from real GPUs: each interaction, beside what a plain replay finds."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.charting import HEADROOM, Chart
from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.browser.picturing import Picture
from tests.browser.real import SERVED
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator

pytestmark = pytest.mark.framed

MIB = 1 << 20
#: What a page writes that makes a time of what is none.
NO_TIME = re.compile("Invalid|NaN|1970|undefined|null", re.IGNORECASE)
COLOURS = ("stack", "op", "module", "stream", "pool", "size", "lifetime", "step")

_COLOURS = """canvas => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  return new Set(new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer))
    .size;
}"""


@dataclass(frozen=True)
class Truth:
    """What a snapshot holds, by an independent replay (facts.json), and its first trace."""

    name: str
    facts: dict[str, Any]
    trace: list[dict[str, Any]]
    segments: list[dict[str, Any]]
    settings: dict[str, Any]

    @property
    def is_timed(self) -> bool:
        """Whether events have time stamps."""
        return "time_us" in self.trace[0]

    def alive(self, event: int) -> int:
        """How many blocks are alive after an event."""
        done = [entry["action"] for entry in self.trace[: event + 1]]
        before: int = self.facts["blocks_before_window"]
        return before + done.count("alloc") - done.count("free_completed")

    def sizes(self) -> list[int]:
        """Bytes of every allocation, those from before the window too."""
        found, living = [], set()
        for entry in self.trace:
            if entry["action"] == "alloc":
                living.add(entry["addr"])
                found.append(entry["size"])
            elif entry["action"] == "free_completed" and entry["addr"] in living:
                living.remove(entry["addr"])
            elif entry["action"] == "free_completed":
                found.append(entry["size"])
        blocks = [b for each in self.segments if each["device"] == 0 for b in placed(each)]
        return found + [size for address, size in blocks if address not in living]


@pytest.fixture
def server(real_server: TensorBoardServer) -> TensorBoardServer:
    """A TensorBoard on real snapshots."""
    return real_server


@pytest.fixture(params=SERVED)
def truth(request: pytest.FixtureRequest, shared_data: Path) -> Truth:
    folder = shared_data / "snapshots"
    facts = json.loads((folder / "facts.json").read_text())
    with (folder / f"{request.param}.pickle").open("rb") as file:
        structure = pickle.load(file)
    device = facts[f"{request.param}.pickle"]["devices"]["0"]
    trace, settings = structure["device_traces"][0], structure.get("allocator_settings", {})
    return Truth(request.param, device, trace, structure["segments"], settings)


def show(
    watched: Watched, server: TensorBoardServer, truth: Truth, view: str, **words: object
) -> FrameLocator:
    asked = {"view": view, "axis": "event", "device": "0", **words}
    return open_page(watched.page, server.url + link(truth.name, "snapshot.pickle", **asked))


def test_the_picture_is_zoomed_panned_and_measured(
    watched: Watched, server: TensorBoardServer, truth: Truth, pictures: Any
) -> None:
    shown = Picture(watched.page, show(watched, server, truth, "allocations"))
    events, peak = truth.facts["events"], truth.facts["allocated_peak"]
    at = truth.facts["allocated_peak_event"]
    assert shown.highest() == (peak, truth.alive(at))
    assert f"event {at}" in shown.described()
    pictures(watched.page, "whole")
    told = shown.hover((at + 0.5) / events, 0.3)
    instant, count = re.search(r"event (\d+)", told), re.search(r"in (\d+) allocations", told)
    assert instant and count, told
    assert int(count[1]) == truth.alive(int(instant[1]))
    for _ in range(4):
        watched.page.mouse.wheel(0, -240)
    shown.wait()
    assert shown.highest()[0] == peak
    begin, end = window(watched)
    assert begin <= at < end
    assert end - begin < events / 8
    shown.canvas.focus()
    for key in ("d", "a", "w", "s"):
        before = window(watched)
        watched.page.keyboard.press(key)
        shown.wait()
        assert window(watched) != before
    watched.page.keyboard.press("0")
    shown.wait()
    assert "window" not in words_of(watched.page.url)
    shown.drag((0.3, 0.2), (0.6, 0.5))
    begin, end = window(watched)
    assert (begin, end) == pytest.approx((0.3 * events, 0.6 * events), abs=events / 200 + 2)
    low, high = span(watched, "bytes")
    top = peak * HEADROOM
    assert (low, high) == pytest.approx((0.2 * top, 0.5 * top), rel=0.03)
    shown.wait()
    pictures(watched.page, "brushed")
    watched.page.keyboard.down("Shift")
    shown.drag((0.5, 0.5), (0.4, 0.5))
    watched.page.keyboard.up("Shift")
    assert window(watched)[0] > begin
    watched.page.keyboard.press("0")
    shown.wait()
    shown.frame.get_by_role("button", name="measure").click()
    shown.drag((0.2, 0.3), (0.6, 0.8))
    ruler = shown.frame.get_by_test_id("allocations-ruler").inner_text().replace("\u202f", "")
    measured = re.match(r"Δ (\d+) events", ruler)
    assert measured and int(measured[1]) == pytest.approx(0.4 * events, abs=events / 200 + 2)


def test_the_picture_is_laid_out_coloured_filtered_and_searched(
    watched: Watched, server: TensorBoardServer, truth: Truth, pictures: Any
) -> None:
    shown = Picture(watched.page, show(watched, server, truth, "allocations"))
    highest = shown.highest()
    for layout in ("address", "lane", "stacked"):
        shown.frame.get_by_role("radio", name=layout).click()
        shown.wait()
        assert shown.highest() == highest
        pictures(watched.page, layout)
    by = grouping(shown.frame)
    keys = by.locator("option").evaluate_all("all => all.map((option) => option.value)")
    for key in (key for key in COLOURS if key in keys):
        by.select_option(key)
        shown.wait()
        assert shown.highest() == highest
        assert shown.front.evaluate(_COLOURS) > 2
    assert {"stack", "size", "lifetime", "pool", "stream"} <= set(keys)
    only = shown.frame.get_by_label("Which allocations")
    only.select_option("never")
    shown.wait()
    assert shown.highest() == (truth.facts["allocated_end"], truth.facts["live_blocks_end"])
    only.select_option("all")
    large = sum(size > 10 * MIB for size in truth.sizes())
    shown.frame.get_by_label("Find allocations").fill("size>10MiB")
    hits = shown.frame.get_by_test_id("allocations-hits")
    hits.filter(has_text=re.compile(rf"^{large:,}\s?hits?".replace(",", r"\D?"))).wait_for()
    shown.frame.get_by_label("Find allocations").fill("")
    least = shown.frame.get_by_label("Least bytes of an allocation")
    least.fill("10 MiB")
    least.press("Enter")
    shown.wait()
    assert 0 < shown.highest()[0] <= highest[0]


def test_an_allocation_is_selected_and_followed(
    watched: Watched, server: TensorBoardServer, truth: Truth, pictures: Any, shared_data: Path
) -> None:
    file = File(shared_data / "snapshots" / f"{truth.name}.pickle")
    at = truth.facts["allocated_peak_event"]
    # Those born first are below the others; what lives for one event only is on top.
    pile = sorted(file.alive(at), key=lambda life: (life.death - life.birth == 1, life.birth))
    tops = itertools.accumulate(life.bytes for life in pile)
    born = [pair for pair in zip(pile, tops, strict=True) if pair[0].birth > 0]
    life, top = max(born, key=lambda pair: pair[0].bytes)
    around = {"window": f"{at - 8}..{at + 9}"}
    shown = Picture(watched.page, show(watched, server, truth, "allocations", **around))
    shown.click(0.5, (top - life.bytes / 2) / (truth.facts["allocated_peak"] * HEADROOM))
    settled_address(watched.page, "p.memory.allocation=")
    inspector = shown.frame.locator(".inspector")
    inspector.locator(".ways").first.wait_for()
    assert hex(life.address) in inspector.inner_text()
    told = shown.hover(0.5, (top - life.bytes / 2) / (truth.facts["allocated_peak"] * HEADROOM))
    instant = told.splitlines()[-1]
    # Without time stamps it is the event only that is told.
    assert instant.partition(" · ")[0] == f"event {at}"
    assert (instant == f"event {at}") is not truth.is_timed
    assert not NO_TIME.search(inspector.inner_text() + told)
    inspector.get_by_role("button", name="its life").click()
    shown.wait()
    begin, end = window(watched)
    assert begin <= life.birth < min(life.death, truth.facts["events"]) <= end
    for way, event in (("its birth", life.birth), ("just before it", life.birth - 1)):
        inspector.get_by_role("button", name=way, exact=True).first.click()
        settle(watched.page)
        assert words_of(watched.page.url)["at"] == str(event)
    pictures(watched.page)
    address = watched.page.url
    again = Picture(watched.page, open_page(watched.page, address))
    again.frame.locator(".inspector .ways").first.wait_for()
    assert hex(life.address) in again.frame.locator(".inspector").inner_text()
    assert window(watched) == (begin, end)


def test_the_profile_is_hovered_brushed_and_grouped(
    watched: Watched, server: TensorBoardServer, truth: Truth
) -> None:
    frame = show(watched, server, truth, "profile")
    chart = Chart(watched.page, frame)
    peak, at = truth.facts["allocated_peak"], truth.facts["allocated_peak_event"]
    assert chart.highest() == peak
    chart.hover_event(at, (at + 0.5) / truth.facts["events"])
    assert chart.told() == peak
    chart.drag(0.2, 0.6)
    chart.wait()
    begin, end = window(watched)
    assert end - begin == pytest.approx(0.4 * truth.facts["events"], abs=truth.facts["events"] / 50)
    grouping(frame).select_option("stack")
    chart.wait()
    # The table is of the peak: its largest stacks are those that the replay found.
    rows = frame.locator("table.groups tr[data-row]")
    told = [digits(row.locator("[title*=byte]").first.get_attribute("title")) for row in rows.all()]
    assert told[:5] == truth.facts["peak_bytes_by_stack_top5"][: len(told)]


def test_segments_are_played_and_listed(
    watched: Watched, server: TensorBoardServer, truth: Truth
) -> None:
    last = truth.facts["events"] - 1
    frame = show(watched, server, truth, "segments", at=last)
    state = frame.get_by_test_id("segments-state")
    for label, fact in (("Reserved", "reserved_end"), ("Allocated", "allocated_end")):
        found = state.locator(f"[data-exact='{label}']")
        found.wait_for()
        assert int(found.get_attribute("data-bytes") or "") == truth.facts[fact]
    frame.get_by_test_id("events-rows").focus()
    watched.page.keyboard.press("Home")
    state.locator("[data-event='0']").wait_for()
    watched.page.keyboard.press("ArrowDown")
    state.locator("[data-event='1']").wait_for()
    settle(watched.page)  # the list has answers of its own
    rows = frame.locator(".event-rows .event-row")
    assert truth.trace[1]["action"].replace("_", " ") in rows.nth(1).inner_text()
    assert not NO_TIME.search(state.inner_text() + rows.first.inner_text())
    play = frame.get_by_test_id("segments-play")
    play.click()
    state.locator("[data-event]:not([data-event='1'])").wait_for()
    play.click()
    assert int(state.locator("[data-event]").first.get_attribute("data-event") or 0) > 1


def test_flames_lines_and_settings_add_up(
    watched: Watched, server: TensorBoardServer, truth: Truth, pictures: Any
) -> None:
    frame = show(watched, server, truth, "flame")
    heading = frame.get_by_test_id("weighed-heading")
    heading.wait_for()
    total = heading.locator("[title*=byte]").first.get_attribute("title") or heading.inner_text()
    assert f"{truth.facts['allocated_peak']}" in re.sub(r"[\s,.\u202f]", "", total)
    pictures(watched.page, "flame")
    for weight in ("highest", "allocations", "kept", "× lifetime"):
        frame.get_by_role("radio", name=weight, exact=True).click()
        settle(watched.page)
        assert frame.get_by_role("alert").count() == 0
    frame.get_by_role("radio", name="allocations", exact=True).click()
    counted = re.compile(rf"{truth.facts['allocs']:,}\s?allocations".replace(",", r"\D?"))
    heading.filter(has_text=counted).wait_for()
    for view in ("Source", "Settings"):
        frame.get_by_role("tab", name=view).click()
        settle(watched.page)
        assert frame.get_by_role("alert").count() == 0
        pictures(watched.page, view.lower())
    check_settings(frame, truth.settings)
    lacks = section_of(frame, "What it lacks")
    assert ("time: The events carry no time stamps" in lacks) is not truth.is_timed
    assert "steps: No training step is marked in the window. Wrap the loop in " in lacks
    assert section_of(frame, "Versions") == "The source says nothing of versions."
    assert section_of(frame, "Problems") == "None was found in the file."


def test_settings_say_what_is_lacking_and_what_to_do(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    told = {
        "no_time_us_segments": "time: The events carry no time stamps, which torch writes since"
        " version 2.2. Record with torch 2.2 or later for a time axis.",
        "private_pools_nohistory": "history: The snapshot holds the memory's state at one moment"
        " and no history: recording was not switched on, or was switched off before the dump. Call"
        " torch.cuda.memory._record_memory_history() before the model is built, run a few steps,"
        " then torch.cuda.memory._dump_snapshot('snapshot.pickle').",
    }
    for name, words in told.items():
        asked = link(name, "snapshot.pickle", view="settings")
        frame = open_page(watched.page, server.url + asked)
        frame.locator(".settings").wait_for()
        settle(watched.page)
        assert words in section_of(frame, "What it lacks")
        assert section_of(frame, "Versions") == "The source says nothing of versions."
        events = {"no_time_us_segments": "10 327", "private_pools_nohistory": "0"}[name]
        assert f"cuda:0 capacity not recorded, {events} events" in section_of(frame, "Recording")
    pictures(watched.page)


def section_of(frame: FrameLocator, title: str) -> str:
    """What is under a heading of the settings, with plain spaces."""
    heading = frame.get_by_role("heading", name=title)
    said = frame.locator(".settings section", has=heading).inner_text()
    return re.sub(r"\s+", " ", said).removeprefix(title).strip()


def check_settings(frame: FrameLocator, held: dict[str, Any]) -> None:
    """That what is shown is all that the snapshot holds of the allocator's settings."""
    heading = frame.get_by_role("heading", name="Allocator settings")
    section = frame.locator(".settings section", has=heading)
    words, said = (section.locator(kind).all_inner_texts() for kind in ("dt", "dd"))
    shown = dict(zip(words, said, strict=True))
    meanings: dict[str, Any] = {
        "max_split_size": lambda value: "unlimited" if value < 0 else None,
        "garbage_collection_threshold": lambda value: "off" if not value else None,
        "roundup_power2_divisions": lambda value: "none" if not any(value.values()) else None,
    }
    wanted = {}
    for word, value in held.items():
        if value not in ("", None):
            plain = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            wanted[word] = meanings.get(word, lambda _: None)(value) or plain
    assert shown == wanted
    if not wanted:
        section.get_by_text("does not hold the allocator's settings").wait_for()


def placed(segment: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Address and requested bytes of the blocks in use in a segment."""
    address = segment["address"]
    for block in segment["blocks"]:
        if block["state"] != "inactive":
            yield address, block["requested_size"]
        address += block["size"]


def grouping(frame: FrameLocator) -> Locator:
    """The choice of what is coloured and grouped by."""
    return frame.locator("label.labelled", has_text="group").locator("select")


def digits(text: str | None) -> int:
    return int(re.sub(r"\D", "", text or ""))


def window(watched: Watched) -> tuple[int, int]:
    return span(watched, "window")


def span(watched: Watched, word: str) -> tuple[int, int]:
    settle(watched.page)
    begin, end = words_of(settled_address(watched.page, f"p.memory.{word}="))[word].split("..")
    return int(begin), int(end)
