"""What is chosen in Allocations and in Source is found in the Profile, on real snapshots."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.charting import HEADROOM, Chart
from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.browser.real import show, span
from tests.browser.recorded import recorded
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

pytestmark = pytest.mark.framed

NAME = "oom_expandable_3gpu"


@pytest.fixture(scope="module")
def file(shared_data: Path) -> File:
    return File(shared_data / "snapshots" / f"{NAME}.pickle")


def go(watched: Watched, frame: FrameLocator, view: str) -> None:
    frame.get_by_role("tab", name=view).click()
    settle(watched.page)


def test_what_is_chosen_in_allocations_is_found_in_the_profile(
    watched: Watched, real_server: TensorBoardServer, shared_data: Path, file: File
) -> None:
    read = recorded(shared_data, NAME)
    around = (file.peak - 30, file.peak + 30)
    shown = show(watched, real_server, read, by="stack", window=f"{around[0]}..{around[1]}")
    frame = shown.frame
    shown.drag((0.25, 0.5), (0.75, 0.503))
    shown.wait()
    begin, end = span(watched, "window")
    assert around[0] < begin < file.peak < end < around[1]
    # Those born first are below the others; what lives for one event only is on top.
    pile = sorted(
        file.alive(begin + 2), key=lambda life: (life.death - life.birth == 1, life.birth)
    )
    tops = itertools.accumulate(life.bytes for life in pile)
    of, top = max(zip(pile, tops, strict=True), key=lambda pair: pair[0].bytes)
    most = sum(life.bytes for life in file.alive(file.peak)) * HEADROOM
    shown.click(2.5 / (end - begin), (top - of.bytes / 2) / most)
    settled_address(watched.page, "p.memory.allocation=")
    settle(watched.page)
    frame.get_by_label("Find allocations").fill("size>10MiB")
    settle(watched.page)
    chosen = words_of(watched.page.url)
    at = int(chosen["at"])
    assert at == begin + 2

    go(watched, frame, "Profile")
    chart = Chart(watched.page, frame)
    highest = max(
        range(begin, end), key=lambda event: sum(life.bytes for life in file.alive(event))
    )
    assert chart.highest() == sum(life.bytes for life in file.alive(highest))
    alive = file.alive(at)
    said = frame.locator(".breakdown .at .quiet")
    said.filter(has_text=re.compile(rf"in {len(alive)}\s?blocks?$")).wait_for()
    # Its group is marked in the table: what has its stack, and no other.
    row = frame.locator("table.groups tr.holds")
    row.wait_for()
    same = [life.bytes for life in alive if life.stack == of.stack]
    total = row.locator("[title*=byte]").first.get_attribute("title") or ""
    assert int(re.sub(r"\D", "", total)) == sum(same)
    assert hex(of.address) in frame.locator(".inspector").inner_text()
    # Nothing is lost on the way there and back.
    assert {**words_of(watched.page.url), "view": "allocations"} == {
        **chosen,
        "view": "allocations",
    }
    go(watched, frame, "Allocations")
    assert frame.get_by_label("Find allocations").input_value() == "size>10MiB"


def test_what_is_chosen_in_source_is_found_in_the_profile(
    watched: Watched, real_server: TensorBoardServer, file: File
) -> None:
    asked = {"view": "source", "axis": "event", "device": "0"}
    address = real_server.url + link(NAME, "snapshot.pickle", **asked)
    frame = open_page(watched.page, address)
    lines = frame.locator("table.lines tr:has(td.line button.deed)")
    lines.first.wait_for()
    chart = Chart(watched.page, frame)
    chart.drag(0.3, 0.9)
    chart.wait()
    watched.page.mouse.click(*chart.point(0.6))
    settled_address(watched.page, "p.memory.at=")
    chosen = words_of(watched.page.url)
    begin, end = map(int, chosen["window"].split(".."))
    at = int(chosen["at"])
    assert begin < at < end
    assert at != file.peak
    settle(watched.page)
    # The first is of a file of the user's own, the heading above it tells which.
    name = frame.locator("table.lines tr.file td").first.get_attribute("title") or ""
    number = re.search(r"\d+", lines.first.locator("td.line").inner_text())
    assert number
    lines.first.locator("button.deed").click()
    settle(watched.page)

    def has(stack: tuple[tuple[str, str, int], ...]) -> bool:
        return any(path == name and line == int(number[0]) for _, path, line in stack)

    alive = file.alive(at)
    hits = [life.bytes for life in alive if has(life.stack)]
    assert 0 < len(hits) < len(alive)
    heading = frame.locator("[data-testid=weighed-heading] [title]")
    assert int(re.sub(r"\D", "", heading.get_attribute("title") or "")) == sum(hits)
    go(watched, frame, "Profile")
    said = frame.locator(".breakdown .at .quiet")
    said.filter(has_text=re.compile(rf"in {len(hits)}\s?blocks?$")).wait_for()
    shown = {key: words_of(watched.page.url).get(key) for key in ("window", "at")}
    assert shown == {"window": chosen["window"], "at": chosen["at"]}
    typed = frame.get_by_role("searchbox", name="Filter allocations")
    assert Path(name).name.partition(".")[0] in typed.input_value()
    typed.fill("")
    settle(watched.page)
    said.filter(has_text=re.compile(rf"in {len(alive)}\s?blocks?$")).wait_for()
