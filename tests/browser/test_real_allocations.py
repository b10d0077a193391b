"""The Allocations view on snapshots from real GPUs, beside what plain Python finds in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.looking import link, open_page
from tests.browser.picturing import Picture
from tests.browser.recorded import Recorded, recorded
from tests.plugin.server import TensorBoardServer

#: A training loop whose window begins late, and one of three GPUs that ran out of memory.
NAMES = ("small_train", "oom_expandable_3gpu")


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots."""
    folder = tmp_path_factory.mktemp("real")
    for name in NAMES:
        (folder / name).mkdir()
        real = shared_data / "snapshots" / f"{name}.pickle"
        (folder / name / "snapshot.pickle").symlink_to(real)
    cache = tmp_path_factory.mktemp("real-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


@pytest.fixture(scope="module", params=NAMES)
def truth(request: pytest.FixtureRequest, shared_data: Path) -> Recorded:
    return recorded(shared_data, request.param)


def show(watched: Watched, server: TensorBoardServer, truth: Recorded, **words: object) -> Picture:
    asked = {"view": "allocations", "axis": "event", "device": "0", **words}
    address = server.url + link(truth.name, "snapshot.pickle", **asked)
    return Picture(watched.page, open_page(watched.page, address))


def test_what_a_size_may_be_is_many_times_one_that_recurs_anywhere(
    watched: Watched, server: TensorBoardServer, truth: Recorded, picture: Any
) -> None:
    basis = truth.recording.values("allocations", "requested").tolist()
    counts = Counter(size for size in basis if size > 0)
    at_peak = Counter(life.bytes for life in truth.lives if life.at(truth.peak))
    # One whose size is a multiple of one that recurs, but not at the peak.
    elsewhere = {size for size, count in counts.items() if count > 1 >= at_peak[size]}
    chosen = next(
        life
        for life in sorted(truth.lives, key=lambda life: -life.bytes)
        if any(life.bytes % size == 0 and 1 < life.bytes // size <= 4 for size in elsewhere)
    )
    shown = show(watched, server, truth, allocation=chosen.id)
    guesses = shown.frame.locator(".inspector .guesses li")
    guesses.first.wait_for()
    said = [re.sub(r"[\u202f\u00a0]", " ", text) for text in guesses.all_inner_texts()]
    exact = [
        int(re.sub(r"\D", "", each.get_attribute("title") or ""))
        for each in guesses.locator("[title*=byte]").all()
    ]
    fitting = sorted(
        (size for size in counts if counts[size] > 1 and chosen.bytes % size == 0), reverse=True
    )
    times = [size for size in fitting if 1 < chosen.bytes // size <= 512]
    assert exact == times[:3]
    assert elsewhere & set(exact)
    for text, size in zip(said[-len(exact) :], exact, strict=True):
        assert text.startswith(f"{chosen.bytes // size} × ")
        assert text.replace(" ", "").endswith(f"there{counts[size]}times")
    for text in said[: -len(exact)]:
        *sides, width = [int(re.sub(r" ", "", part)) for part in re.findall(r"\d[\d ]*", text)]
        product = width
        for side in sides:
            product *= side
        assert product == chosen.bytes
        one, other = ([1, *sides])[-2:]
        assert {one * width, other * width, one * other * width} & set(fitting)
    picture(watched.page, "guesses")
