"""What tests of the Allocations view on snapshots from real GPUs share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.browser.picturing import Picture
from tests.browser.recorded import Life, Recorded, recorded
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

#: A training loop whose window begins late, and one of three GPUs that ran out of memory.
NAMES = ("small_train", "oom_expandable_3gpu")
#: And two streams without times, and a large model with user metadata.
SERVED = (*NAMES, "no_time_us_segments", "llm_training_user_metadata")
#: And one from the very start, with annotations that nothing is allocated in.
COLOURED = (*SERVED, "annotated_compile")

MIB = 1 << 20


@contextmanager
def serving(
    names: Sequence[str], shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots, a run each."""
    folder = tmp_path_factory.mktemp("real")
    for name in names:
        (folder / name).mkdir()
        real = shared_data / "snapshots" / f"{name}.pickle"
        (folder / name / "snapshot.pickle").symlink_to(real)
    cache = tmp_path_factory.mktemp("real-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


@pytest.fixture(scope="session")
def real_server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots."""
    names = (*COLOURED, "private_pools_nohistory")
    with serving(names, shared_data, tmp_path_factory) as running:
        yield running


@pytest.fixture(scope="session", params=NAMES)
def truth(request: pytest.FixtureRequest, shared_data: Path) -> Recorded:
    return recorded(shared_data, request.param)


def show(watched: Watched, server: TensorBoardServer, truth: Recorded, **words: object) -> Picture:
    asked = {"view": "allocations", "axis": "event", "device": "0", **words}
    address = server.url + link(truth.name, "snapshot.pickle", **asked)
    return Picture(watched.page, open_page(watched.page, address))


def alive_at(event: int) -> Callable[[Life], bool]:
    return lambda life: life.at(event)


def cursor(watched: Watched) -> int:
    """The event that the cursor is at, once the address has settled."""
    settle(watched.page)
    return int(words_of(settled_address(watched.page, "p.memory.at="))["at"])


def agree(
    shown: Picture, truth: Recorded, chosen: Callable[[Life], bool], window: tuple[int, int]
) -> None:
    """That the highest instant in a window of single events is that of those ``chosen``."""
    most, counts = truth.highest(chosen, *window)
    until(shown, lambda: shown.highest()[0], most)
    assert shown.highest()[1] in counts


def until(shown: Picture, found: Callable[[], Any], wanted: Any) -> None:
    """Waits until what is ``found`` on the page is what is ``wanted``."""
    for _ in range(50):
        if found() == wanted:
            return
        shown.page.wait_for_timeout(100)
    assert found() == wanted


def hits(shown: Picture) -> list[int]:
    """Number and bytes of what is found, and of what of it is at the cursor, as the page says."""
    said = shown.frame.get_by_test_id("allocations-hits")
    parts = [
        (digits(part.inner_text().partition("hit")[0]), digits(part.get_attribute("title")))
        for part in (said.locator("span[title]").all() if said.count() else [])
    ]
    return [number for part in parts for number in part]


def digits(text: str | None) -> int:
    return int(re.sub(r"\D", "", text or ""))


def span(watched: Watched, word: str) -> tuple[int, int]:
    """The two ends of a range in the address, once that has settled."""
    settle(watched.page)
    begin, end = words_of(settled_address(watched.page, f"p.memory.{word}="))[word].split("..")
    return int(begin), int(end)
