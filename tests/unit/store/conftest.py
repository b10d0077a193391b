"""A logdir with a run, and stores on it that share a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.store import starting
from tb_memory_plugin.store.roots import Root
from tb_memory_plugin.store.settings import Settings
from tb_memory_plugin.store.store import Store
from tests.fixtures.snapshots import snapshot


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    return snapshot(events=40)


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    folder = tmp_path / "logdir"
    (folder / "run").mkdir(parents=True)
    return folder


@pytest.fixture
def make(tmp_path: Path, logdir: Path) -> Iterator[Callable[..., Store]]:
    """Makes stores for the logdir, all with one cache."""

    def made(address: str = "", **settings: Any) -> Store:
        given = {"cache": tmp_path / "cache", "workers": 1, **settings}
        return Store([Root(address or str(logdir), "", "logdir")], Settings(**given))

    yield made
    starting.stop_all()
