"""A plan with padding, as the Memory Viewer shows it: the line without it, a buffer explained."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.charting import Chart
from tests.browser.looking import link, open_page, settle
from tests.fixtures.padded import Planned, padded
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

FILE = "padded.hlo_proto.pb"
TEXT = "#212121"


@pytest.fixture(scope="module")
def plan() -> list[Planned]:
    return padded()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("padded")
    (folder / "run").mkdir()
    (folder / "run" / FILE).write_bytes(padded()[0].bytes())
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("padded-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def show(watched: Watched, server: TensorBoardServer, **words: object) -> FrameLocator:
    frame = open_page(watched.page, server.url + link("run", FILE, **words))
    frame.get_by_role("heading", name="jit_padded").wait_for()
    settle(watched.page)
    return frame


def alive(plan: list[Planned], event: int) -> list[Planned]:
    return [
        each
        for each in plan
        if (each.birth is None or each.birth <= event)
        and (each.death is None or each.death > event)
    ]


def test_the_line_without_padding_is_what_elements_take(
    watched: Watched, server: TensorBoardServer, plan: list[Planned]
) -> None:
    frame = show(watched, server)
    chart = Chart(watched.page, frame)
    for event in (6, 40, 70):
        chart.hover_event(event, (event + 0.5) / 78)
        wanted = alive(plan, event)
        assert chart.told("without padding") == sum(each.unpadded for each in wanted)
        assert chart.told("in use") == sum(each.size for each in wanted)

    share = 40.5 / 78
    drawn = chart.column(share).get(TEXT, 0)
    entry = frame.get_by_role("button", name="without padding")
    assert entry.get_attribute("aria-pressed") == "true"
    entry.click()
    settle(watched.page)
    assert drawn > 0
    assert chart.column(share).get(TEXT, 0) < drawn


def fact(frame: FrameLocator, word: str) -> int:
    """A number of bytes that the inspector tells."""
    text = frame.locator(f".inspector [data-fact='{word}']").inner_text()
    return int("".join(filter(str.isdigit, text)))


def near(frame: FrameLocator, side: str) -> list[tuple[str | None, str | None, int]]:
    """Names, shapes and bytes of the operands or users of what is selected."""
    boxes = frame.get_by_role("region", name="Operands and users").locator(
        f"> .near-{side} > li > .near-line > .near-box"
    )
    return [
        (
            box.get_attribute("data-name"),
            box.get_attribute("data-shape"),
            int(box.get_attribute("data-bytes") or 0),
        )
        for box in boxes.all()
    ]


def told(of: list[Planned]) -> list[tuple[str | None, str | None, int]]:
    return [(each.name, each.shape, each.unpadded) for each in of]


def test_a_buffer_is_explained_with_its_operands_and_users(
    watched: Watched, server: TensorBoardServer, plan: list[Planned]
) -> None:
    named = {each.name: each for each in plan}
    frame = show(watched, server, table="allocations")
    frame.locator("tr[data-row]").filter(has_text="dot.39").click()
    frame.get_by_role("region", name="Operands and users").wait_for()
    settle(watched.page)
    chosen = named["dot.39"]
    assert fact(frame, "Size") == chosen.size == 40 * 128 * 4 * 8
    assert fact(frame, "Unpadded") == chosen.unpadded == 40 * 8 * 8 * 4
    assert fact(frame, "Padding") == chosen.size - chosen.unpadded
    card = frame.get_by_label("Inspector").inner_text().replace("\u00a0", " ")
    assert "16×" in card
    assert "event 75 to the end of the program" in card
    assert near(frame, "operands") == told([named[name] for name in chosen.operands])
    users = [each for each in plan if "dot.39" in each.operands]
    assert near(frame, "users") == told(users)

    # Its only user takes eight; six of them stand there until the others are asked for.
    frame.locator(".near-users button[data-name='concatenate.1']").click()
    frame.locator(".near-box.is-here[data-name='concatenate.1']").wait_for()
    settle(watched.page)
    eight = told([named[name] for name in named["concatenate.1"].operands])
    assert near(frame, "operands") == eight[:6]
    frame.get_by_role("button", name="2 more").click()
    assert near(frame, "operands") == eight
    # A step further: the operands of an operand.
    frame.get_by_role("button", name="Operands of dot.39").click()
    beyond = frame.locator(".near-operands .near-operands .near-box")
    beyond.first.wait_for()
    names = [box.get_attribute("data-name") for box in beyond.all()]
    assert names == list(named["dot.39"].operands)


def test_buffers_are_listed_by_padding_and_kept_as_a_file(
    watched: Watched, server: TensorBoardServer, plan: list[Planned]
) -> None:
    frame = show(watched, server, table="allocations")
    heads = frame.locator("table.list thead th").all_inner_texts()
    words = [head.replace("▾", "").strip() for head in heads]
    wanted = {"Buffer", "Framework op", "Unpadded", "Padding", "Expansion", "Kind", "Source line"}
    assert wanted <= set(words)
    frame.locator("table.list thead").get_by_role("button", name="Padding").click()
    settle(watched.page)
    frame.locator("tr[data-row]").first.wait_for()
    shown = frame.locator("tr[data-row] td.name").all_inner_texts()
    falling = sorted(plan, key=lambda each: each.unpadded - each.size)
    padded = [each.name for each in falling if each.size > each.unpadded]
    assert len(padded) > 8
    assert [name.strip() for name in shown[: len(padded)]] == padded

    with watched.page.expect_download() as download:
        frame.get_by_role("link", name="CSV").click()
    lines = list(csv.DictReader(download.value.path().read_text().splitlines()))
    assert {
        (line["name"], int(line["size"]), int(line["unpadded"]), line["kind"]) for line in lines
    } == {
        (
            each.name,
            each.size,
            each.unpadded,
            "parameter" if each.opcode == "parameter" else "temporary",
        )
        for each in plan
    }
