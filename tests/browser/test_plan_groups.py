"""A plan by kind, operation, padding and line of code: colours, searches, filters, and its axis."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import link, open_page, settle
from tests.browser.picturing import Picture
from tests.browser.test_plan_picture import pale
from tests.fixtures.padded import Planned, padded
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

FILE = "padded.hlo_proto.pb"
PLAN = padded()[1]
#: Bytes below each buffer: arguments lie at the bottom.
BELOW = [sum(each.size for each in PLAN[:place]) for place in range(len(PLAN))]
TOP = sum(each.size for each in PLAN)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("grouped")
    (folder / "run").mkdir()
    (folder / "run" / FILE).write_bytes(padded()[0].bytes())
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("grouped-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def alive(event: int) -> list[int]:
    """Places in the plan of what is alive after an event."""
    return [
        place
        for place, each in enumerate(PLAN)
        if (each.birth is None or each.birth <= event)
        and (each.death is None or each.death > event)
    ]


def picture(watched: Watched, server: TensorBoardServer, **words: object) -> Picture:
    asked = {"view": "allocations", "device": "plan:0", "layout": "address", **words}
    shown = Picture(watched.page, open_page(watched.page, server.url + link("run", FILE, **asked)))
    watched.page.mouse.move(5, 5)
    settle(watched.page)
    return shown


def legend(frame: FrameLocator) -> dict[str, str]:
    """Colours of groups, by their labels in small letters."""
    more = frame.locator(".timeline-more")
    if more.count():
        more.click()
    found = frame.locator(".timeline-groups li button:not(.timeline-more)").evaluate_all(
        """all => all.map((one) => [
          one.title.toLowerCase(),
          getComputedStyle(one.querySelector("i")).backgroundColor.match(/\\d+/g).map(Number),
        ])"""
    )
    return {label: "#" + "".join(f"{part:02x}" for part in rgb) for label, rgb in found}


def seen(shown: Picture, event: int, events: int = 78) -> dict[int, set[str]]:
    """The colours inside of every buffer alive after an event that is tall enough, by its place."""
    pixels = shown.pixels()
    column = pixels[int((event + 0.5) * len(pixels) / events)]
    scale = len(column) / TOP
    found = {}
    for place in alive(event):
        low, high = BELOW[place] * scale, (BELOW[place] + PLAN[place].size) * scale
        if high - low > 6:
            found[place] = set(column[int(low) + 2 : int(high) - 1])
    return found


def op(place: int) -> str:
    return f"jit(train)/layer{place % 4}/{PLAN[place].opcode}"


@pytest.mark.parametrize(
    ("by", "label"),
    [
        ("region", lambda at: "parameter" if PLAN[at].birth is None else "temporary"),
        ("annotation", lambda at: PLAN[at].opcode),
        ("op", op),
        ("rounding", lambda at: "none" if PLAN[at].size == PLAN[at].unpadded else "90 % and more"),
    ],
    ids=["kind", "opcode", "op", "padding"],
)
def test_buffers_have_the_colours_of_what_is_grouped_by(
    watched: Watched, server: TensorBoardServer, by: str, label: Callable[[int], str]
) -> None:
    shown = picture(watched, server, by=by)
    colours = legend(shown.frame)
    found = 0
    for event in (30, 50, 70):
        for place, colour in seen(shown, event).items():
            wanted = colours[label(place)]
            held = {pale(wanted)} if PLAN[place].birth is None else set()
            assert colour == {wanted} | held, (event, PLAN[place].name)
            found += 1
    assert found > 12
    assert len({colours[label(place)] for place in range(len(PLAN))}) > 1


def test_a_search_makes_what_it_finds_stand_out(
    watched: Watched, server: TensorBoardServer
) -> None:
    for text, matches in (
        ("dot", lambda each: each.opcode == "dot"),
        (r"/^fusion\.[12]/", lambda each: re.match(r"fusion\.[12]", each.name) is not None),
    ):
        shown = picture(watched, server, by="region", find=text)
        colours = legend(shown.frame)
        told = shown.frame.get_by_test_id("allocations-hits")
        hits = [each for each in PLAN if matches(each)]
        assert told.inner_text().startswith(f"{len(hits)}\u00a0hits,")
        exact = told.locator("span[title]").first.get_attribute("title") or ""
        assert int("".join(filter(str.isdigit, exact))) == sum(each.size for each in hits)
        found = {True: 0, False: 0}
        for event in (30, 50, 64, 70):
            for place, colour in seen(shown, event).items():
                if PLAN[place].birth is None:
                    continue
                is_hit = matches(PLAN[place])
                assert (colours["temporary"] in colour) == is_hit, (text, PLAN[place].name)
                found[is_hit] += 1
        assert min(found.values()) > 0, (text, found)


def table(frame: FrameLocator) -> list[tuple[str, int]]:
    rows = frame.locator("table.groups tr[data-row]").all()
    return [
        (
            row.locator("td").first.inner_text().strip().lstrip("▸▾ ").strip(),
            int(re.sub(r"\D", "", row.locator("td.number").first.get_attribute("title") or "")),
        )
        for row in rows
    ]


def test_a_plan_is_grouped_by_line_of_code_and_narrowed_by_a_filter(
    watched: Watched, server: TensorBoardServer
) -> None:
    words: dict[str, object] = {"by": "stack", "at": 64}
    frame = open_page(watched.page, server.url + link("run", FILE, **words))
    settle(watched.page)
    ((line, total),) = table(frame)
    assert "train.py:7" in line
    assert total == sum(PLAN[place].size for place in alive(64))
    frame.get_by_label("Filter").fill("op:dot size>100KiB")
    settle(watched.page)
    kept = [
        PLAN[place]
        for place in alive(64)
        if PLAN[place].opcode == "dot" and PLAN[place].size > 100 * 1024
    ]
    assert [size for _, size in table(frame)] == [sum(each.size for each in kept)]
    assert len(kept) > 0

    # The list has those of the whole program.
    frame.get_by_role("radio", name="Buffers").click()
    settle(watched.page)
    rows = frame.locator("tr[data-row] td.name").all_inner_texts()
    wanted: list[Planned] = [
        each for each in PLAN if each.opcode == "dot" and each.size > 100 * 1024
    ]
    assert sorted(row.strip() for row in rows) == sorted(each.name for each in wanted)


def test_the_axis_is_said_to_be_program_order(watched: Watched, server: TensorBoardServer) -> None:
    frame = open_page(watched.page, server.url + link("run", FILE))
    settle(watched.page)
    for view in ("Memory Viewer", "Allocations"):
        frame.get_by_role("tab", name=view).click()
        frame.get_by_text("x is program order, not time").wait_for()
        settle(watched.page)
