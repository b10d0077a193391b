"""Snapshots and traces of one process: proposed, read when asked, opened as one, kept apart."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.store.pairs import MOST_SHIFT, id_of, pair_of
from tb_memory_plugin.store.source import Pair
from tb_memory_plugin.store.store import Store, UnknownSource
from tests.fixtures.pairs import Shown, write_pair
from tests.fixtures.snapshots import snapshot as snapshot_of
from tests.fixtures.snapshots import write_pickle
from tests.unit.store.waiting import listed, opened, until

MakeStore = Callable[..., Store]


@pytest.fixture
def paths(logdir: Path) -> tuple[Path, Path]:
    """A snapshot and its trace in the run."""
    return write_pair(logdir / "run", shown=Shown(ppm=30))


def known(store: Store) -> dict[str, str]:
    """Ids by name."""
    return {row["name"]: row["id"] for row in listed(store, 2)}


def settled(store: Store, id: str, **asked: Any) -> list[dict[str, Any]]:
    """The pairs of a source, once nothing is being read or matched."""
    busy = {"reading", "matching"}
    until(lambda: not {row["state"] for row in store.pairs(id, **asked)["pairs"]} & busy)
    rows: list[dict[str, Any]] = store.pairs(id, **asked)["pairs"]
    return rows


def test_ids_hold_all_that_a_pair_is() -> None:
    for shift in (None, 0, 5, -5, MOST_SHIFT, -MOST_SHIFT):
        pair = Pair("0123456789abcdef", "fedcba9876543210", shift)
        assert pair_of(id_of(pair)) == pair
    for id in ("", "0" * 16, "0" * 31, "0" * 33, "0" * 64, "g" * 32):
        assert pair_of(id) is None
    for shift in (MOST_SHIFT + 1, -MOST_SHIFT - 1, (1 << 63) - 1, -(1 << 63)):
        assert pair_of(id_of(Pair("0" * 16, "1" * 16, shift))) is None


def test_nothing_is_read_until_somebody_asks(make: MakeStore, paths: tuple[Path, Path]) -> None:
    store = make()
    ids = known(store)
    snapshot, trace = (ids[path.name] for path in paths)
    for id in (snapshot, trace):
        answer = store.pairs(id)
        assert (answer["source"], answer["hidden"]) == (id, 0)
        (row,) = answer["pairs"]
        assert (row["snapshot"], row["trace"], row["state"]) == (snapshot, trace, "unread")
    assert {row["state"] for row in store.sources()["sources"]} == {"new"}
    (row,) = settled(store, snapshot, match=trace)
    assert row["state"] == "matched" and row["error"] is None
    found = row["match"]
    assert found["snapshot_share"] == found["trace_share"] == 1.0
    assert abs(found["offset_ns"] - 987_654_321_000) < 100_000
    assert found["drift_ppm"] == pytest.approx(30, abs=0.5)
    # Both were read for it, and another server knows what was found.
    assert {row["state"] for row in store.sources()["sources"]} == {"ready"}
    other = make()
    known(other)
    assert settled(other, trace)[0]["match"] == found


def test_a_pair_is_opened_as_a_source_is(make: MakeStore, paths: tuple[Path, Path]) -> None:
    store = make()
    ids = known(store)
    snapshot, trace = (ids[path.name] for path in paths)
    (row,) = store.pairs(trace)["pairs"]
    assert opened(store, row["pair"])["state"] == "ready"  # nobody had read the parts
    summary = store.summary(row["pair"])
    assert summary["name"] == "snapshot.pickle + profile.pt.trace.json"
    assert summary["meta"]["pair"]["matched"] > 700 and summary["meta"]["pair"]["shift_ns"] == 0
    both, alone = store.recording(row["pair"]), store.recording(snapshot)
    same = ["birth", "death", "requested", "address"]
    assert both.table("allocations").select(same).equals(alone.table("allocations").select(same))
    assert both.table("spans").num_rows > alone.table("spans").num_rows
    rows = {each["id"]: each for each in store.sources()["sources"]}
    assert rows[row["pair"]]["pair"] == {"snapshot": snapshot, "trace": trace, "shift_ns": None}
    assert rows[row["pair"]]["run"] == rows[snapshot]["run"]
    assert rows[snapshot]["pair"] is None and rows[snapshot]["state"] == "ready"
    (own,) = store.pairs(row["pair"])["pairs"]
    assert own["pair"] == row["pair"]
    # It is nobody's part.
    assert [each["pair"] for each in store.pairs(trace)["pairs"]] == [row["pair"]]


def test_a_link_to_a_pair_holds_on_another_server(
    make: MakeStore, paths: tuple[Path, Path]
) -> None:
    store = make()
    (row,) = store.pairs(known(store)[paths[0].name])["pairs"]
    version = opened(store, row["pair"])["version"]
    other = make()
    known(other)
    again = other.open(row["pair"])
    assert again["version"] in ("", version)
    assert opened(other, row["pair"])["version"] == version


def test_a_shift_moves_the_trace(make: MakeStore, paths: tuple[Path, Path]) -> None:
    store = make()
    snapshot = known(store)[paths[0].name]
    plain = store.pairs(snapshot)["pairs"][0]["pair"]
    moved = store.pairs(snapshot, shift=-2_000)["pairs"][0]["pair"]
    assert plain != moved
    begins = []
    for id in (plain, moved):
        version = opened(store, id)["version"]
        recording = store.recording(id, version)
        begin = recording.values("spans", "begin")
        begins.append(int(begin.min()) + recording.meta["time_origin_ns"])
    assert begins[1] == begins[0] - 2_000
    assert store.pairs(moved, shift=700)["pairs"][0]["pair"] not in (plain, moved)


def test_what_is_of_another_process_is_told(make: MakeStore, logdir: Path) -> None:
    folder = logdir / "other"
    folder.mkdir()
    write_pair(folder, seed=5, base=0x7E00_0000_0000)
    snapshot, _ = write_pair(logdir / "run")
    shutil.move(folder / "profile.pt.trace.json", logdir / "run" / "other.pt.trace.json")
    (folder / "snapshot.pickle").unlink()
    store = make()
    ids = known(store)
    own = ids[snapshot.name]
    rows = store.pairs(own)["pairs"]
    assert {row["trace"] for row in rows} == {
        ids["profile.pt.trace.json"],
        ids["other.pt.trace.json"],
    }
    for row in rows:
        settled_rows = settled(store, own, match=row["trace"])
    states = {row["trace"]: row["state"] for row in settled_rows}
    assert states[ids["profile.pt.trace.json"]] == "matched"
    assert states[ids["other.pt.trace.json"]] == "different"
    assert settled_rows[0]["state"] == "matched"  # the best comes first
    (other,) = [row for row in settled_rows if row["state"] == "different"]
    failed = opened(store, other["pair"])
    assert failed["state"] == "error" and "not of one process" in failed["error"]
    # By hand it can be opened all the same.
    rows = store.pairs(own, shift=0)["pairs"]
    (forced,) = [row for row in rows if row["trace"] == ids["other.pt.trace.json"]]
    assert opened(store, forced["pair"])["state"] == "ready"
    assert store.summary(forced["pair"])["meta"]["pair"]["matched"] == 0


def test_ranks_that_differ_are_no_pair(make: MakeStore, logdir: Path) -> None:
    for rank in (0, 1):
        folder = logdir / "run" / f"rank{rank}"
        folder.mkdir()
        write_pair(folder, rank=rank, seed=rank)
    store = make()
    until(lambda: len(store.sources()["sources"]) == 4)
    rows = {row["id"]: row for row in store.sources()["sources"]}
    for id, row in rows.items():
        found = store.pairs(id)["pairs"]
        assert len(found) == 1
        assert {rows[found[0][part]]["rank"] for part in ("snapshot", "trace")} == {row["rank"]}


def test_any_two_can_be_asked_for_and_those_that_cannot_be_are_refused(
    make: MakeStore, logdir: Path, paths: tuple[Path, Path]
) -> None:
    far = logdir / "far" / "away"
    far.mkdir(parents=True)
    shutil.move(paths[1], far / paths[1].name)
    store = make()
    until(lambda: len(store.sources()["sources"]) == 2)
    ids = {Path(row["name"]).name: row["id"] for row in store.sources()["sources"]}
    snapshot, trace = ids[paths[0].name], ids[paths[1].name]
    assert store.pairs(snapshot)["pairs"] == []
    (row,) = settled(store, snapshot, match=trace)
    assert row["state"] == "matched"
    with pytest.raises(UnknownSource):
        store.pairs(snapshot, match="ab" * 8)
    with pytest.raises(UnknownSource):
        store.open(snapshot + "ab" * 8)
    shutil.copy(paths[0], logdir / "run" / "again.pickle")
    other = make()
    until(lambda: len(other.sources()["sources"]) == 3)
    twin = {Path(row["name"]).name: row["id"] for row in other.sources()["sources"]}["again.pickle"]
    with pytest.raises(QueryError, match="cannot be a pair"):
        other.pairs(snapshot, match=twin)


def test_a_part_that_cannot_be_read_says_so(make: MakeStore, paths: tuple[Path, Path]) -> None:
    paths[1].write_text(json.dumps({"traceEvents": [{"ph": "X", "name": "x"}]}))
    store = make()
    ids = known(store)
    (row,) = settled(store, ids[paths[0].name], match=ids[paths[1].name])
    assert row["state"] == "error" and "no memory events" in row["error"]
    failed = opened(store, row["pair"])
    assert failed["state"] == "error" and "no memory events" in failed["error"]


def test_a_part_that_is_gone_takes_the_pair_with_it(
    make: MakeStore, paths: tuple[Path, Path]
) -> None:
    store = make()
    (row,) = store.pairs(known(store)[paths[0].name])["pairs"]
    opened(store, row["pair"])
    paths[1].unlink()
    until(lambda: row["pair"] not in {each["id"] for each in store.sources()["sources"]})
    with pytest.raises(UnknownSource):
        store.open(row["pair"])


def test_of_many_those_written_at_about_the_same_time_are_proposed(
    make: MakeStore, logdir: Path, paths: tuple[Path, Path]
) -> None:
    snapshot, trace = paths
    written = trace.stat().st_mtime_ns
    os.utime(snapshot, ns=(written, written))
    for number in range(1, 18):
        copy = logdir / "run" / f"{number}.pt.trace.json"
        shutil.copy(trace, copy)
        os.utime(copy, ns=(written, written + number * 10**9))
    store = make()
    ids = {row["name"]: row["id"] for row in listed(store, 19)}
    answer = store.pairs(ids[snapshot.name])
    expected = [trace.name, *(f"{number}.pt.trace.json" for number in range(1, 16))]
    assert [row["trace"] for row in answer["pairs"]] == [ids[name] for name in expected]
    assert answer["hidden"] == 2
    last = store.pairs(ids[snapshot.name], match=ids["17.pt.trace.json"])
    assert last["pairs"][0]["trace"] == ids["17.pt.trace.json"]


def test_a_pair_is_asked_for_by_its_own_id_too(make: MakeStore, paths: tuple[Path, Path]) -> None:
    store = make()
    ids = known(store)
    snapshot, trace = (ids[path.name] for path in paths)
    pair = store.pairs(snapshot, shift=3)["pairs"][0]["pair"]
    assert settled(store, pair, match=pair)[0]["state"] == "matched"
    assert settled(store, trace, match=pair)[0]["state"] == "matched"
    assert store.pairs(pair)["pairs"][0]["pair"] == pair
    other = write_pickle(snapshot_of(events=40), paths[0].with_name("other.pickle"))
    until(lambda: len(store.sources()["sources"]) == 4)
    own = {row["name"]: row["id"] for row in store.sources()["sources"]}[other.name]
    with pytest.raises(QueryError, match="cannot be a pair"):
        store.pairs(own, match=pair)
