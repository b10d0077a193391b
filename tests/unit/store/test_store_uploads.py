"""Files dropped on the page."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.exceptions import ClientDisconnected

from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.store.store import Store
from tb_memory_plugin.store.uploads import Uploads, fit
from tests.fixtures.snapshots import snapshot
from tests.unit.store.waiting import listed, opened, until


def test_a_dropped_file_is_a_source(
    logdir: Path, make: Callable[..., Store], tmp_path: Path
) -> None:
    store = make()
    data = pickle.dumps(snapshot(events=100), 4)
    id = store.add_upload("../../mine.pickle", io.BytesIO(data), len(data))
    (row,) = listed(store)
    assert (row["id"], row["run"], row["name"]) == (id, "(dropped)", "mine.pickle")
    assert row["uploaded"] is True
    assert opened(store, id)["state"] == "ready"
    assert store.recording(id).meta["source"] == "mine.pickle"
    assert store.add_upload("mine.pickle", io.BytesIO(data), None) == id
    assert list(logdir.rglob("*.pickle")) == []
    assert len(list((tmp_path / "cache").rglob("mine.pickle"))) == 1
    (again,) = listed(make())
    assert (again["id"], again["state"]) == (id, "ready")


def test_dropped_ranks_are_a_session_unless_one_is_there_twice(
    make: Callable[..., Store],
) -> None:
    store = make()
    for seed in range(3):
        data = pickle.dumps(snapshot(events=30, seed=seed), 4)
        store.add_upload(f"rank{seed}.pickle", io.BytesIO(data), None)
    listed(store, 3)
    answer = store.sources()
    assert [(one["run"], one["label"]) for one in answer["sessions"]] == [
        ("(dropped)", "rank*.pickle")
    ]
    assert [row["rank"] for row in answer["sources"]] == [0, 1, 2]
    other = pickle.dumps(snapshot(events=30, seed=7), 4)
    store.add_upload("rank1.pickle", io.BytesIO(other), None)
    assert (len(listed(store, 4)), store.sources()["sessions"]) == (4, [])


def test_what_cannot_be_taken_is_refused_in_words(
    make: Callable[..., Store], tmp_path: Path
) -> None:
    store = make(upload_bytes=1000)
    for body, length, words in (
        (b"x" * 1001, 1001, "larger than 1000 B"),
        (b"x" * 1001, None, "larger than 1000 B"),
        (b"x" * 10, 20, "only 10 of 20 bytes arrived"),
        (b"", 0, "is empty"),
    ):
        with pytest.raises(QueryError, match=words):
            store.add_upload("x.pickle", io.BytesIO(body), length)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), ClientDisconnected()])
def test_a_sender_that_goes_away_is_one_sentence(
    error: Exception, make: Callable[..., Store], tmp_path: Path
) -> None:
    class Cut(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            piece = super().read(4)
            if not piece:
                raise error
            return piece

    for length, words in ((20, "only 8 of 20 bytes arrived"), (None, "only 8 bytes arrived")):
        with pytest.raises(QueryError, match=rf"x\.pickle: {words}; drop it again"):
            make().add_upload("x.pickle", Cut(b"x" * 8), length)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_one_that_comes_while_a_round_ends_stays(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    real, came = Uploads.all, []

    def just_before(self: Uploads) -> list[Any]:
        found = real(self)
        if not came:
            came.append(store.add_upload("x.pickle", io.BytesIO(b"x" * 10), 10))
        return found

    monkeypatch.setattr(Uploads, "all", just_before)
    store.look()
    until(lambda: came and not store.sources()["scanning"])
    assert [row["id"] for row in store.sources()["sources"]] == came


def test_old_ones_make_room(make: Callable[..., Store]) -> None:
    store = make(cache_bytes=3000)
    ids = [store.add_upload(f"{n}.pickle", io.BytesIO(b"x" * 1000), None) for n in range(5)]
    kept = {row["id"] for row in listed(make(cache_bytes=3000), 3)}
    assert len(kept) == 3 and ids[-1] in kept


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("x.pickle", "x.pickle"),
        ("../../etc/passwd", "passwd"),
        ("C:\\snapshots\\x.pickle", "x.pickle"),
        (".hidden", "hidden"),
        ("..", "recording"),
        ("", "recording"),
        ("a\0b\n.pickle", "a_b_.pickle"),
        ("ünï.pickle", "_n_.pickle"),
        ("x" * 500 + ".pickle", "x" * 120 + ".pickle"),
    ],
)
def test_names_are_labels_only(name: str, label: str) -> None:
    assert fit(name) == label
