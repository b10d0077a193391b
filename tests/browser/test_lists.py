"""The lists of the Profile, on real files: every allocation, and what operators did."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from tb_memory_plugin.api import load
from tests.browser.charting import Chart
from tests.browser.looking import settle, words_of
from tests.browser.xplanes import FILES, opened

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

GPU = "GPU_4_bfc"


def lives_of(shared_data: Path, run: str, device: str) -> list[dict[str, Any]]:
    recording = load(shared_data / FILES[run]).recording
    index = recording.device(device).index
    rows = recording.table("allocations").to_pylist()
    return [{"id": place, **row} for place, row in enumerate(rows) if row["device"] == index]


def cells(frame: FrameLocator, column: int) -> list[str]:
    found = frame.locator(f"table.list tr[data-row] td:nth-child({column})").all_inner_texts()
    return [text.replace("\u00a0", " ").strip() for text in found]


def shown(frame: FrameLocator) -> list[int]:
    """Ids of the rows in view."""
    rows = frame.locator("table.list tr[data-row]")
    return [int(id) for id in rows.evaluate_all("rows => rows.map(row => row.dataset.id)")]


def total(frame: FrameLocator) -> int:
    told = frame.get_by_test_id("lives-total").locator("[data-bytes]")
    return int(told.get_attribute("data-bytes") or -1)


def test_every_allocation(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, everywhere: Any
) -> None:
    lives = lives_of(shared_data, "gpus", GPU)
    frame = opened(watched, profiled, "gpus", device=GPU, axis="event")
    frame.get_by_role("radio", name="Allocations").click()
    settle(watched.page)
    assert words_of(watched.page.url)["table"] == "allocations"
    assert total(frame) == sum(life["size"] for life in lives)
    assert "761 allocations and a sum" in frame.get_by_test_id("lives-total").inner_text().replace(
        "\u00a0", " "
    )
    assert cells(frame, 1)[0].endswith("(sum only)")
    by_size = sorted(lives, key=lambda life: (life["size"], life["id"]), reverse=True)
    assert shown(frame) == [life["id"] for life in by_size[:100]]
    everywhere(watched.page, "allocations")
    watched.page.set_viewport_size({"width": 1400, "height": 900})

    frame.get_by_role("button", name="Next page").click()
    settle(watched.page)
    assert shown(frame) == [life["id"] for life in by_size[100:200]]
    assert "101–200 of 762" in frame.get_by_test_id("page-place").inner_text()

    frame.get_by_label("At least so many bytes").fill("1 MiB")
    frame.get_by_label("at most so many bytes").fill("2MiB")
    settle(watched.page)
    within = [life for life in by_size if 1 << 20 <= life["size"] <= 2 << 20]
    assert shown(frame) == [life["id"] for life in within[:100]]
    assert total(frame) == sum(life["size"] for life in within)
    words = words_of(watched.page.url)
    assert (words["least"], words["most"]) == (str(1 << 20), str(2 << 20))


def test_a_window_a_filter_and_csv(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path
) -> None:
    lives = lives_of(shared_data, "gpus", GPU)
    frame = opened(
        watched,
        profiled,
        "gpus",
        device=GPU,
        axis="event",
        window="300..400",
        table="allocations",
        filter="size>1KiB",
        lives="birth",
    )
    expected = [
        life["id"]
        for life in lives
        if (life["birth"] is None or life["birth"] < 400)
        and (life["death"] is None or life["death"] >= 300)
        and life["size"] > 1024
    ]
    assert shown(frame) == expected[:100]
    with watched.page.expect_download() as download:
        frame.get_by_title("Download the whole list").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert [int(row["id"]) for row in csv.DictReader(io.StringIO(text))] == expected


def test_what_is_alive_at_the_cursor(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, everywhere: Any
) -> None:
    lives = lives_of(shared_data, "gpus", GPU)

    def alive(at: int) -> list[dict[str, Any]]:
        found = [
            life
            for life in lives
            if (life["birth"] is None or life["birth"] <= at)
            and (life["death"] is None or life["death"] > at)
        ]
        return sorted(found, key=lambda life: (life["size"], life["id"]), reverse=True)

    of_window = {"device": GPU, "axis": "event", "window": "10..20", "table": "allocations"}
    frame = opened(watched, profiled, "gpus", **of_window, at=300)
    everything = len(shown(frame))
    frame.get_by_role("button", name="at the cursor").click()
    settle(watched.page)
    assert words_of(watched.page.url)["alive"] == "cursor"
    assert "Allocations at the cursor" in frame.locator("section.breakdown h2").inner_text()
    expected = alive(300)
    assert shown(frame) == [life["id"] for life in expected[:100]]
    assert len(expected) != everything and total(frame) == sum(life["size"] for life in expected)
    heads = frame.locator("table.list th").all_inner_texts()
    column = {head.strip("▾▴ \n"): place for place, head in enumerate(heads, 1)}
    assert cells(frame, column["Region"]) == [life["region"] or "" for life in expected[:100]]
    assert cells(frame, column["Type, shape"]) == [
        " ".join(filter(None, (life["dtype"], life["shape"]))) for life in expected[:100]
    ]
    asked = frame.locator(f"table.list tr[data-row] td:nth-child({column['Requested']})")
    titles = asked.evaluate_all("cells => cells.map(cell => cell.title.replace(/\\D/g, ''))")
    assert titles == [str(life["requested"] or "") for life in expected[:100]]
    everywhere(watched.page, "alive")
    with watched.page.expect_download() as download:
        frame.get_by_title("Download the whole list").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    listed = [int(row["id"]) for row in csv.DictReader(io.StringIO(text))]
    assert listed == [life["id"] for life in expected]

    # It goes with the cursor, also by a link, and back to the window.
    frame = opened(watched, profiled, "gpus", **of_window, at=12, alive="cursor")
    assert shown(frame) == [life["id"] for life in alive(12)[:100]]
    frame.get_by_role("button", name="Next event").click()
    settle(watched.page)
    assert total(frame) == sum(life["size"] for life in alive(13))
    frame.get_by_role("button", name="at the cursor").click()
    settle(watched.page)
    assert "alive" not in words_of(watched.page.url) and len(shown(frame)) == everything


def test_a_row_is_marked_on_the_curve_and_explained(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    frame = opened(
        watched, profiled, "gpus", device=GPU, axis="event", table="allocations", lives="-duration"
    )
    overlay = frame.get_by_test_id("timeline-overlay")
    before = overlay.evaluate("canvas => canvas.toDataURL()")
    frame.locator("table.list tr[data-row]").nth(2).click()
    settle(watched.page)
    assert words_of(watched.page.url)["allocation"] == str(shown(frame)[2])
    assert "allocation" in frame.locator(".inspector").inner_text()
    assert overlay.evaluate("canvas => canvas.toDataURL()") != before


def test_operators(watched: Watched, profiled: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, profiled, "bert", device="1:0", by="op", table="operators")
    Chart(watched.page, frame)
    heads = frame.locator("table.list th").all_inner_texts()
    assert [head.strip("▾▴ \n") for head in heads] == [
        "Operator",
        "Calls",
        "Self increase",
        "Increase",
        "Self bytes",
        "Bytes",
        "Self count",
        "Count",
        "Peak",
    ]
    assert cells(frame, 1)[0] == "aten::empty"
    assert (cells(frame, 2)[0], cells(frame, 7)[0]) == ("75", "60")
    assert "outside any operator" in cells(frame, 1)
    everywhere(watched.page, "operators")
    watched.page.set_viewport_size({"width": 1400, "height": 900})

    frame.get_by_label("Find an operator").fill("gelu")
    settle(watched.page)
    assert cells(frame, 1) == ["aten::gelu"]
    frame.locator("table.list tr[data-row]").click()
    settle(watched.page)
    assert unquote(words_of(watched.page.url)["filter"]) == 'op="aten::gelu"'
    frame.get_by_role("radio", name="Allocations").click()
    settle(watched.page)
    assert "5 allocations" in frame.get_by_test_id("lives-total").inner_text().replace(
        "\u00a0", " "
    )


def test_operators_say_what_is_not_known(watched: Watched, profiled: TensorBoardServer) -> None:
    frame = opened(watched, profiled, "timeline", table="operators")
    said = frame.locator("section[aria-label^=Operators]").inner_text()
    assert "does not say in which operator anything was allocated" in said
    assert cells(frame, 1) == ["no operator known"]
