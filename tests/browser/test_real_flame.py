"""The flame graph and the lines of code on snapshots of real GPUs, beside a plain walk of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.analysis.telling import is_library
from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page, settled_address, words_of
from tests.browser.picturing import Picture
from tests.browser.test_flame import LIBRARY, OWN, QUIET, ROW, Flame
from tests.browser.weighed import Frame, Weighed, has, said
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import Locator

#: A training loop with times, stacks 300 deep on three GPUs, and a model without times.
NAMES = ("small_train", "oom_expandable_3gpu", "no_time_us_segments")
WEIGHTS = {
    "alive": "alive",
    "highest": "highest",
    "× lifetime": "lifetime",
    "allocations": "allocations",
    "kept": "kept",
}


def serve(shared_data: Path, folder: Path, *arguments: str) -> TensorBoardServer:
    for name in NAMES:
        (folder / "runs" / name).mkdir(parents=True)
        target = shared_data / "snapshots" / f"{name}.pickle"
        (folder / "runs" / name / "snapshot.pickle").symlink_to(target)
    cache = {"TB_MEMORY_CACHE": str(folder / "cache")}
    return TensorBoardServer(folder / "runs", *arguments, environment=cache)


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots that may show code."""
    folder = tmp_path_factory.mktemp("real-flame")
    with serve(shared_data, folder, "--memory_show_source") as running:
        yield running


class Real:
    """A snapshot, what its stacks weigh, and a window of it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        facts = json.loads((folder / "facts.json").read_text())
        self.facts = facts[f"{name}.pickle"]["devices"]["0"]
        self.peak: int = self.facts["allocated_peak_event"]
        self.truth = Weighed.of(folder / f"{name}.pickle")
        events = len(self.truth.times)
        self.window = (events // 4, events * 3 // 4)

    def weights(self, of: str = "alive") -> Counter[Any]:
        return self.truth.weights(of, *self.window, self.peak)


@pytest.fixture(scope="module", params=NAMES)
def real(request: pytest.FixtureRequest, shared_data: Path) -> Real:
    return Real(request.param, shared_data / "snapshots")


def show(
    watched: Watched, server: TensorBoardServer, real: Real, view: str = "flame", **words: object
) -> Flame:
    begin, end = real.window
    asked = {"view": view, "axis": "event", "device": "0", "window": f"{begin}..{end}", **words}
    address = server.url + link(real.name, "snapshot.pickle", **asked)
    return Flame(watched.page, open_page(watched.page, address))


def whole(text: str | None) -> int:
    """The number before a unit: ``1 536 bytes``."""
    return int(re.sub(r"\D", "", text or ""))


def total(flame: Flame) -> int:
    return whole(
        flame.frame.locator("[data-testid=weighed-heading] [title]").get_attribute("title")
    )


def values(rows: Locator, column: int) -> list[int]:
    titles = "all => all.map((cell) => cell.title)"
    cells = rows.locator(f"td:nth-child({column})").evaluate_all(titles)
    return [whole(title) for title in cells]


def by_end(weights: Counter[Any], end: int) -> list[int]:
    """What the outermost (0) or innermost (-1) frames weigh, the largest first."""
    sums: Counter[Any] = Counter()
    for stack, weight in weights.items():
        sums[stack if isinstance(stack, str) else stack[end]] += weight
    return sorted(sums.values(), reverse=True)


def as_shown(value: int) -> int:
    """Past 2⁵³ the page knows fifteen digits, and says that it does."""
    if value < 1 << 53:
        return value
    return int(f"{Decimal(float(value)):.14e}".partition("e")[0].replace(".", "")) * 10 ** (
        len(str(value)) - 15
    )


def settle(flame: Flame) -> None:
    flame.page.wait_for_load_state("networkidle")
    flame.page.wait_for_timeout(150)


def test_five_weights_are_those_of_a_plain_walk(
    watched: Watched, server: TensorBoardServer, real: Real
) -> None:
    flame = show(watched, server, real, calls="unfolded")
    rows = flame.frame.locator("table.calls tbody tr:has(button)")
    for label, of in WEIGHTS.items():
        flame.frame.get_by_role("radio", name=label, exact=True).click()
        settle(flame)
        weights = real.weights(of)
        assert weights.total() > 0
        assert total(flame) == as_shown(weights.total()), of
        shown = values(rows, 2)
        assert shown, of
        assert shown == [as_shown(weight) for weight in by_end(weights, 0)[: len(shown)]], of
    flame.frame.get_by_role("radio", name="alive", exact=True).click()
    flame.frame.get_by_role("button", name="inverted").click()
    settle(flame)
    shown = values(rows, 2)
    assert shown == by_end(real.weights(), -1)[: len(shown)]
    assert total(flame) == real.facts["allocated_peak"]


def test_the_graph_grows_up_or_down_and_folds(
    watched: Watched, server: TensorBoardServer, real: Real, pictures: Any
) -> None:
    flame = show(watched, server, real)
    rows = int(flame.box.evaluate("box => box.scrollHeight")) // ROW
    assert flame.pixel(0.3, 0) == QUIET
    assert flame.pixel(0.01, 1) in (OWN, LIBRARY, QUIET)
    names = flame.frame.locator("table.calls").inner_text()
    flame.frame.get_by_role("radio", name="flame", exact=True).click()
    settle(flame)
    shown = int(flame.canvas.evaluate("canvas => canvas.clientHeight")) // ROW
    # The root is the last row, and it is that row which is scrolled to.
    assert flame.pixel(0.3, shown - 1) == QUIET
    assert flame.frame.locator("table.calls").inner_text() == names
    pictures(flame.page)
    flame.frame.get_by_role("radio", name="icicle", exact=True).click()
    flame.frame.get_by_role("button", name="libraries folded").click()
    settle(flame)
    unfolded = int(flame.box.evaluate("box => box.scrollHeight")) // ROW
    deepest = max(len(stack) for stack in real.weights() if not isinstance(stack, str))
    assert rows < unfolded <= deepest + 1
    assert words_of(settled_address(flame.page, "memory.calls"))["calls"] == "unfolded"


def test_a_search_finds_what_a_plain_walk_finds(
    watched: Watched, server: TensorBoardServer, real: Real
) -> None:
    flame = show(watched, server, real, calls="unfolded")
    lives = [life for life in real.truth.lives if life.alive(real.peak)]
    function = commonest(real)[0]
    asked = re.compile(re.escape(function), re.IGNORECASE)
    hits = [life for life in lives if has(life.stack, asked)]
    assert len(hits) > 0
    flame.frame.get_by_role("searchbox", name="Search the graph").fill(f'stack:"{function}"')
    found = flame.frame.get_by_test_id("flame-found")
    found.wait_for()
    settle(flame)
    text = re.sub(r"[\u202f\u00a0]", "", found.inner_text())
    assert re.search(rf"in{len(hits)}allocations?$", text.replace(" ", "")), text
    part = 100 * sum(life.bytes for life in hits) / real.facts["allocated_peak"]
    assert f"({part:.1f}%)" in text.replace(" ", "")
    # Of a box that nothing is found in, nothing keeps its colour.
    flame.frame.get_by_role("searchbox", name="Search the graph").fill("size>1TiB")
    found.filter(has_text="nothing found").wait_for()
    settle(flame)
    assert flame.pixel(0.3, 1) not in (OWN, LIBRARY, QUIET)


def commonest(real: Real) -> Frame:
    """The frame of the user's own that most of the peak's bytes went through, but not all."""
    sums: Counter[Frame] = Counter()
    weights = real.weights()
    for stack, weight in weights.items():
        if not isinstance(stack, str):
            for frame in set(stack):
                sums[frame] += weight
    most = real.facts["allocated_peak"]
    return next(
        frame
        for frame, weight in sums.most_common()
        if weight < most and not is_library(frame[1]) and re.fullmatch(r"\w+", frame[0])
    )


def read_folded(text: str) -> Counter[tuple[str, ...]]:
    sums: Counter[tuple[str, ...]] = Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        sums[tuple(stack.split(";"))] += int(value)
    return sums


def read_speedscope(text: str) -> Counter[tuple[str, ...]]:
    document = json.loads(text)
    (profile,) = document["profiles"]
    frames = [
        said((each["name"], each.get("file", ""), each.get("line", 0)))
        for each in document["shared"]["frames"]
    ]
    sums: Counter[tuple[str, ...]] = Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        sums[tuple(frames[frame] for frame in sample)] += weight
    assert profile["endValue"] == sum(profile["weights"])
    return sums


READS = {"speedscope": read_speedscope, "folded": read_folded}


def saved(flame: Flame, name: str, folder: Path) -> str:
    with flame.page.expect_download() as waiting:
        flame.frame.get_by_role("link", name=name).click()
    target = folder / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target.read_text()


def own_alone(way: tuple[str, ...]) -> tuple[str, ...]:
    """The frames of the user's own in a stack as it is said."""
    files = [re.fullmatch(r".*\((.*?)(:\d+)?\)", frame) for frame in way]
    found = zip(way, files, strict=True)
    return tuple(name for name, file in found if file and not is_library(file[1]))


def test_files_to_take_along_hold_the_sums_of_a_plain_walk(
    watched: Watched, server: TensorBoardServer, real: Real, tmp_path: Path
) -> None:
    flame = show(watched, server, real, calls="unfolded", of="kept")
    ways: Counter[tuple[str, ...]] = Counter()
    for stack, weight in real.weights("kept").items():
        way = (stack,) if isinstance(stack, str) else tuple(map(said, stack))
        ways[way] += weight
    assert len(ways) > 1
    for name, read in READS.items():
        assert read(saved(flame, name, tmp_path)) == ways
    flame.frame.get_by_role("button", name="inverted").click()
    settle(flame)
    turned = Counter({way[::-1]: weight for way, weight in ways.items()})
    assert read_folded(saved(flame, "folded", tmp_path)) == turned
    # Folded, stacks differ by the frames of the user's own, and library frames in a row are one.
    flame.frame.get_by_role("button", name="inverted").click()
    flame.frame.get_by_role("button", name="libraries folded").click()
    settle(flame)
    expected: Counter[tuple[str, ...]] = Counter()
    for way, weight in ways.items():
        expected[own_alone(way)] += weight
    for name, read in READS.items():
        text = saved(flame, name, tmp_path)
        sums: Counter[tuple[str, ...]] = Counter()
        for way, weight in read(text).items():
            sums[own_alone(way)] += weight
        assert sums == expected
        assert re.search(r"(…|\\u2026) \d+((–|\\u2013)\d+)? library frames", text)


def test_a_frame_narrows_down_all_other_views(
    watched: Watched, server: TensorBoardServer, real: Real
) -> None:
    flame = show(watched, server, real, calls="unfolded")
    frame = flame.frame
    rows = frame.locator("table.calls tbody tr:has(td.name:not([title=''])):has(button)")
    # Where the most went, four calls in; all that has that frame anywhere in its stack passes.
    title = ""
    for _ in range(4):
        title = rows.locator("td.name").first.get_attribute("title") or ""
        rows.locator("button").first.click()
        frame.locator(".flame-way strong").wait_for()
        settle(flame)
    frame.get_by_role("button", name="filter by this frame").click()
    field = frame.get_by_role("searchbox", name="Filter allocations")
    settle(flame)
    expression = re.fullmatch(r"stack:/(.*)/", field.input_value())
    assert expression
    asked = re.compile(expression[1].replace("\\/", "/"))
    assert title.splitlines()[0] in expression[1].replace("\\", "")
    passing = [life for life in real.truth.lives if has(life.stack, asked)]
    assert 0 < len(passing) < len(real.truth.lives)
    alive = [life for life in passing if life.alive(real.peak)]
    assert total(flame) == sum(life.bytes for life in alive)
    frame.get_by_role("tab", name="Source").click()
    frame.locator("table.lines").wait_for()
    settle(flame)
    assert total(flame) == sum(life.bytes for life in alive)
    frame.get_by_role("tab", name="Profile").click()
    heading = frame.locator(".breakdown .at .quiet")
    counted = re.compile(rf"in {len(alive):,}\s?blocks?$".replace(",", r"\D?"))
    heading.filter(has_text=counted).wait_for()
    frame.get_by_role("tab", name="Allocations").click()
    shown = Picture(flame.page, frame)
    begin, end = real.window
    narrowed = replace(real.truth, lives=passing)
    at = narrowed.highest(begin, end)
    assert shown.highest() == (narrowed.allocated(at), sum(life.alive(at) for life in passing))
    frame.get_by_role("tab", name="Segments").click()
    events = sum(has(stack, asked) for stack in real.truth.stacks)
    told = re.compile(rf"^{events:,}(\s*of|$)".replace(",", r"\D?"))
    frame.get_by_test_id("events-count").filter(has_text=told).wait_for(timeout=60_000)


def test_lines_of_code_weigh_what_a_plain_walk_says(
    watched: Watched, server: TensorBoardServer, real: Real, pictures: Any
) -> None:
    flame = show(watched, server, real, "source")
    frame = flame.frame
    lines = frame.locator("table.lines")
    lines.wait_for()
    through: Counter[str] = Counter()
    passed: Counter[tuple[str, int]] = Counter()
    for stack, weight in real.weights().items():
        if isinstance(stack, str):
            continue
        for file in {each[1] for each in stack}:
            through[file] += weight
        for place in {(file, line) for _, file, line in stack}:
            passed[place] += weight
    files = lines.locator("tr.file")
    titles = files.locator("td:first-child").evaluate_all("all => all.map((cell) => cell.title)")
    assert titles
    for file, weight in zip(titles, values(files, 4), strict=True):
        assert through["" if file == "no file" else file] == weight, file
    opened = lines.locator("tbody", has=frame.locator("tr.file button[aria-expanded=true]")).first
    file = opened.locator("tr.file td").first.get_attribute("title") or ""
    assert not is_library(file)
    rows = opened.locator("tr:has(td.line)")
    numbers = rows.locator("td.line button.link[aria-expanded]").all_inner_texts()
    assert numbers
    for number, weight in zip(numbers, values(rows, 4), strict=True):
        assert passed[file, int(number)] == weight
    # All that is made somewhere, and what has no stack, is everything.
    made = sum(values(files, 2))
    nowhere = sum(w for stack, w in real.weights().items() if isinstance(stack, str))
    assert made + nowhere == real.facts["allocated_peak"]
    # The machine this was recorded on is another one: that is said, in place of the code.
    rows.locator("button.link[aria-expanded]").first.click()
    refused = frame.locator(".code-row p")
    refused.filter(has_text=f"{file} cannot be read on the machine that TensorBoard").wait_for()
    pictures(flame.page)
    watched.faults = [fault for fault in watched.faults if "400" not in fault]


def test_without_the_flag_no_code_is_given_and_it_is_said_how_to_have_it(
    watched: Watched, shared_data: Path, tmp_path: Path
) -> None:
    real = Real(NAMES[0], shared_data / "snapshots")
    with serve(shared_data, tmp_path) as server:
        flame = show(watched, server, real, "source")
        flame.frame.locator("table.lines tr:has(td.line)").first.wait_for()
        assert flame.frame.locator("td.line button[aria-expanded]").count() == 0
        note = flame.frame.get_by_role("note").filter(has_text="--memory_show_source")
        assert note.inner_text() == (
            "To see the code behind a line, start TensorBoard with --memory_show_source."
        )
