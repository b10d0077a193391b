"""The list of events in the Profile, and what is said of the one at the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tb_memory_plugin.recording.schema import Category
from tests.browser.charting import Chart
from tests.browser.looking import settle, words_of
from tests.browser.xplanes import FILES, opened

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tb_memory_plugin.recording.recording import Recording
    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def recorded(shared_data: Path, run: str) -> Recording:
    return load(shared_data / FILES[run]).recording


def happened(frame: FrameLocator) -> str:
    said = frame.locator(".at-cursor-what").inner_text()
    return said.replace("\u00a0", " ").replace("\u202f", " ").replace("\n", " ")


def facts(frame: FrameLocator) -> dict[str, str]:
    found: Any = frame.locator(".at-cursor dl > div").all()
    return {
        fact.locator("dt").inner_text(): fact.locator("dd").inner_text().replace("\u00a0", " ")
        for fact in found
    }


def exact(frame: FrameLocator, word: str) -> int:
    fact = frame.locator(".at-cursor dl > div").filter(has=frame.get_by_text(word, exact=True))
    return int("".join(filter(str.isdigit, fact.get_attribute("title") or "")))


def listed(frame: FrameLocator, event: int) -> list[str]:
    row = frame.locator(f".event-rows .event-row[data-event='{event}'] > *")
    return [text.replace("\u00a0", " ") for text in row.all_inner_texts()]


def test_an_xplane_event_by_event(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, everywhere: Any
) -> None:
    recording = recorded(shared_data, "bfc")
    device = recording.devices[0]
    lives = [
        life
        for life in recording.table("allocations").to_pylist()
        if life["birth"] is not None and life["death"] is not None
    ]
    life = max(lives, key=lambda life: (life["shape"] is not None, life["size"]))
    size = f"{life['size'] / 2**20:.2f} MiB"
    levels = recording.values("usage", "allocated", device)
    moved = recording.values("usage", "event", device).tolist()
    frame = opened(watched, profiled, "bfc", at=life["birth"])
    Chart(watched.page, frame)
    assert f"Allocated {size}" in happened(frame)
    assert f"event {life['birth']} · " in happened(frame)
    told = facts(frame)
    assert told["operator"] == life["op"]
    assert told["region"] == life["region"] == "output"
    assert told["type, shape"] == f"{life['dtype']} {life['shape']}"
    assert told["step"] == str(life["step"])
    assert told["address"] == hex(life["address"])
    assert exact(frame, "allocated after it") == levels[moved.index(life["birth"])]
    assert exact(frame, "requested") == life["requested"] < life["size"]

    frame.get_by_role("radio", name="Events").click()
    settle(watched.page)
    assert words_of(watched.page.url)["table"] == "events"
    assert frame.get_by_test_id("events-count").inner_text() == str(len(moved) - 1)
    assert listed(frame, life["birth"])[2:] == [
        "alloc",
        size,
        hex(life["address"]),
        life["op"],
    ]
    frame.get_by_label("Filter events").fill(f"address:{life['address']:#x} action:free_completed")
    settle(watched.page)
    frame.locator(f".event-row[data-event='{life['death']}']").click()
    settle(watched.page)
    words = words_of(watched.page.url)
    assert int(words["at"]) == life["death"]
    assert f"Freed {size}" in happened(frame)
    assert facts(frame)["operator"] == life["op"]
    assert exact(frame, "allocated after it") == levels[moved.index(life["death"])]
    assert "allocation" in frame.locator(".inspector").inner_text()
    frame.get_by_label("Filter events").fill("")
    settle(watched.page)

    # Arrows go on from there, event by event, and the cursor and what is said of it go along.
    rows = frame.get_by_test_id("events-rows")
    frame.locator(f".event-row[data-event='{life['death']}']").click()
    assert rows.evaluate("box => document.activeElement === box")
    for key, event in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        watched.page.keyboard.press(key)
        settle(watched.page)
        at = life["death"] + event
        assert int(words_of(watched.page.url)["at"]) == at
        assert f"event {at} · " in happened(frame)
    everywhere(watched.page, "events")


def test_a_trace_says_what_was_asked_for_and_where(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    recording = recorded(shared_data, "bert")
    device = recording.device("1:0")
    lives = [
        life
        for life in recording.table("allocations").to_pylist()
        if life["device"] == device.index and life["birth"] is not None and life["op"]
        if life["module"]
    ]
    life = lives[len(lives) // 2]
    frame = opened(watched, profiled, "bert", device="1:0", table="events", at=life["birth"])
    assert "Allocated" in happened(frame)
    told = facts(frame)
    assert told["operator"] == life["op"]
    assert told["module"] == life["module"]
    assert "where" in told
    usage = recording.table("usage").to_pylist()
    (after,) = [
        row for row in usage if row["device"] == device.index and row["event"] == life["birth"]
    ]
    assert exact(frame, "allocated after it") == after["allocated"]
    assert exact(frame, "reserved") == after["reserved"]
    row = frame.locator(".event-row.is-current")
    assert int(row.get_attribute("data-event") or -1) == life["birth"]
    frame.get_by_role("button", name="Next event").click()
    settle(watched.page)
    assert int(words_of(watched.page.url)["at"]) == life["birth"] + 1
    assert int(row.get_attribute("data-event") or -1) == life["birth"] + 1
    frame.locator(".at-cursor-what .link").click()
    settle(watched.page)
    assert words_of(watched.page.url)["allocation"]


def test_the_next_event_is_waited_for_and_an_error_stands_alone(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    frame = opened(watched, profiled, "gpus", device="GPU_4_bfc", at=3)
    held: list[Any] = []
    watched.page.route("**/plugin/memory/events?*", lambda route: held.append(route))
    section = frame.locator(".at-cursor")
    assert section.get_attribute("aria-busy") == "false" and len(facts(frame)) > 2
    frame.get_by_role("button", name="Next event").click()
    frame.locator(".at-cursor[aria-busy='true']").wait_for()
    assert len(facts(frame)) > 2  # those of before, until there are others
    held.pop().fulfill(
        content_type="application/json",
        headers={"X-Memory-Status": "400"},
        body='{"error": "It is broken."}',
    )
    settle(watched.page)
    assert section.get_attribute("aria-busy") == "false" and facts(frame) == {}
    assert section.get_by_role("alert").inner_text() == "It is broken."
    assert frame.locator(".at-cursor-what > :not(button):not([role='alert'])").count() == 0
    watched.page.unroute("**/plugin/memory/events?*")
    frame.get_by_role("button", name="Next event").click()
    settle(watched.page)
    assert section.get_by_role("alert").count() == 0 and len(facts(frame)) > 2


def test_rounded_bytes_are_told_beside_what_was_asked_for(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    recording = recorded(shared_data, "tpu")
    life = next(
        life
        for life in recording.table("allocations").to_pylist()
        if life["device"] == 0 and life["birth"] is not None and life["requested"] != life["size"]
    )
    frame = opened(watched, profiled, "tpu", device="0", at=life["birth"])
    assert exact(frame, "requested") == life["requested"] < life["size"]
    frame = opened(watched, profiled, "tpu", device="0", at=-1)
    assert "Before the first event" in happened(frame)
    assert facts(frame) == {}
    frame.get_by_role("button", name="Next event").click()
    settle(watched.page)
    assert "event 0 · " in happened(frame)


def test_a_memory_timeline_has_its_categories(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    recording = recorded(shared_data, "timeline")
    life = next(
        life
        for life in recording.table("allocations").to_pylist()
        if life["birth"] is not None and life["category"] == Category.TEMPORARY
    )
    device = recording.devices[life["device"]]
    frame = opened(
        watched, profiled, "timeline", device=device.key, table="events", at=life["birth"]
    )
    assert "Allocated" in happened(frame)
    assert facts(frame)["category"] == "temporary"
    assert frame.locator(".event-row.is-current").count() == 1
