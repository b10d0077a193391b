"""What is downloaded of the flame graph of real snapshots, read again, beside a plain walk."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.telling import is_library
from tests.browser.conftest import Watched
from tests.browser.looking import settle
from tests.browser.test_flame import Flame
from tests.browser.walked import NAMES, Real, serve, show
from tests.browser.weighed import said
from tests.plugin.server import TensorBoardServer
from tests.speedscope import checked

pytestmark = pytest.mark.framed


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """A TensorBoard on real snapshots that may show code."""
    folder = tmp_path_factory.mktemp("real-files")
    with serve(shared_data, folder, "--memory_show_source") as running:
        yield running


@pytest.fixture(scope="module", params=NAMES)
def real(request: pytest.FixtureRequest, shared_data: Path) -> Real:
    return Real(request.param, shared_data / "snapshots")


def read_folded(text: str) -> Counter[tuple[str, ...]]:
    sums: Counter[tuple[str, ...]] = Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        sums[tuple(stack.split(";"))] += int(value)
    return sums


def read_speedscope(text: str) -> Counter[tuple[str, ...]]:
    document = checked(text)
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
    settle(flame.page)
    turned = Counter({way[::-1]: weight for way, weight in ways.items()})
    assert read_folded(saved(flame, "folded", tmp_path)) == turned
    # Folded, stacks differ by the frames of the user's own, and library frames in a row are one.
    flame.frame.get_by_role("button", name="inverted").click()
    flame.frame.get_by_role("button", name="libraries folded").click()
    settle(flame.page)
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
