"""The page of servers of all kinds, in a real browser: files come, are dropped, servers go."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import (
    TAB,
    link,
    open_page,
    wait_for_table,
)
from tests.browser.tab import open_train, plugin_frame
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import Frame


def _drop(inside: Frame, name: str, content: bytes) -> None:
    """Drops a file on the page as the browser would tell it."""
    inside.evaluate(
        """([name, bytes]) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(bytes)], name));
          for (const kind of ["dragover", "drop"]) {
            const event = {dataTransfer: data, bubbles: true, cancelable: true};
            document.body.dispatchEvent(new DragEvent(kind, event));
          }
        }""",
        [name, list(content)],
    )


def test_a_dropped_file_opens(watched: Watched, server: TensorBoardServer, tmp_path: Path) -> None:
    frame = open_train(watched, server)
    path = write_pickle(snapshot(events=200, seed=9), tmp_path / "dropped.pickle")
    _drop(plugin_frame(watched), "dropped.pickle", path.read_bytes())
    chosen = frame.locator(".recording[aria-current=true]")
    chosen.filter(has_text="dropped").wait_for()
    wait_for_table(frame)


_DROP = """(body, files) => {
  const dropped = new DataTransfer();
  for (const [name, bytes] of files)
    dropped.items.add(new File([new Uint8Array(bytes)], name));
  body.dispatchEvent(new DragEvent("drop", {bubbles: true, dataTransfer: dropped}));
}"""


def test_of_several_dropped_files_all_are_there(watched: Watched, tmp_path: Path) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    files = [
        (f"dropped{seed}.pickle", list(pickle.dumps(snapshot(events=30, seed=seed))))
        for seed in range(3)
    ]
    cache = {"TB_MEMORY_CACHE": str(tmp_path / "cache")}
    (tmp_path / "logdir").mkdir()
    with TensorBoardServer(tmp_path / "logdir", environment=cache) as server:
        frame = open_page(watched.page, server.url + TAB)
        frame.locator("body").evaluate(_DROP, files)
        wait_for_table(frame)
        expect(frame.locator(".recording")).to_have_count(3)
        expect(frame.locator(".recording[aria-current=true]")).to_contain_text("dropped2")
        watched.page.goto("about:blank")


@pytest.mark.parametrize("noticed", [True, False])
def test_a_server_that_was_away_is_taken_up_again(
    noticed: bool, watched: Watched, tmp_path: Path
) -> None:
    (tmp_path / "logdir" / "run").mkdir(parents=True)
    write_pickle(snapshot(events=400, seed=5), tmp_path / "logdir" / "run" / "a.pickle")
    cache = {"TB_MEMORY_CACHE": str(tmp_path / "cache")}
    first = TensorBoardServer(tmp_path / "logdir", environment=cache)
    with first:
        frame = open_page(watched.page, first.url + link("run", "a.pickle", by="stack"))
        wait_for_table(frame)
    if noticed:
        frame.get_by_role("button", name="stream").click()
        frame.locator(".banner").get_by_text("does not answer").wait_for()
        assert not frame.locator("table.groups").count()
    with TensorBoardServer(tmp_path / "logdir", environment=cache, port=first.port) as second:
        assert second.url == first.url
        if not noticed:
            frame.get_by_role("button", name="stream").click()
        row = frame.locator("table.groups tr[data-row]", has_text="default stream")
        row.wait_for()
        # Where the new server was slow to start its absence was noticed; that is taken back.
        frame.get_by_text("does not answer").wait_for(state="detached")
        watched.page.goto("about:blank")
    watched.faults[:] = [fault for fault in watched.faults if "ERR_CONNECTION" not in fault]


def test_an_empty_logdir_says_how_to_record(
    watched: Watched, tmp_path: Path, pictures: Any
) -> None:
    with TensorBoardServer(tmp_path) as server:
        frame = open_page(watched.page, server.url + TAB)
        frame.get_by_text("No memory recordings yet").wait_for()
        assert "MemoryWriter" in frame.locator(".state").inner_text()
        pictures(watched.page)
        watched.page.goto("about:blank")  # before the server it polls is gone


def test_a_new_file_shows_up_by_itself(watched: Watched, tmp_path: Path) -> None:
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
    write_pickle(snapshot(events=200, seed=5), tmp_path / "first" / "a.pickle")
    with TensorBoardServer(tmp_path) as server:
        frame = open_page(watched.page, server.url + TAB)
        wait_for_table(frame)
        write_pickle(snapshot(events=200, seed=6), tmp_path / "second" / "b.pickle")
        frame.locator(".recording", has_text="second").wait_for()
        watched.page.goto("about:blank")


def test_what_a_link_opens_is_in_sight_in_a_long_list(watched: Watched, tmp_path: Path) -> None:
    for run in range(40):
        (tmp_path / f"run{run:02}").mkdir()
        write_pickle(snapshot(events=20, devices=9), tmp_path / f"run{run:02}" / "a.pickle")
    expect = pytest.importorskip("playwright.sync_api").expect
    with TensorBoardServer(tmp_path) as server:
        server.sources(after=40)
        frame = open_page(watched.page, server.url + link("run29", "a.pickle"))
        wait_for_table(frame)
        chosen = frame.locator(".recording[aria-current=true]")
        expect(chosen).to_contain_text("run29")
        expect(chosen).to_be_in_viewport(ratio=0.9)
        watched.page.goto("about:blank")


def test_under_a_path_prefix(watched: Watched, logdir: Path) -> None:
    with TensorBoardServer(logdir, path_prefix="/some/where") as server:
        assert server.url.endswith("/some/where/")
        open_train(watched, server)
        watched.page.goto("about:blank")


def test_without_the_fast_data_server(watched: Watched, logdir: Path) -> None:
    with TensorBoardServer(logdir, "--load_fast=false") as server:
        open_train(watched, server)
        watched.page.goto("about:blank")


def test_with_a_logdir_spec(watched: Watched, logdir: Path) -> None:
    spec = f"first:{logdir / 'train'},second:{logdir / 'untimed'}"
    with TensorBoardServer(None, "--logdir_spec", spec) as server:
        frame = open_page(watched.page, server.url + TAB)
        wait_for_table(frame)
        names = " ".join(frame.locator(".recording").all_inner_texts())
        assert "first" in names
        assert "second" in names
        watched.page.goto("about:blank")
