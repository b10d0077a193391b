"""A file is read once, by whoever asks first, and the entry is of what the file is."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.store import children, importing
from tb_memory_plugin.store.cache import Cache
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.importing import imported
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.store.settings import Settings
from tests.fixtures.snapshots import snapshot, write_pickle

LIMITS = Limits(2 << 30, 120)
Reads = list[Path]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache", 1 << 30)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """The files that children were started for."""
    started: Reads = []
    real = children.read

    def read(path: Path, *arguments: Any) -> None:
        started.append(path)
        real(path, *arguments)

    monkeypatch.setattr(children, "read", read)
    return started


def before_reading(monkeypatch: pytest.MonkeyPatch, act: Callable[[int], None]) -> None:
    """Has ``act(n)`` called as the n-th child has read the file, before that is noticed."""
    real, count = children.read, [0]

    def read(*arguments: Any) -> None:
        try:
            real(*arguments)
        finally:
            act(count[0])
            count[0] += 1

    monkeypatch.setattr(children, "read", read)


def silent(fraction: float, phase: str) -> None:
    """Nobody asked."""


def test_a_second_time_comes_from_the_cache(cache: Cache, tmp_path: Path, reads: Reads) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    first = imported(cache, path, LIMITS, silent)
    assert imported(cache, path, LIMITS, silent) == first
    assert reads == [path]
    os.utime(path, (1, 1))
    assert imported(cache, path, LIMITS, silent) != first
    assert reads == [path, path]


def test_many_at_once_read_once(cache: Cache, tmp_path: Path, reads: Reads) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    found: list[object] = []
    phases: set[str] = set()
    threads = [
        threading.Thread(
            target=lambda: found.append(
                imported(cache, path, LIMITS, lambda _, phase: phases.add(phase))[0]
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(map(str, found))) == 1
    assert reads == [path]
    assert "waiting for another program that reads it" in phases


def test_a_file_replaced_while_it_is_read_is_read_again(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")

    def replace(time: int) -> None:
        if time == 0:
            write_pickle(snapshot(events=200), tmp_path / "new").replace(path)

    before_reading(monkeypatch, replace)
    keyed, entry = imported(cache, path, LIMITS, silent)
    assert entry.about["brief"]["events"] == 200
    assert keyed.stat.size == path.stat().st_size
    assert len(list(cache.entries.glob("*.tbmem"))) == 1


def test_half_a_file_that_becomes_whole_is_read_again(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pickle.dumps(snapshot(events=100), 4)
    path = tmp_path / "x.pickle"
    path.write_bytes(data[:-100])
    before_reading(monkeypatch, lambda time: path.write_bytes(data) if time == 0 else None)
    _, entry = imported(cache, path, LIMITS, silent)
    assert entry.about["brief"]["events"] == 100


def test_a_file_that_never_stays_the_same_is_one_sentence(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    before_reading(monkeypatch, lambda time: os.utime(path, (time, time)))
    with pytest.raises(SourceError, match="changed while it was read; open it again when the job"):
        imported(cache, path, LIMITS, silent)
    assert list(cache.entries.glob("*")) == []


def test_an_entry_that_vanishes_is_one_sentence(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    monkeypatch.setattr(importing.children, "read", lambda *_: None)
    with pytest.raises(SourceError, match="is gone from the cache folder"):
        imported(cache, path, LIMITS, silent)


@pytest.mark.parametrize("name", ["locks", "entries"])
def test_a_cache_folder_that_cannot_be_used_is_one_sentence(
    name: str, cache: Cache, tmp_path: Path
) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    (cache.root / name).write_text("not a folder")
    with pytest.raises(SourceError, match=r"the cache folder cannot be used .* choose another"):
        imported(cache, path, LIMITS, silent)
    with pytest.raises(SourceError, match="the cache folder cannot be used"):
        load_path(path, settings=Settings(cache=cache.root))


class TestLoading:
    """``load_path``, for the command line and Python."""

    def test_through_the_cache_and_around_it(self, tmp_path: Path, reads: Reads) -> None:
        path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
        settings = Settings(cache=tmp_path / "cache")
        said: list[tuple[float, str]] = []
        first = load_path(path, lambda *report: said.append(report), settings=settings)
        assert first.table("allocations").num_rows > 0
        assert said[-1] == (1.0, "ready")
        again = load_path(path, settings=settings)
        assert again.table("events").equals(first.table("events")) and len(reads) == 1
        around = load_path(path, cache=False, settings=settings)
        assert around.table("events").equals(first.table("events")) and len(reads) == 2
        assert len(list((tmp_path / "cache" / "entries").glob("*.tbmem"))) == 1

    def test_a_damaged_entry_is_read_again(self, tmp_path: Path, reads: Reads) -> None:
        path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
        settings = Settings(cache=tmp_path / "cache")
        load_path(path, settings=settings)
        (entry,) = (tmp_path / "cache" / "entries").glob("*.tbmem")
        entry.write_bytes(b"")
        assert load_path(path, settings=settings).table("events").num_rows == 100
        assert len(reads) == 2

    def test_a_path_to_nothing_is_one_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"x\.pickle: is not there"):
            load_path(tmp_path / "x.pickle", settings=Settings(cache=tmp_path / "cache"))
