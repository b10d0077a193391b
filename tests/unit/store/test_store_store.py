"""Sources from being found to being looked at."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tb_memory_plugin.store import children
from tb_memory_plugin.store.store import Store, UnknownSource
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.unit.store.waiting import listed, opened, until


def test_a_store_does_nothing_until_it_is_asked(make: Callable[..., Store]) -> None:
    before = threading.active_count()
    store = make()
    assert threading.active_count() == before
    assert store.active is False


def test_a_new_file_shows_up_and_goes(logdir: Path, make: Callable[..., Store]) -> None:
    store = make()
    assert until(lambda: not store.sources()["scanning"])
    assert (store.sources()["sources"], store.active) == ([], False)
    path = write_pickle(snapshot(events=100), logdir / "run" / "x.pickle")
    (row,) = listed(store)
    assert (row["run"], row["name"], row["state"]) == ("run", "x.pickle", "new")
    assert store.active is True
    path.unlink()
    until(lambda: not store.sources()["sources"])
    with pytest.raises(UnknownSource):
        store.open(row["id"])
    assert store.active is True


def test_opening_reads_once_and_a_second_server_finds_it_read(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pickle(snapshot(events=100), logdir / "run" / "x.pickle")
    store = make()
    (row,) = listed(store)
    status = opened(store, row["id"])
    assert (status["state"], status["error"]) == ("ready", None)
    assert store.recording(row["id"]).table("events").num_rows == 100
    assert store.recording(row["id"], status["version"]) is store.recording(row["id"])
    summary = store.summary(row["id"])
    assert (summary["run"], summary["name"]) == ("run", "x.pickle")
    assert summary["version"] == status["version"]
    monkeypatch.setattr(children, "read", lambda *_: pytest.fail("it was read already"))
    other = make()
    (again,) = listed(other)
    assert (again["state"], again["brief"]["events"]) == ("ready", 100)
    assert other.open(again["id"]) == status


def test_a_source_not_yet_read_has_nothing_to_show(
    logdir: Path, make: Callable[..., Store]
) -> None:
    write_pickle(snapshot(events=100), logdir / "run" / "x.pickle")
    store = make()
    (row,) = listed(store)
    for ask in (store.summary, store.recording):
        with pytest.raises(UnknownSource):
            ask(row["id"])


def test_a_version_of_another_source_is_not_given_out(
    logdir: Path, make: Callable[..., Store]
) -> None:
    for name in ("x", "y"):
        write_pickle(snapshot(events=100), logdir / "run" / f"{name}.pickle")
    store = make()
    x, y = (row["id"] for row in listed(store, 2))
    version = opened(store, x)["version"]
    opened(store, y)
    with pytest.raises(UnknownSource, match=r"version of y\.pickle is gone"):
        store.recording(y, version)


def test_a_remote_source_is_fetched_and_read(tmp_path: Path, make: Callable[..., Store]) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe("/store/logs/run/x.pickle", pickle.dumps(snapshot(events=100), 4))
    try:
        store = make("memory://store/logs")
        (row,) = listed(store)
        status = opened(store, row["id"])
        assert status["state"] == "ready", status["error"]
        assert store.recording(row["id"]).table("events").num_rows == 100
        assert list((tmp_path / "cache" / "fetched").iterdir()) == []
    finally:
        files.rm("/store", recursive=True)
