"""A real TensorBoard with made recordings, and a real Chromium that tells on the page."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tb_memory_plugin.recording.recording import save
from tests.browser.flaming import flame_server, train
from tests.browser.looking import is_waiting, settle, wear
from tests.browser.loop import Loop, loop
from tests.browser.mapping import segments_server, small
from tests.browser.real import real_server, truth
from tests.browser.xplanes import profiled
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

#: Fixtures of several files.
__all__ = ["flame_server", "profiled", "real_server", "segments_server", "small", "train", "truth"]

#: Milliseconds that something awaited may take on a machine with much other work.
PATIENCE = 150_000
#: Where tests keep what they have seen for people to look at, if ``TB_MEMORY_PICTURES`` is set.
SCREENSHOTS = Path(__file__).parent / "screenshots"
KEEPS_PICTURES = bool(os.environ.get("TB_MEMORY_PICTURES"))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: All that the plugin's frame finds around it: an address with a hash, a body with a theme, a bar
#: above. For modules that look at the frame alone; TensorBoard's page takes seconds of a core.
HOST = """<!doctype html><html lang="en"><link rel="icon" href="data:,"><style>
  body { margin: 64px 0 0 }
  iframe { border: 0; display: block; width: 100vw; height: calc(100vh - 64px) }
</style><body><iframe src="data/plugin_entry.html?name=memory"></iframe></body></html>"""
TENSORBOARD = re.compile(r"^http://127\.0\.0\.1:\d+/(#.*)?$")
#: Keeps the compiled code of scripts from their first run on: TensorBoard's takes seconds.
KEEP_CODE = "--blink-settings=v8CacheOptions=3"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs a browser.

    A browser on a machine with other work is not the same twice: what fails is run once more, and
    told as a rerun, which is a bug to look at.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1))


def chromium() -> str | None:
    """The path of a Chromium or Chrome; ``CHROMIUM`` says which."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = (path for name in names if (path := shutil.which(name)))
    return os.environ.get("CHROMIUM") or next(found, None)


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """One headless Chromium for all tests; on disk, so that it compiles TensorBoard only once."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = chromium()
    if not program:
        pytest.fail("no Chromium: run `make test`, or set CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("chromium"),
            executable_path=program,
            args=[*FLAGS, KEEP_CODE],
            viewport={"width": 1400, "height": 900},
        )
        context.set_default_timeout(PATIENCE)
        yield context
        context.close()


def make_logdir(folder: Path) -> Path:
    """Runs as a user has them: snapshots good, without history and broken, and scalars beside."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for run in ("failed", "train", "untimed", "bare", "broken"):
        (folder / run).mkdir(parents=True)
    write_pickle(
        snapshot(events=1_200, seed=5, capacity=1 << 27), folder / "failed" / "snapshot.pickle"
    )
    write_pickle(snapshot(events=4_000, seed=1), folder / "train" / "snapshot.pickle")
    write_pickle(
        snapshot(events=1_500, seed=2, devices=2, time=False, steps=False),
        folder / "untimed" / "snapshot.pickle",
    )
    bare = snapshot(events=300, seed=3)
    write_pickle(bare["segments"], folder / "bare" / "segments.pickle")
    broken = folder / "broken" / "cut.pickle"
    whole = write_pickle(snapshot(events=500, seed=4), broken).read_bytes()
    broken.write_bytes(whole[: len(whole) // 2])
    native = folder / "loop" / "plugins" / "memory" / "loop.tbmem"
    native.parent.mkdir(parents=True)
    save(loop().recording, native, compress=True)
    os.utime(native, (1, 1))  # so that it is not what the page opens by itself
    for run in ("train", "untimed"):
        writer = EventFileWriter(str(folder / run))
        for step in range(5):
            value = Summary.Value(tag="loss", simple_value=1.0 / (step + 1))
            writer.add_event(Event(step=step, wall_time=step, summary=Summary(value=[value])))
        writer.close()
    return folder


@pytest.fixture(scope="session")
def made() -> Loop:
    """The training loop that is in the run ``loop``."""
    return loop()


@pytest.fixture(scope="session")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of :func:`make_logdir`, read by all tests and changed by none."""
    return make_logdir(tmp_path_factory.mktemp("logdir"))


@pytest.fixture(scope="session")
def server(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on ``logdir`` for the tests that only look."""
    cache = tmp_path_factory.mktemp("browser-cache")
    with TensorBoardServer(logdir, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


@dataclass
class Watched:
    """A page and what went wrong on it: console errors, exceptions, requests to other hosts."""

    page: Page
    faults: list[str] = field(default_factory=list)

    def frame(self):  # type: ignore[no-untyped-def]
        """The plugin's own frame, as a locator root."""
        return self.page.frame_locator("iframe[src*='name=memory']")


@pytest.fixture
def watched(
    context: BrowserContext, server: TensorBoardServer, request: pytest.FixtureRequest
) -> Iterator[Watched]:
    """A fresh page of 1400 × 900 that must not have any faults at the end of the test."""
    page = context.new_page()
    framed = request.node.get_closest_marker("framed")
    if framed and framed.args != (False,):
        page.route(TENSORBOARD, lambda route: route.fulfill(content_type="text/html", body=HOST))
    watch = Watched(page)

    def note_console(message) -> None:  # type: ignore[no-untyped-def]
        if message.type == "error":
            watch.faults.append(f"console: {message.text}")

    def note_request(request) -> None:  # type: ignore[no-untyped-def]
        host = urlsplit(request.url).hostname
        if host not in (None, "127.0.0.1", "localhost"):
            watch.faults.append(f"request to another host: {request.url}")

    page.on("console", note_console)
    page.on("pageerror", lambda error: watch.faults.append(f"exception: {error}"))
    page.on("request", note_request)
    yield watch
    forget(page)
    assert watch.faults == []


def forget(page: Page) -> None:
    """Closes a page and all beside it, and clears what they have stored."""
    origins = {"{0.scheme}://{0.netloc}".format(urlsplit(each.url)) for each in page.context.pages}
    first, *others = page.context.pages
    for each in others:
        each.close()
    session = page.context.new_cdp_session(first)
    for origin in origins:
        kinds = {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb"}
        session.send("Storage.clearDataForOrigin", kinds)
    session.detach()


@pytest.fixture
def picture(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    """``picture(page, "dark")`` keeps a screenshot under the test's name, if pictures are kept."""

    def keep(page: Page, name: str) -> None:
        if KEEPS_PICTURES:
            SCREENSHOTS.mkdir(exist_ok=True)
            page.screenshot(path=SCREENSHOTS / f"{request.node.name}-{name}.png")

    return keep


@pytest.fixture
def pictures(picture):  # type: ignore[no-untyped-def]
    """``pictures(page)`` draws all in the light theme and in the dark, and keeps one of each.

    With ``pictures(page, "zoomed")`` a test keeps several such pairs.
    """

    def keep(page: Page, state: str = "") -> None:
        name = f"{state}-" if state else ""
        for theme in ("light", "dark"):
            wear(page, theme)
            picture(page, f"{name}{theme}")
        wear(page, "light")

    return keep


@pytest.fixture
def everywhere(picture):  # type: ignore[no-untyped-def]
    """``everywhere(page, "empty")`` draws all wide and narrow, each in the light and the dark.

    Nothing may be cut at either width: the page never scrolls sideways. One of each is kept.
    """

    def keep(page: Page, state: str) -> None:
        (inside,) = (frame for frame in page.frames if "name=memory" in frame.url)
        is_held = is_waiting(page)  # by the test: it looks at a page that waits
        for width in (1400, 800):
            page.set_viewport_size({"width": width, "height": 900})
            for theme in ("light", "dark"):
                dark = "dark => document.body.classList.toggle('dark-mode', dark)"
                page.evaluate(dark, theme == "dark")
                if is_held:
                    page.wait_for_timeout(500)  # there is nothing to wait for but the picture
                else:
                    settle(page)
                picture(page, f"{state}-{width}-{theme}")
            wide = "document.documentElement.scrollWidth"
            assert inside.evaluate(f"{wide} <= window.innerWidth"), (state, width)

    return keep
