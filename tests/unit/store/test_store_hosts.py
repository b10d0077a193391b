"""The hosts of a session in the store: listed together, read in the background, failing alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.store import children
from tb_memory_plugin.store.store import Store, UnknownSource
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.unit.store.waiting import listed, opened, until


def ranks(logdir: Path, *numbers: int) -> None:
    for rank in numbers:
        made = snapshot(events=60 + 40 * rank, seed=rank)
        write_pickle(made, logdir / "run" / f"rank{rank}.pickle")


def states(store: Store) -> dict[int, str]:
    return {row["rank"]: row["state"] for row in store.sources()["sources"]}


def held(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[str]]:
    """Has reading wait for an event; and the names of files, as reading them begins."""
    gate, begun, real = threading.Event(), [], children.read

    def slow(path: Path, *more: Any) -> None:
        begun.append(path.name)
        assert gate.wait(60)
        real(path, *more)

    monkeypatch.setattr(children, "read", slow)
    return gate, begun


def test_a_session_is_listed_and_grows(logdir: Path, make: Callable[..., Store]) -> None:
    ranks(logdir, 0)
    write_pickle(snapshot(events=40), logdir / "run" / "other.pickle")
    store = make()
    rows = listed(store, 2)
    assert [(row["session"], row["host"], row["rank"]) for row in rows] == [(None, None, None)] * 2
    ranks(logdir, 1)
    answer = until(lambda: (found := store.sources())["sessions"] and found)
    (session,) = answer["sessions"]
    assert {**session, "key": ""} == {
        "key": "",
        "run": "run",
        "label": "rank*.pickle",
        "of": "rank",
    }
    told = {row["name"]: (row["session"], row["host"], row["rank"]) for row in answer["sources"]}
    assert told == {
        "other.pickle": (None, None, None),
        "rank0.pickle": (session["key"], "rank 0", 0),
        "rank1.pickle": (session["key"], "rank 1", 1),
    }
    (logdir / "run" / "rank1.pickle").unlink()
    until(lambda: not store.sources()["sessions"])


def test_all_of_a_session_are_read_and_one_that_is_broken_fails_alone(
    logdir: Path, make: Callable[..., Store]
) -> None:
    ranks(logdir, 0, 1, 2)
    broken = logdir / "run" / "rank3.pickle"
    broken.write_bytes((logdir / "run" / "rank2.pickle").read_bytes()[:400])
    write_pickle(snapshot(events=40), logdir / "run" / "other.pickle")
    store = make()
    rows = {row["name"]: row for row in listed(store, 5)}
    asked = store.read_session(rows["rank0.pickle"]["id"])
    assert asked["hosts"] == 4
    expected = {0: "ready", 1: "ready", 2: "ready", 3: "error", None: "new"}
    until(lambda: states(store) == expected)
    found = {row["rank"]: row for row in store.sources()["sources"]}
    assert "rank3.pickle" in found[3]["error"]
    peaks = [found[rank]["brief"]["peak_bytes"] for rank in range(3)]
    assert len(set(peaks)) == 3
    for rank in range(3):
        id, told = found[rank]["id"], found[rank]["brief"]
        assert opened(store, id)["state"] == "ready"
        device = max(store.summary(id)["devices"], key=lambda one: one["allocated_peak"])
        assert told["peak_bytes"] == device["allocated_peak"]
        assert (told["peak_device"], told["capacity"]) == (device["name"], device["capacity"])
    # Nothing is left to do: what cannot be read is not tried again and again.
    assert store.read_session(found[0]["id"]) == {"hosts": 4, "read": 3, "waiting": 0}
    assert store.read_session(rows["other.pickle"]["id"]) == {"hosts": 0, "read": 0, "waiting": 0}


def test_what_somebody_opens_does_not_wait_for_the_others(
    logdir: Path, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks(logdir, *range(5))
    gate, begun = held(monkeypatch)
    store = make()
    ids = {row["rank"]: row["id"] for row in listed(store, 5)}
    assert store.read_session(ids[0])["waiting"] == 5
    until(lambda: begun == ["rank0.pickle"])
    store.open(ids[3])
    until(lambda: begun == ["rank0.pickle", "rank3.pickle"])
    assert states(store) == {0: "reading", 1: "queued", 2: "queued", 3: "reading", 4: "queued"}
    assert store.read_session(ids[0], stop=True)["waiting"] == 2
    gate.set()
    until(lambda: states(store) == {0: "ready", 1: "new", 2: "new", 3: "ready", 4: "new"})
    assert sorted(begun) == ["rank0.pickle", "rank3.pickle"]


def test_a_host_that_changed_is_read_again(logdir: Path, make: Callable[..., Store]) -> None:
    ranks(logdir, 0, 1)
    store = make()
    ids = {row["rank"]: row["id"] for row in listed(store, 2)}
    store.read_session(ids[0])
    until(lambda: set(states(store).values()) == {"ready"})

    def events() -> int:
        rows = store.sources()["sources"]
        return next(int(row["brief"]["events"]) for row in rows if row["rank"] == 1)

    assert events() == 100
    write_pickle(snapshot(events=300, seed=9), logdir / "run" / "rank1.pickle")
    until(lambda: store.read_session(ids[0]) and events() == 300)


def test_there_must_be_such_a_source(make: Callable[..., Store]) -> None:
    with pytest.raises(UnknownSource):
        make().read_session("ab")


def test_an_origin_is_told_to_the_nanosecond(logdir: Path, make: Callable[..., Store]) -> None:
    ranks(logdir, 0)
    store = make()
    (row,) = listed(store)
    opened(store, row["id"])
    answer = store.summary(row["id"])
    assert answer["time_origin"] == str(answer["time_origin_ns"])
    assert answer["time_origin_ns"] > 2**53
