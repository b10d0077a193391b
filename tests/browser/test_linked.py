"""What is chosen in one view is found in the others, both ways, on a snapshot of a real GPU."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tb_memory_plugin
from tests.browser.charting import Chart
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.browser.picturing import Picture
from tests.browser.weighed import Weighed, has
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

MIB = 1 << 20
NAME = "small_train"
CURSOR = "#1565c0"
#: Bytes that were asked for, in the map of segments.
REQUESTED = "#4477aa"
#: What the least allocation has that passes the filter.
LEAST = 64 * MIB

_HAS = """(canvas, colour) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  let found = 0;
  for (let at = 0; at < data.length; at += 4)
    if (data[at] === r && data[at + 1] === g && data[at + 2] === b) found += 1;
  return found;
}"""

#: Of each file of the table of lines its name, whether it is marked and unfolded, its marked lines.
_MARKED = """all => all.filter(each => each.querySelector("tr.file")).map(each => ({
  name: each.querySelector("tr.file td").title,
  holds: each.querySelector("tr.file").matches(".holds"),
  open: each.querySelector("[aria-expanded]").ariaExpanded === "true",
  lines: [...each.querySelectorAll("tr.holds td.line")].map(line => parseInt(line.innerText)),
}))"""

#: Types ``second`` into a field as the pause after ``first`` ends, before that is drawn.
_TYPE_ON = """(field, [first, second]) => {
  const type = (text) => {
    field.value = text;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms) => wait(() => {
    run();
    if (ms !== 300) return;
    globalThis.setTimeout = wait;
    type(second);
  }, ms);
  type(first);
}"""


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("linked")
    (folder / NAME).mkdir()
    real = shared_data / "snapshots" / f"{NAME}.pickle"
    (folder / NAME / "snapshot.pickle").symlink_to(real)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("linked-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


@pytest.fixture(scope="module")
def facts(shared_data: Path) -> dict[str, Any]:
    read = json.loads((shared_data / "snapshots" / "facts.json").read_text())
    found: dict[str, Any] = read[f"{NAME}.pickle"]["devices"]["0"]
    return found


@pytest.fixture(scope="module")
def truth(shared_data: Path) -> Weighed:
    return Weighed.of(shared_data / "snapshots" / f"{NAME}.pickle")


@pytest.fixture(scope="module")
def rows(shared_data: Path) -> list[dict[str, Any]]:
    """The allocations, by id."""
    read = tb_memory_plugin.load(shared_data / "snapshots" / f"{NAME}.pickle")
    return list(read.table("allocations").to_pylist())


def show(watched: Watched, server: TensorBoardServer, view: str, **words: object) -> FrameLocator:
    asked = {"view": view, "axis": "event", "device": "0", **words}
    return open_page(watched.page, server.url + link(NAME, "snapshot.pickle", **asked))


def go(watched: Watched, frame: FrameLocator, view: str) -> None:
    frame.get_by_role("tab", name=view).click()
    settle(watched.page)


def words(watched: Watched) -> dict[str, str]:
    settle(watched.page)
    return words_of(watched.page.url)


def passing(frame: FrameLocator) -> tuple[int, int]:
    """Blocks and bytes that pass the filter, as the map of segments says."""
    told = frame.get_by_test_id("segments-passing")
    told.wait_for()
    blocks = re.match(r"([\d\s\u202f]+) of", told.inner_text())
    assert blocks
    size = told.locator("[data-exact=passing]").get_attribute("data-bytes")
    return int(re.sub(r"\D", "", blocks[1])), int(size or "")


def test_what_is_chosen_in_the_profile_is_found_in_the_other_views(
    watched: Watched,
    server: TensorBoardServer,
    facts: dict[str, Any],
    truth: Weighed,
    rows: list[dict[str, Any]],
) -> None:
    peak = facts["allocated_peak_event"]
    frame = show(watched, server, "profile", by="stack")
    chart = Chart(watched.page, frame)
    chart.drag(0.3, 0.8)
    chart.wait()
    frame.get_by_role("searchbox", name="Filter allocations").fill(f"size>={LEAST}")
    settle(watched.page)
    table = frame.locator("table.groups")
    table.locator("tr[data-row] [data-fold]").first.click()
    table.locator("tr[data-row].inner").first.click()
    inspector = frame.locator(".inspector")
    inspector.locator(".ways").first.wait_for()
    settled_address(watched.page, "p.memory.allocation")
    chosen = words(watched)
    of = rows[int(chosen["allocation"])]
    assert of["requested"] >= LEAST
    begin, end = map(int, chosen["window"].split(".."))
    assert begin <= peak < end

    lives = [life for life in truth.lives if life.bytes >= LEAST]
    go(watched, frame, "Allocations")
    shown = Picture(watched.page, frame)
    highest = max(
        range(begin, end), key=lambda event: sum(life.bytes * life.alive(event) for life in lives)
    )
    assert shown.highest()[0] == sum(life.bytes * life.alive(highest) for life in lives)
    assert f"size>={LEAST}" in frame.get_by_test_id("filtered").inner_text()
    assert hex(of["address"]) in inspector.inner_text()

    go(watched, frame, "Segments")
    alive = [life for life in lives if life.alive(peak)]
    assert passing(frame) == (len(alive), sum(life.bytes for life in alive))
    assert hex(of["address"]) in inspector.inner_text()
    # The selected block is framed in the map, and in sight.
    danger = frame.locator(".segments").evaluate(
        "element => getComputedStyle(element).getPropertyValue('--danger').trim()"
    )
    assert frame.get_by_test_id("segments-canvas").evaluate(_HAS, danger) > 10

    go(watched, frame, "Flame graph")
    heading = frame.get_by_test_id("weighed-heading")
    heading.wait_for()
    total = heading.locator("[title]").get_attribute("title") or ""
    assert int(re.sub(r"\D", "", total)) == sum(life.bytes for life in alive)
    # Its stack is outlined from the first frame on.
    assert frame.get_by_test_id("flame-canvas").evaluate(_HAS, CURSOR) > 100
    frame.get_by_role("radio", name="allocations", exact=True).click()
    born = sum(begin <= life.birth < end for life in lives)
    heading.filter(has_text=re.compile(rf"{born}\s?allocations")).wait_for()
    go(watched, frame, "Source")
    heading.filter(has_text=re.compile(rf"{born}\s?allocations")).wait_for()
    # The files, and of those that are unfolded the lines, that its stack goes through are marked.
    marked = frame.locator("table.lines tbody").evaluate_all(_MARKED)
    stack = truth.lives[int(chosen["allocation"])].stack
    assert not isinstance(stack, str)
    holding = {file["name"] for file in marked if file["holds"]}
    assert holding == {path or "no file" for _, path, _ in stack}
    assert any(file["lines"] for file in marked)
    for file in marked:
        through = {line for _, path, line in stack if path == file["name"]}
        assert {*file["lines"]} == (through if file["open"] else set())
    assert not all(file["holds"] for file in marked)
    frame.get_by_role("radio", name="kept").click()
    settle(watched.page)
    kept = [life.bytes for life in lives if begin <= life.birth < end <= life.death]
    total = heading.locator("[title]").get_attribute("title") or ""
    assert int(re.sub(r"\D", "", total)) == sum(kept)
    left = {key: value for key, value in words(watched).items() if key != "of"}
    assert {**left, "view": "profile"} == {**chosen, "view": "profile"}


def test_what_is_chosen_in_segments_is_found_in_the_profile(
    watched: Watched,
    server: TensorBoardServer,
    facts: dict[str, Any],
    truth: Weighed,
    rows: list[dict[str, Any]],
) -> None:
    event = facts["allocated_peak_event"] - 3
    frame = show(watched, server, "segments", at=event, by="stack", window="500..3000")
    frame.get_by_test_id("segments-state").wait_for()
    # Largest blocks fill whole lines of the map: the first one is under its upper left corner.
    box = frame.get_by_test_id("segments-map").bounding_box()
    assert box
    watched.page.mouse.click(box["x"] + 30, box["y"] + 34)
    settled_address(watched.page, "p.memory.allocation")
    chosen = words(watched)
    of = rows[int(chosen["allocation"])]
    assert of["birth"] <= event
    assert of["death"] is None or of["death"] > event
    frame.locator(f".event-row[data-event='{event}']").click()

    go(watched, frame, "Profile")
    inspector = frame.locator(".inspector")
    assert words(watched)["at"] == str(event)
    assert words(watched)["window"] == "500..3000"
    alive = [life for life in truth.lives if life.alive(event)]
    said = frame.locator(".breakdown .at .quiet")
    said.filter(has_text=re.compile(rf"in {len(alive)}\s?blocks?$")).wait_for()
    go(watched, frame, "Segments")
    frame.get_by_test_id("segments-state").locator(f"[data-event='{event}']").wait_for()
    watched.page.mouse.click(box["x"] + 30, box["y"] + 34)
    settled_address(watched.page, f"p.memory.allocation={chosen['allocation']}")
    go(watched, frame, "Profile")
    # Its group is marked in the table, and its life over the chart.
    frame.locator("table.groups tr.holds").wait_for()
    assert hex(of["address"]) in inspector.inner_text()
    inspector.get_by_role("button", name="its life").click()
    begin, end = map(int, words(watched)["window"].split(".."))
    assert begin <= of["birth"]
    assert end >= (of["death"] or facts["events"])


def test_what_is_chosen_in_the_flame_graph_is_found_in_the_profile(
    watched: Watched, server: TensorBoardServer, facts: dict[str, Any], truth: Weighed
) -> None:
    frame = show(watched, server, "flame", calls="inverted.unfolded")
    chart = Chart(watched.page, frame)
    chart.drag(0.25, 0.75)
    begin, end = map(int, words(watched)["window"].split(".."))
    watched.page.mouse.click(*chart.point(0.5))
    settled_address(watched.page, "p.memory.at=")
    event = int(words(watched)["at"])
    assert begin <= event < end
    alive = [life for life in truth.lives if life.alive(event)]
    total = sum(life.bytes for life in alive)
    settle(watched.page)
    heading = frame.locator("[data-testid=weighed-heading] [title]")
    assert int(re.sub(r"\D", "", heading.get_attribute("title") or "")) == total
    # Down to where stacks part: what has that frame, and no other, is in the profile then.
    rows = frame.locator("table.calls tbody tr:has(td.name:not([title=''])):has(button)")
    for _ in range(30):
        if rows.count() != 1:
            break
        rows.first.locator("button").click()
        settle(watched.page)
    name = (rows.first.locator("td.name").get_attribute("title") or "").split("\n")[0]
    rows.first.locator("button").click()
    settle(watched.page)
    frame.get_by_role("button", name="filter by this frame").click()
    settle(watched.page)
    typed = frame.get_by_role("searchbox", name="Filter allocations").input_value()
    asked = re.compile(typed.removeprefix("stack:/").removesuffix("/").replace("\\/", "/"))
    hits = [life for life in alive if has(life.stack, asked)]
    assert 0 < len(hits) < len(alive)
    assert name in typed.replace("\\", "")
    go(watched, frame, "Profile")
    said = frame.locator(".breakdown .at .quiet")
    said.filter(has_text=re.compile(rf"in {len(hits)}\s?blocks?$")).wait_for()
    assert words(watched)["window"] == f"{begin}..{end}"
    assert words(watched)["at"] == str(event)


def test_the_map_shows_what_passes_and_dims_the_rest(
    watched: Watched,
    server: TensorBoardServer,
    truth: Weighed,
    facts: dict[str, Any],
    everywhere: Any,
) -> None:
    last = facts["events"] - 1
    frame = show(watched, server, "segments", at=last)
    frame.get_by_test_id("segments-state").wait_for()
    canvas = frame.get_by_test_id("segments-canvas")
    frame.get_by_test_id("segments-map").hover(position={"x": 1, "y": 5})
    settle(watched.page)
    whole = canvas.evaluate(_HAS, REQUESTED)
    assert whole > 500
    assert frame.get_by_test_id("segments-passing").count() == 0

    def narrowed(filter: str) -> int:
        go(watched, frame, "Profile")
        frame.get_by_role("searchbox", name="Filter allocations").fill(filter)
        settle(watched.page)
        go(watched, frame, "Segments")
        return int(canvas.evaluate(_HAS, REQUESTED))

    alive = [life.bytes for life in truth.lives if life.alive(last)]
    assert narrowed("size>0") == whole
    assert passing(frame) == (len(alive), sum(alive))
    middle = sorted(alive)[len(alive) // 2]
    assert 0 < narrowed(f"size>{middle}") < whole
    large = [size for size in alive if size > middle]
    assert passing(frame) == (len(large), sum(large))
    assert narrowed("size>1TiB") == 0
    assert passing(frame) == (0, 0)
    assert narrowed("") == whole
    assert frame.get_by_test_id("segments-passing").count() == 0
    narrowed(f"size>{middle}")
    everywhere(watched.page, "dimmed")


def test_what_is_typed_as_a_pause_ends_stays(watched: Watched, server: TensorBoardServer) -> None:
    frame = show(watched, server, "profile")
    field = frame.get_by_role("searchbox", name="Filter allocations")
    field.evaluate(_TYPE_ON, ["size>1MiB", "size>2MiB"])
    settled_address(watched.page, "p.memory.filter=size%3E2MiB")
    assert field.input_value() == "size>2MiB"
