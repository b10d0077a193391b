"""Sources from being found to being looked at, whatever happens to their files meanwhile."""

from __future__ import annotations

import io
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from werkzeug.exceptions import ClientDisconnected

from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store import children, source
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.queue import Job, Queue
from tb_memory_plugin.store.roots import Root
from tb_memory_plugin.store.settings import Settings
from tb_memory_plugin.store.store import Store, UnknownSource
from tb_memory_plugin.store.uploads import Uploads, fit
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.training import training


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """What ``condition`` gives once that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return found


def opened(store: Store, id: str) -> dict[str, Any]:
    """What ``open`` says once the source is neither queued nor being read."""

    def settled() -> dict[str, Any] | None:
        status = store.open(id)
        return None if status["state"] in ("queued", "reading") else status

    found: dict[str, Any] = until(settled)
    return found


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
    children.stop_all()


def listed(store: Store, count: int = 1) -> list[dict[str, Any]]:
    """The sources, once there are ``count``."""

    def enough() -> list[dict[str, Any]] | None:
        answer = store.sources()
        rows: list[dict[str, Any]] = answer["sources"]
        return rows if not answer["scanning"] and len(rows) >= count else None

    found: list[dict[str, Any]] = until(enough)
    return found


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


class TestUploads:
    """Files dropped on the page."""

    def test_a_dropped_file_is_a_source(
        self, logdir: Path, make: Callable[..., Store], tmp_path: Path
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

    def test_what_cannot_be_taken_is_refused_in_words(
        self, make: Callable[..., Store], tmp_path: Path
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
        self, error: Exception, make: Callable[..., Store], tmp_path: Path
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
        self, make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
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

    def test_old_ones_make_room(self, make: Callable[..., Store]) -> None:
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
    def test_names_are_labels_only(self, name: str, label: str) -> None:
        assert fit(name) == label


class TestQueue:
    """Who asked last is served first."""

    def test_last_asked_first_done(self) -> None:
        queue, gate, done = Queue(1), threading.Event(), []
        first = Job(lambda job: (gate.wait(30), done.append("first"))[0])
        queue.add(first)
        until(lambda: first.state == "reading")
        jobs = {n: Job(lambda job, n=n: done.append(n)) for n in ("a", "b", "c")}  # type: ignore[misc]
        for job in jobs.values():
            queue.add(job)
        assert {job.state for job in jobs.values()} == {"queued"}
        jobs["a"].ask()
        gate.set()
        until(lambda: len(done) == 4)
        assert done == ["first", "a", "c", "b"]

    def test_no_more_at_once_than_workers(self) -> None:
        queue, now, most, gate = Queue(2), [0], [0], threading.Lock()

        def work(job: Job) -> None:
            with gate:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.02)
            with gate:
                now[0] -= 1
                finished.append(1)

        finished: list[int] = []
        for _ in range(8):
            queue.add(Job(work))
        until(lambda: len(finished) == 8)
        assert most[0] == 2


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
