"""The list of HLO modules of the Profile, on real XPlanes: cells, order, search, cursor, clicks."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tb_memory_plugin.views import modules
from tests.browser.charting import Chart
from tests.browser.looking import settle, words_of
from tests.browser.test_lists import cells, shown
from tests.browser.xplanes import FILES, opened

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def runs(shared_data: Path, run: str, device: str, **question: Any) -> list[dict[str, Any]]:
    recording = load(shared_data / FILES[run]).recording
    found: list[dict[str, Any]] = modules.page(
        recording, recording.device(device), limit=1000, **question
    )["rows"]
    return found


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return [int(row["id"]) for row in rows]


def total(frame: FrameLocator) -> str:
    return frame.get_by_test_id("modules-total").inner_text().replace("\u00a0", " ")


def exact(frame: FrameLocator, column: int) -> list[int]:
    """Whole bytes behind the cells of a column."""
    found = frame.locator(f"table.list tr[data-row] td:nth-child({column})")
    titles = found.evaluate_all("cells => cells.map(cell => cell.title)")
    return [int("".join(filter(str.isdigit, title))) for title in titles]


def micros(ns: int) -> str:
    digits = f"{round(ns / 1000) % 1_000_000:06d}"
    return f"{round(ns / 1000) // 1_000_000}.{digits[:3]}\u202f{digits[3:]} s"


def test_cells_order_and_search(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, everywhere: Any
) -> None:
    rows = runs(shared_data, "tpu", "0")
    frame = opened(watched, profiled, "tpu", device="0")
    frame.get_by_role("radio", name="Modules").click()
    settle(watched.page)
    assert words_of(watched.page.url)["table"] == "modules"
    assert total(frame) == "105 runs of 4 modules"
    heads = frame.locator("table.list th").all_inner_texts()
    assert [head.strip("▾▴ \n") for head in heads] == [
        "Module",
        "Program id",
        "Device",
        "Start",
        "End",
        "Duration",
        "In use at start",
        "Highest",
    ]
    expected = rows[:100]
    assert shown(frame) == ids(expected)
    assert cells(frame, 1) == [row["name"] for row in expected]
    assert cells(frame, 2) == [row["program"] for row in expected]
    assert set(cells(frame, 3)) == {"TPU:0"}
    assert cells(frame, 4) == [micros(row["begin"]) for row in expected]
    assert cells(frame, 5) == [micros(row["end"]) for row in expected]
    assert exact(frame, 7) == [row["before"] for row in expected]
    assert exact(frame, 8) == [row["peak"] for row in expected]
    assert cells(frame, 8)[0] == "66.00 KiB"
    everywhere(watched.page, "modules")
    watched.page.set_viewport_size({"width": 1400, "height": 900})

    for name, column in (("Duration", "duration"), ("Highest", "peak"), ("Program id", "program")):
        frame.get_by_role("button", name=name).click()
        settle(watched.page)
        falling = runs(shared_data, "tpu", "0", sort=f"-{column}")
        assert shown(frame) == ids(falling[:100]) != ids(rows[:100])
        frame.get_by_role("button", name=name).click()
        settle(watched.page)
        assert shown(frame) == ids(falling[::-1][:100])
        assert words_of(watched.page.url)["modules"] == column
    frame.get_by_role("button", name="Next page").click()
    settle(watched.page)
    assert len(shown(frame)) == 5

    frame.get_by_label("Find a module").fill("psum")
    settle(watched.page)
    assert total(frame) == "3 runs of 1 module"
    assert set(cells(frame, 1)) == {"jit__psum"}
    frame.get_by_label("Find a module").fill("/(/")
    settle(watched.page)
    assert "not a regular expression" in frame.locator(".filter .wrong").inner_text()


def test_a_window_the_cursor_and_csv(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    key = "GPU_0_bfc"
    rows = runs(shared_data, "mi300", key)
    recording = load(shared_data / FILES["mi300"]).recording
    times = recording.values("events", "time", recording.device(key)).tolist()
    running = {
        event: [row for row in rows if row["begin"] < max(until, time + 1) and row["end"] > time]
        for event, (time, until) in enumerate(pairwise([*times, 1 << 62]))
    }
    event = next(event for event, those in running.items() if those)
    window = (times[len(times) // 3], times[len(times) // 2])
    frame = opened(
        watched,
        profiled,
        "mi300",
        device=key,
        axis="time",
        window=f"{window[0]}..{window[1]}",
        table="modules",
        modules="-duration",
        at=event,
    )
    within = [row for row in rows if row["begin"] < window[1] and row["end"] >= window[0]]
    assert 0 < len(within) < len(rows)
    assert sorted(shown(frame)) == sorted(ids(within))
    with watched.page.expect_download() as download:
        frame.get_by_title("Download the whole list").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    listed = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["id"]) for row in listed] == shown(frame)
    assert [int(row["duration"]) for row in listed] == sorted(
        (row["duration"] for row in within), reverse=True
    )

    frame.get_by_role("button", name="at the cursor").click()
    settle(watched.page)
    assert words_of(watched.page.url)["running"] == "cursor"
    assert shown(frame) == ids(running[event]) != []
    assert "HLO modules at the cursor" in frame.locator("section.breakdown h2").inner_text()

    idle = next(event for event, those in running.items() if not those)
    frame = opened(
        watched, profiled, "mi300", device=key, table="modules", running="cursor", at=idle
    )
    assert shown(frame) == []
    assert "No module runs at the cursor" in frame.locator("table.list").inner_text()


@pytest.mark.parametrize("axis", ["time", "event"])
def test_a_click_zooms_to_a_run_and_another_goes_back(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, axis: str
) -> None:
    rows = runs(shared_data, "tpu", "0", sort="-duration")
    frame = opened(
        watched, profiled, "tpu", device="0", axis=axis, table="modules", modules="-duration"
    )
    Chart(watched.page, frame)
    frame.locator("table.list tr[data-row]").nth(1).click()
    settle(watched.page)
    words = words_of(watched.page.url)
    begin, end = map(int, words["window"].split(".."))
    ends = ("begin", "end") if axis == "time" else ("begin_event", "end_event")
    first, last = (rows[1][name] for name in ends)
    assert begin <= first and end >= last
    assert end - begin <= 1.03 * (last - first) + 3
    assert words["span"] == rows[1]["id"]
    card = frame.locator(".inspector").inner_text()
    assert rows[1]["name"] in card and "HLO module · TPU:0" in card
    row = frame.locator(f"table.list tr[data-id='{rows[1]['id']}']")
    assert row.get_attribute("aria-selected") == "true"
    row.click()
    settle(watched.page)
    assert "window" not in words_of(watched.page.url)

    # The same with the keyboard.
    row.focus()
    watched.page.keyboard.press("Enter")
    settle(watched.page)
    assert words_of(watched.page.url)["window"] == words["window"]


def test_where_no_module_is_known_there_is_no_list(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    frame = opened(watched, profiled, "bert", table="modules")
    assert frame.get_by_role("radio", name="Modules").count() == 0
    assert frame.get_by_role("radio", name="Breakdown").get_attribute("aria-checked") == "true"
    assert frame.locator("table.groups tr[data-row]").count() > 0
