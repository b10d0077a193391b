"""Sources whose files change, grow, fail and vanish while they are looked at."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store import children, source
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.store import Store
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.training import training
from tests.unit.store.waiting import listed, opened, until


def live_recording(path: Path, live: bool, events: int) -> None:
    made = training().only_recorded()
    tables = {**made.tables, "marks": made.tables["marks"].slice(0, events)}
    save(Recording({**made.meta, "live": live, "turn": events}, tables), path, compress=True)


def test_a_live_recording_keeps_its_last_version_while_it_is_read_again(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = logdir / "run" / "plugins" / "memory" / "live.tbmem"
    live_recording(path, True, 0)
    store = make()
    (row,) = listed(store)
    assert row["live"] is True
    first = opened(store, row["id"])
    assert store.summary(row["id"])["live"] is True

    going_on = threading.Event()
    real = children.read

    def slow(*arguments: Any) -> None:
        assert going_on.wait(60)
        real(*arguments)

    monkeypatch.setattr(children, "read", slow)
    live_recording(path, False, 1)
    until(lambda: store.sources()["sources"][0]["modified_ns"] != row["modified_ns"])
    during = store.open(row["id"])
    assert (during["state"], during["version"]) in (
        ("reading", first["version"]),
        ("queued", first["version"]),
    )
    until(lambda: store.open(row["id"])["state"] == "reading")
    assert store.recording(row["id"], first["version"]).meta["turn"] == 0
    assert store.summary(row["id"])["version"] == first["version"]
    going_on.set()
    second = opened(store, row["id"])
    assert second["version"] != first["version"]
    assert store.recording(row["id"]).meta["turn"] == 1
    assert store.recording(row["id"], first["version"]).meta["turn"] == 0  # still answered
    assert store.summary(row["id"])["live"] is False


def test_a_job_that_went_away_long_ago_is_not_live(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_LIVE", -1)
    live_recording(logdir / "run" / "x.tbmem", True, 0)
    (row,) = listed(make())
    assert row["live"] is False


def test_a_growing_file_is_an_error_until_it_is_whole(
    logdir: Path, make: Callable[..., Store]
) -> None:
    data = pickle.dumps(snapshot(events=100), 4)
    path = logdir / "run" / "x.pickle"
    path.write_bytes(data[:5000])
    store = make()
    (row,) = listed(store)
    status = opened(store, row["id"])
    assert status["state"] == "error"
    assert "ends in the middle: it was cut off or is still being written" in status["error"]
    assert listed(store)[0]["error"] == status["error"]
    with path.open("ab") as file:
        file.write(data[5000:])
    assert opened(store, row["id"])["state"] == "ready"  # without waiting for a new look
    assert listed(store)[0]["error"] is None


def test_a_scan_that_looked_earlier_does_not_hide_a_change(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pickle.dumps(snapshot(events=100), 4)
    path = logdir / "run" / "x.pickle"
    path.write_bytes(data[:5000])
    store = make()
    (row,) = listed(store)
    assert opened(store, row["id"])["state"] == "error"
    late = [store._source(row["id"]).found]
    look = store._as_it_is

    def look_with_a_scan_behind(known: source.Source) -> Found:
        now = look(known)
        while late:
            known.see(late.pop())
        return now

    monkeypatch.setattr(store, "_as_it_is", look_with_a_scan_behind)
    path.write_bytes(data)
    assert opened(store, row["id"])["state"] == "ready"


def test_a_file_that_goes_on_changing_is_not_read_at_every_change(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(source, "time", SimpleNamespace(monotonic=lambda: now[0], time_ns=int))
    path = write_pickle(snapshot(events=100), logdir / "run" / "x.pickle")
    store = make()
    (row,) = listed(store)
    first = opened(store, row["id"])

    def left_alone(after: float) -> bool:
        """Whether it is not read again when it changes so many seconds later."""
        now[0] += after
        write_pickle(snapshot(events=100), path)
        return "being written" in store.open(row["id"])["phase"]

    assert [left_alone(after=0.5) for _ in range(3)] == [True] * 3
    assert store.recording(row["id"]) is store.recording(row["id"], first["version"])
    now[0] += source.SETTLED
    second = opened(store, row["id"])
    assert second["state"] == "ready" and second["version"] != first["version"]
    assert left_alone(after=0.1)
    assert not left_alone(after=source.AGAIN)  # one that never settles is read now and then


def test_a_failure_is_remembered_and_then_tried_again(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = logdir / "run" / "x.pickle"
    path.write_bytes(b"\x80\x04}.")
    real, count = children.read, []

    def counting(read: Path, *arguments: Any) -> None:
        if read == path:  # a store of an earlier test may still be reading
            count.append(read)
        real(read, *arguments)

    monkeypatch.setattr(children, "read", counting)
    # However slow the machine is, the memory of a failure does not fade by itself here.
    monkeypatch.setattr(source, "AGAIN", 1e9)
    store = make()
    (row,) = listed(store)
    assert [opened(store, row["id"])["state"] for _ in range(3)] == ["error"] * 3
    assert len(count) == 1
    monkeypatch.setattr(source, "AGAIN", 0)
    assert store.open(row["id"])["state"] in ("queued", "reading")
    until(lambda: len(count) == 2)


@pytest.mark.parametrize("damage", ["remove", "empty"])
def test_an_entry_lost_from_the_cache_is_made_again(
    damage: str, logdir: Path, tmp_path: Path, make: Callable[..., Store]
) -> None:
    write_pickle(snapshot(events=100), logdir / "run" / "x.pickle")
    opened(first := make(), listed(first)[0]["id"])
    store = make()
    (row,) = listed(store)
    assert row["state"] == "ready"
    (entry,) = (tmp_path / "cache" / "entries").glob("*.tbmem")
    if damage == "remove":
        entry.unlink()
    else:
        entry.write_bytes(b"")
    status = opened(store, row["id"])
    assert status["state"] == "ready"
    assert store.recording(row["id"], status["version"]).table("events").num_rows == 100


def test_a_fault_in_the_store_itself_is_one_sentence_too(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(children, "read", broken)
    for name in ("x", "y"):
        write_pickle(snapshot(events=100), logdir / "run" / f"{name}.pickle")
    store = make()
    x, y = listed(store, 2)
    assert "ZeroDivisionError: of all things" in opened(store, x["id"])["error"]
    monkeypatch.undo()
    assert opened(store, y["id"])["state"] == "ready"  # the worker is still there
