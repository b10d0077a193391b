"""Logdirs for TensorBoard, with ordinary scalars beside the memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.logdirs import tree, write_scalars


@pytest.fixture
def logdir(tmp_path: Path) -> Iterator[Path]:
    """Two runs with scalars, one of them with a snapshot; checked not to be written to."""
    folder = tmp_path / "logdir"
    write_scalars(folder / "one")
    write_scalars(folder / "two")
    write_pickle(snapshot(events=400), folder / "one" / "snapshot.pickle")
    before = tree(folder)
    yield folder
    assert tree(folder) == before
