"""Every life of real snapshots as it is read, beside what a plain reading of the file finds.

Tests of the page take ``Recorded`` and ``Weighed`` for the truth, which are made of tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.browser.filed import File
from tests.browser.real import SERVED
from tests.browser.recorded import recorded
from tests.browser.weighed import BEFORE, NONE, Frame, Weighed


@pytest.fixture(scope="module", params=SERVED)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def file(name: str, shared_data: Path) -> File:
    return File(shared_data / "snapshots" / f"{name}.pickle")


def differing(
    found: Counter[Hashable], wanted: Counter[Hashable]
) -> tuple[list[Hashable], list[Hashable]]:
    """A few of what is found too often, and of what is missing."""
    return [*(found - wanted)][:3], [*(wanted - found)][:3]


def test_recorded_lives_are_those_of_the_file(name: str, file: File, shared_data: Path) -> None:
    in_words = cache(searched)
    wanted: Counter[Hashable] = Counter(
        (life.birth, life.death, life.bytes, life.address, in_words(life.stack))
        for life in file.lives
    )
    read = recorded(shared_data, name)
    found: Counter[Hashable] = Counter(
        (life.birth, life.death, life.bytes, life.address, life.frames) for life in read.lives
    )
    assert differing(found, wanted) == ([], [])
    assert (read.events, read.peak) == (len(file.trace), file.peak)
    assert len({life.stack for life in file.lives}) > 10


def test_weighed_lives_are_those_of_the_file(name: str, file: File, shared_data: Path) -> None:
    wanted: Counter[Hashable] = Counter(
        (
            life.birth,
            len(file.trace) if life.death == math.inf else life.death,
            life.bytes,
            life.stack[::-1] or (BEFORE if life.birth < 0 else NONE),
        )
        for life in file.lives
    )
    read = Weighed.of(shared_data / "snapshots" / f"{name}.pickle")
    found: Counter[Hashable] = Counter(
        (life.birth, life.death, life.bytes, life.stack) for life in read.lives
    )
    assert differing(found, wanted) == ([], [])
    assert read.allocated(file.peak) == sum(life.bytes for life in file.alive(file.peak))
    stacks = [tuple(framed(entry))[::-1] or NONE for entry in file.trace]
    pairs = enumerate(zip(read.stacks, stacks, strict=True))
    assert [event for event, (said, held) in pairs if said != held] == []


def searched(stack: tuple[Frame, ...]) -> str:
    """A stack in small letters, a frame a line."""
    return "\n".join(f"{name} {path}:{line}".lower() for name, path, line in stack)


def framed(entry: dict[str, Any]) -> list[Frame]:
    """What an entry of a trace says of its stack, from the innermost frame outwards."""
    return [(each["name"], each["filename"], each["line"]) for each in entry.get("frames") or ()]
