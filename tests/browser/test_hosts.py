"""Sessions of several hosts in a real browser: one entry, a bar for each, and going to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.charting import ABOVE, HEADROOM
from tests.browser.conftest import Watched
from tests.browser.looking import (
    link,
    open_page,
    peak,
    settle,
    settled_address,
    wait_for_table,
    words_of,
)
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.xplane import capture
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

MIB = 1 << 20
MS = 1_000_000
BEGIN = 1_700_000_000_123_456_789
SESSION = "plugins/profile/2026_11_30_10_00_00"
CAPACITY = 500 * MIB
#: Bytes of each step, in MiB: what stays, then what comes and goes.
SIZES = {
    "node-1.example": (100, 60, 100),
    "node-2.example": (100, 20, 30),
    "node-10.example": (100, 5, 300, 7),
}
PEAKS = {host: sizes[0] + max(sizes[1:]) for host, sizes in SIZES.items()}
RANKS = 70


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of three hosts and a broken one, another that grows, and a job of many ranks."""
    folder = tmp_path_factory.mktemp("hosts")
    session = folder / "job" / SESSION
    session.mkdir(parents=True)
    for place, (host, sizes) in enumerate(SIZES.items()):
        path = session / f"{host}.xplane.pb"
        begin = BEGIN + place * MS // 2
        data = capture(host, [size * MIB for size in sizes], begin_ns=begin, capacity=CAPACITY)
        path.write_bytes(data)
    (session / "node-7.example.xplane.pb").write_bytes(data[:-150])
    for run in ("grows", "many"):
        (folder / run).mkdir()
    whole = write_pickle(snapshot(events=60), folder / "grows" / "rank0.pickle").read_bytes()
    for rank in range(RANKS):
        (folder / "many" / f"rank{rank}.pickle").write_bytes(whole)
    return folder


@pytest.fixture(scope="module")
def server(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("cache"))}
    with TensorBoardServer(logdir, environment=cache) as running:
        running.sources(after=len(SIZES) + 2 + RANKS)
        yield running


#: Rows of a canvas a third of which has the colour of danger; its height, and that colour.
_DASHED = """canvas => {
  const danger = getComputedStyle(canvas).getPropertyValue("--danger").trim();
  const [r, g, b] = [1, 3, 5].map(at => parseInt(danger.slice(at, at + 2), 16));
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  const counts = Array(height).fill(0);
  for (let at = 0; at < data.length; at += 4)
    if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3])
      counts[Math.floor(at / 4 / width)] += 1;
  const rows = counts.flatMap((count, row) => (count > width / 3 ? [row] : []));
  return [rows, height, danger];
}"""


def name(host: str) -> str:
    return f"{SESSION}/{host}.example.xplane.pb"


def shown(watched: Watched, server: TensorBoardServer, host: str, **words: object) -> FrameLocator:
    frame = open_page(watched.page, server.url + link("job", name(host), **words))
    wait_for_table(frame)
    return frame


def row(frame: FrameLocator, host: str) -> Any:
    return frame.locator(".host", has_text=f"{host}.example")


@pytest.mark.framed
def test_a_session_is_one_entry_with_a_bar_for_every_host(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    frame = shown(watched, server, "node-2")
    entry = frame.locator(".recording", has_text="job")
    expect(entry).to_have_count(1)
    expect(entry).to_have_attribute("aria-current", "true")
    expect(entry).to_contain_text("4 hosts")
    expect(frame.locator(".host[aria-current]")).to_contain_text("node-2.example")
    hosts = frame.get_by_role("navigation", name="Hosts")
    hosts.get_by_text("of 3 hosts read").wait_for()  # without being asked for
    expect(hosts.get_by_role("meter")).to_have_count(3)
    order = [text.split()[1] for text in frame.locator(".host").all_inner_texts()]
    assert order == [f"node-{number}.example" for number in (1, 2, 7, 10)]
    for host, mib in PEAKS.items():
        bar = row(frame, host.removesuffix(".example"))
        assert f"({mib * MIB:,} bytes)".replace(",", "\u202f") in (
            bar.get_attribute("title") or ""
        ).replace("\u00a0", " ")
        share = round(100 * mib * MIB / CAPACITY)
        assert bar.get_by_role("meter").get_attribute("aria-valuenow") == str(share)
    told = hosts.locator(".balance").inner_text().replace("\u00a0", " ")
    assert re.search(r"Highest node-10.example 400.0 MiB, 2.00 × the median", told)
    assert "lowest node-2.example 130.0 MiB, of 3 hosts read" in told
    everywhere(watched.page, "hosts")


@pytest.mark.framed
def test_a_broken_host_says_so_and_leaves_the_others_alone(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    frame = shown(watched, server, "node-1")
    broken = row(frame, "node-7")
    broken.get_by_text("cannot be read").wait_for()
    broken.click()
    said = frame.locator(".explanation")
    said.filter(has_text="node-7.example.xplane.pb").wait_for()
    pictures(watched.page)
    row(frame, "node-10").click()
    wait_for_table(frame)
    assert peak(frame) == "400.0 MiB"
    # Its capacity is near enough for a line across all allocations, that of the others is not.
    frame.get_by_role("tab", name="Allocations").click()
    told = frame.get_by_test_id("allocations-capacity")
    told.wait_for()
    assert "500.0" in (told.get_attribute("title") or "")
    settle(watched.page)
    curve = frame.get_by_test_id("allocations-curve")
    rows, height, danger = curve.evaluate(_DASHED)
    assert danger
    assert rows == [pytest.approx(ABOVE + (height - ABOVE) * (1 - 1 / HEADROOM), abs=1.5)]
    row(frame, "node-2").click()
    told.wait_for(state="detached")
    settle(watched.page)
    assert curve.evaluate(_DASHED)[0] == []


@pytest.mark.framed
def test_another_host_keeps_what_is_looked_at_and_back_returns(
    watched: Watched, server: TensorBoardServer
) -> None:
    words = {"view": "profile", "by": "size", "filter": "size>1MiB", "axis": "time"}
    frame = shown(watched, server, "node-1", **words, window=f"{MS}..{2 * MS}")
    assert peak(frame) == "200.0 MiB"
    row(frame, "node-10").click()
    frame.locator(".numbers .big").first.filter(has_text="400.0").wait_for()
    address = words_of(settled_address(watched.page, "node-10.example"))
    watched.page.wait_for_function("() => location.hash.includes('memory.window=')")
    settle(watched.page)
    address = words_of(watched.page.url)
    assert {key: address[key].replace("%3E", ">") for key in words} == words
    # It began a millisecond later, so its own times are less; its first event is then at 250 µs.
    assert address["window"] == f"{MS // 4}..{MS}"
    assert frame.locator("[data-shortcut='/']").input_value() == "size>1MiB"
    watched.page.go_back()
    frame.locator(".numbers .big").first.filter(has_text="200.0").wait_for()
    settle(watched.page)
    assert "node-1.example" in watched.page.url
    assert words_of(watched.page.url)["window"] == f"{MS}..{2 * MS}"
    watched.page.go_forward()
    frame.locator(".numbers .big").first.filter(has_text="400.0").wait_for()


def test_going_back_in_tensorboards_own_page(watched: Watched, server: TensorBoardServer) -> None:
    frame = shown(watched, server, "node-1")
    row(frame, "node-2").click()
    frame.locator(".numbers .big").first.filter(has_text="130.0").wait_for()
    settled_address(watched.page, "node-2.example")
    watched.page.go_back()
    frame.locator(".numbers .big").first.filter(has_text="200.0").wait_for()
    assert "node-1.example" in settled_address(watched.page, "memory.view=")
    assert watched.page.get_by_role("tab", name="Memory").get_attribute("aria-selected") == "true"


@pytest.mark.framed
def test_hosts_are_walked_with_keys(watched: Watched, server: TensorBoardServer) -> None:
    frame = shown(watched, server, "node-1")
    row(frame, "node-1").focus()
    for key in ("ArrowDown", "End", "ArrowUp", "ArrowUp", "Enter"):
        watched.page.keyboard.press(key)
    frame.locator(".numbers .big").first.filter(has_text="130.0").wait_for()
    assert "node-2.example" in frame.locator(".host[aria-current]").inner_text()


@pytest.mark.framed
def test_many_ranks_are_read_when_asked_for_and_found_by_name(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    frame = open_page(watched.page, server.url + link("many", "rank68.pickle"))
    wait_for_table(frame)
    ranks = frame.get_by_role("navigation", name="Ranks")
    expect(ranks.locator(".host")).to_have_count(64)
    expect(ranks.locator(".host[aria-current]")).to_be_in_viewport(ratio=0.9)
    expect(ranks.get_by_text("more ranks")).to_contain_text("6")
    expect(ranks.get_by_text("not read")).to_have_count(63)
    ranks.get_by_label("Filter ranks").fill("rank 69")
    expect(ranks.locator(".host")).to_have_count(1)
    ranks.locator(".host").click()
    expect(ranks.get_by_role("meter")).to_have_count(1)
    ranks.get_by_label("Filter ranks").fill("")
    ranks.get_by_role("button", name="Read all").click()
    stop = ranks.get_by_role("button", name="Stop")
    stop.wait_for()
    expect(ranks.locator(".host", has_text="rank 0")).not_to_contain_text("waiting")
    pictures(watched.page)
    stop.click()
    expect(ranks.get_by_text("waiting")).to_have_count(0)
    expect(ranks.get_by_role("button", name="Read all")).to_be_visible()


@pytest.mark.framed
def test_a_rank_that_comes_makes_a_session_of_a_recording(
    watched: Watched, server: TensorBoardServer, logdir: Path
) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    frame = open_page(watched.page, server.url + link("grows", "rank0.pickle"))
    wait_for_table(frame)
    expect(frame.locator(".host")).to_have_count(0)
    write_pickle(snapshot(events=90, seed=7), logdir / "grows" / "rank1.pickle")
    frame.locator(".host .meter").nth(1).wait_for()
    expect(frame.locator(".host[aria-current]")).to_contain_text("rank 0")
