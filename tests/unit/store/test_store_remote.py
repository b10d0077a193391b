"""A logdir on an object store, which fsspec's own in-memory one stands for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.store import discovery
from tb_memory_plugin.store.sessions import sessions
from tests.unit.store.test_store_discovery import found, put


@pytest.fixture
def bucket(small: Any, tmp_path: Path) -> Iterator[str]:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    data = put(small, tmp_path / "x.pickle").read_bytes()
    for way in (
        "top.pickle",
        "one/x.pickle",
        "one/notes.txt",
        "two/plugins/memory/y.pickle",
        "two/deep/er/z.pickle",
    ):
        files.pipe(f"/bucket/logs/{way}", data)
    yield "memory://bucket/logs"
    files.rm("/bucket", recursive=True)


def test_runs_are_listed_one_level_deep(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a bucket is not walked")

    files = type(fsspec.filesystem("memory"))
    with monkeypatch.context() as patched:
        for walking in ("walk", "find", "glob", "du"):
            patched.setattr(files, walking, never)
        sources = found(bucket)
    assert [f"{s.run}/{s.name}" for s in sources] == [
        "./top.pickle",
        "one/x.pickle",
        "two/y.pickle",
    ]
    assert all(s.stat.size > 0 and s.stat.modified_ns > 0 for s in sources)
    assert all(s.address.startswith("memory://") for s in sources)


def test_the_newest_captures_of_a_run_are_listed(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    monkeypatch.setattr(discovery, "MOST_REMOTE_CAPTURES", 2)
    files = fsspec.filesystem("memory")
    for run in ("", "one/"):
        for capture in ("2026_01_01", "2026_01_02", "2026_01_03"):
            for host in "ab":
                way = f"{run}plugins/profile/{capture}/{host}.xplane.pb"
                files.pipe(f"/bucket/logs/{way}", b"x")
    sources = found(bucket)
    captured = [s for s in sources if s.format == "xplane"]
    assert [f"{s.run}/{s.name}" for s in captured] == [
        f"{run}/plugins/profile/2026_01_{day}/{host}.xplane.pb"
        for run in (".", "one")
        for day in ("03", "02")
        for host in "ab"
    ]
    assert len({place.session for place in sessions(sources).values()}) == 4
    assert {s.name for s in sources if s not in captured} == {
        "top.pickle",
        "x.pickle",
        "y.pickle",
    }


def test_a_folder_is_not_in_itself(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    files = type(fsspec.filesystem("memory"))
    real = files.ls

    def with_marker(self: Any, path: str, **options: Any) -> Any:
        marker = {"name": self._strip_protocol(path) + "/", "size": 0, "type": "directory"}
        return [marker, *real(self, path, **options)]

    with monkeypatch.context() as patched:
        patched.setattr(files, "ls", with_marker)
        assert [s.run for s in found(bucket)] == [".", "one", "two"]


def test_an_error_of_its_own_is_the_sentence_of_one_folder(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    files = type(fsspec.filesystem("memory"))
    real = files.ls

    def refused(self: Any, path: str, **options: Any) -> Any:
        if path.endswith("/one"):
            raise KeyError("Forbidden")
        return real(self, path, **options)

    # Undone at once: the bucket is listed again when it is emptied.
    with monkeypatch.context() as patched:
        patched.setattr(files, "ls", refused)
        top, one, two = found(bucket)
    assert (top.fault, two.fault) == (None, None)
    assert not one.is_file and one.run == "one"
    assert one.fault == (
        "memory:///bucket/logs/one: its file system failed (KeyError: 'Forbidden'); check the "
        "address, the connection and the permissions."
    )


def test_a_file_system_that_cannot_be_set_up_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = pytest.importorskip("fsspec.core")

    def unset(address: str) -> None:
        raise TypeError("no credentials")

    monkeypatch.setattr(core, "url_to_fs", unset)
    (only,) = found("memory://bucket/logs")
    assert only.fault is not None and "(TypeError: no credentials)" in only.fault


def test_a_file_system_that_is_not_installed_is_one_sentence() -> None:
    (only,) = found("nosuchscheme://bucket/logs")
    assert only.fault is not None
    assert only.fault.startswith("nosuchscheme://bucket/logs: remote logdirs of this kind need")
