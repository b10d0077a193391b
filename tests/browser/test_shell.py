"""The page in a real browser: tab, states, links, table, inspector, theme, hiding."""

from __future__ import annotations

import csv
import io
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import (
    link,
    open_page,
    peak,
    settled_address,
    wait_for_table,
    words_of,
)
from tests.browser.tab import TRAIN, open_train, plugin_frame
from tests.plugin.server import TensorBoardServer


def test_the_tab_stands_among_tensorboards_own(watched: Watched, server: TensorBoardServer) -> None:
    watched.page.goto(server.url)
    watched.page.get_by_role("tab", name="Memory").click()
    frame = watched.frame()
    frame.locator(".recording").first.wait_for()
    names = frame.locator(".recording").all_inner_texts()
    assert any("train" in name for name in names)
    assert any("untimed" in name for name in names)


def test_a_recording_opens_with_its_numbers(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    frame = open_train(watched, server)
    assert peak(frame).endswith(("KiB", "MiB", "GiB"))
    total = frame.locator("h2.at .quiet").inner_text().replace("\u00a0", " ")
    assert total.startswith(f"{peak(frame)} in ")
    picture(watched.page, "light")


def test_a_link_restores_everything(watched: Watched, server: TensorBoardServer) -> None:
    words = {"axis": "event", "window": "500..2500", "at": 1200, "by": "stack", "sort": "-count"}
    where = link("train", "snapshot.pickle", device="0", filter="size>1KiB", **words)
    frame = open_train(watched, server, where)
    assert (
        frame.get_by_role("radio", name="event", exact=True).get_attribute("aria-checked") == "true"
    )
    assert frame.locator("[data-shortcut='/']").input_value() == "size>1KiB"
    assert frame.locator("th[aria-sort=descending]").inner_text().startswith("Blocks")
    counts = [
        int(text.replace("\u202f", ""))
        for text in frame.locator("tr[aria-level='1'] td:nth-child(4)").all_inner_texts()
    ]
    assert counts == sorted(counts, reverse=True)
    again = words_of(settled_address(watched.page, "p.memory.sort"))
    assert {key: again[key] for key in words} == {key: str(words[key]) for key in words}


def test_selecting_explains_and_is_in_the_address(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = open_train(watched, server, f"{TRAIN}&p.memory.by=stack")
    group = frame.locator("tr[aria-level='1']").first
    group.locator("[data-fold]").click()
    member = frame.locator("tr[aria-level='2']").first
    member.wait_for()
    size = member.locator("td").nth(1).get_attribute("title")
    assert size
    member.click()
    facts = frame.locator(".inspector .facts-list")
    facts.wait_for()
    assert size in facts.inner_text()
    address = settled_address(watched.page, "p.memory.allocation=")

    other = watched.page.context.new_page()
    second = open_page(other, address)
    second.locator(".inspector .facts-list").wait_for()
    assert second.locator(".inspector .facts-list").inner_text() == facts.inner_text()
    other.close()


def test_the_keyboard_walks_the_table(watched: Watched, server: TensorBoardServer) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    frame = open_train(watched, server)
    keys = watched.page.keyboard
    group = frame.locator("tr[aria-level='1']").first
    group.focus()
    keys.press("ArrowRight")
    frame.locator("tr[aria-level='2']").first.wait_for()
    expect(group).to_have_attribute("aria-expanded", "true")
    keys.press("ArrowDown")
    keys.press("Enter")
    explained = frame.locator(".inspector .facts-list")
    explained.wait_for()
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    expect(group).to_have_attribute("aria-expanded", "false")
    keys.press("Escape")
    expect(explained).to_have_count(0)
    keys.press("/")
    expect(frame.locator("[data-shortcut='/']")).to_be_focused()
    keys.press("Escape")
    keys.press("?")
    expect(frame.locator("dialog[open]")).to_have_count(1)
    keys.press("Escape")
    expect(frame.locator("dialog[open]")).to_have_count(0)


def test_the_filter_narrows_the_table(watched: Watched, server: TensorBoardServer) -> None:
    frame = open_train(watched, server)
    before = frame.locator("h2.at .quiet").inner_text()
    box = frame.locator("[data-shortcut='/']")
    box.fill("size>1MiB")
    settled_address(watched.page, "p.memory.filter=")
    narrowed = frame.locator("h2.at .quiet").filter(has_not_text=before)
    narrowed.wait_for()
    box.fill("no-such-word-anywhere")
    frame.get_by_role("button", name="Clear the filter").click()
    frame.locator("h2.at .quiet").filter(has_text=before).wait_for()


def test_csv_holds_the_whole_table(watched: Watched, server: TensorBoardServer) -> None:
    frame = open_train(watched, server, f"{TRAIN}&p.memory.by=stack")
    with watched.page.expect_download() as coming:
        frame.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(coming.value.path()).read_text("utf-8"))))
    shown = frame.locator("tr[aria-level='1']").count()
    assert len(rows) >= shown > 0
    title = frame.locator("h2.at .quiet").get_attribute("title")
    assert title
    total = int("".join(filter(str.isdigit, title)))
    assert sum(int(row["bytes"]) for row in rows) == total


def test_a_recording_without_time_stamps_says_so(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = open_train(watched, server, link("untimed", "snapshot.pickle"))
    time = frame.get_by_role("radio", name="time")
    assert time.is_disabled()
    assert "no time stamps" in (time.get_attribute("title") or "")
    assert frame.locator(".device").count() == 2


def test_a_recording_without_a_history_shows_its_end(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    frame = open_train(watched, server, link("bare", "segments.pickle"))
    assert frame.locator("h2.at").inner_text().startswith("Alive at the end")
    assert "_record_memory_history" in frame.locator(".no-history").inner_text()
    picture(watched.page, "light")


def test_a_failed_allocation_is_named_and_leads_to_its_moment(
    watched: Watched, server: TensorBoardServer, logdir: Path, pictures: Any
) -> None:
    structure = pickle.loads((logdir / "failed" / "snapshot.pickle").read_bytes())
    trace = structure["device_traces"][0]
    event, failure = [at for at in enumerate(trace) if at[1]["action"] == "oom"][-1]
    frame = open_train(watched, server, link("failed", "snapshot.pickle"))
    failed = frame.locator(".numbers .danger")
    assert "Out of memory" in failed.inner_text()
    digits = "".join(filter(str.isdigit, (failed.get_attribute("title") or "").split(" B")[0]))
    assert str(failure["size"]) in digits
    pictures(watched.page)
    failed.get_by_role("button").click()
    assert f"at={event}" in settled_address(watched.page, "memory.at=")


def test_a_broken_file_is_an_error_in_words(
    watched: Watched, server: TensorBoardServer, pictures: Any
) -> None:
    frame = open_page(watched.page, server.url + link("broken", "cut.pickle"))
    said = frame.locator(".explanation")
    said.wait_for()
    assert "cut.pickle" in said.inner_text()
    pictures(watched.page)
    frame.locator(".recording", has_text="train").first.click()
    wait_for_table(frame)


def test_a_link_to_what_is_not_here_says_so(watched: Watched, server: TensorBoardServer) -> None:
    frame = open_page(watched.page, server.url + link("train", "gone.pickle"))
    frame.get_by_text("This recording is not here").wait_for()
    assert "gone.pickle" in frame.locator(".state").inner_text()


def test_the_theme_is_tensorboards(
    watched: Watched, server: TensorBoardServer, picture: Any
) -> None:
    open_train(watched, server)
    background = "getComputedStyle(document.body).backgroundColor"
    inside = plugin_frame(watched)
    assert inside.evaluate(background) == "rgb(255, 255, 255)"
    watched.page.evaluate("document.body.classList.add('dark-mode')")
    inside.wait_for_function(f"{background} === 'rgb(48, 48, 48)'")
    picture(watched.page, "dark")
    watched.page.evaluate("document.body.classList.remove('dark-mode')")
    inside.wait_for_function(f"{background} === 'rgb(255, 255, 255)'")


def test_text_is_in_tensorboards_font(watched: Watched, server: TensorBoardServer) -> None:
    open_train(watched, server)
    inside = plugin_frame(watched)
    families = inside.evaluate("[...new Set([...document.fonts].map(face => face.family))]")
    assert "Roboto" in [family.strip("\"'") for family in families]
    measure = """async text => {
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = "13px Roboto";
      await document.fonts.load(pen.font);
      return pen.measureText(text).width;
    }"""
    # Its monospaced sister is declared beside it and must not stand in for it.
    assert inside.evaluate(measure, "iiiiiiii") < inside.evaluate(measure, "mmmmmmmm") / 2


#: In the plugin's frame pauses are ten times shorter: its slowest polling is every 1.5 s.
_HASTY = """if (location.search.includes("name=memory")) {
  const wait = window.setTimeout;
  window.setTimeout = (run, pause, ...more) => wait(run, pause / 10, ...more);
}"""


def test_a_hidden_tab_stops_working(watched: Watched, server: TensorBoardServer) -> None:
    page = watched.page
    page.add_init_script(_HASTY)
    frame = open_train(watched, server)
    with page.expect_request("**/plugin/memory/sources*"):
        pass  # seen, it polls that often
    page.get_by_role("tab", name="Scalars").click()
    plugin_frame(watched).wait_for_function("window.innerHeight === 0")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(3_000)  # longer than the slowest polling
    assert [url for url in asked if "/plugin/memory/" in url] == []
    page.get_by_role("tab", name="Memory").click()
    with page.expect_request("**/plugin/memory/sources*"):
        pass
    assert peak(frame)


@pytest.mark.parametrize("width", [800, 420])
def test_narrow_pages_keep_everything_in_reach(
    watched: Watched, server: TensorBoardServer, pictures: Any, width: int
) -> None:
    watched.page.set_viewport_size({"width": width, "height": 900})
    frame = open_train(watched, server)
    inside = plugin_frame(watched)
    assert inside.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    frame.locator(".place").click()
    frame.locator(".recording", has_text="untimed").click()
    frame.locator(".topbar .place", has_text="untimed").wait_for()
    wait_for_table(frame)
    frame.locator("tr[data-row]").first.click()
    assert frame.locator(".inspector.chosen .title").is_visible()
    pictures(watched.page)
