"""Entries that are kept, found again, damaged, and let go; keys that tell contents apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest

import tb_memory_plugin.store.keys as keys
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording.recording import save
from tb_memory_plugin.store import locks
from tb_memory_plugin.store.cache import Cache
from tb_memory_plugin.store.keys import key_of
from tb_memory_plugin.store.openings import Openings
from tests.conftest import REPOSITORY
from tests.fixtures.training import training


def key(number: int) -> str:
    return f"{number:020x}"


def keep(cache: Cache, number: int, used: float | None = None) -> int:
    """An entry in the cache, last used at ``used``; its size."""
    path = cache.entries / f"{key(number)}.tbmem"
    save(training(), path)
    about = cache.entries / f"{key(number)}.json"
    about.write_text(json.dumps({"brief": {}, "format": "test", "live": False, "summary": {}}))
    if used is not None:
        os.utime(about, (used, used))
    return path.stat().st_size


def kept(cache: Cache) -> list[int]:
    return sorted(int(path.stem, 16) for path in cache.entries.glob("*.tbmem"))


def test_an_entry_is_looked_up_and_opened(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", 1 << 30)
    assert cache.lookup(key(1)) is None and cache.open(key(1)) is None
    keep(cache, 1)
    entry = cache.lookup(key(1))
    assert entry is not None and entry.about["format"] == "test"
    opened = cache.open(key(1))
    assert opened is not None and opened.table("events").equals(training().table("events"))


@pytest.mark.parametrize("id", ["", "../x", "0" * 19, "g" * 20, "0" * 20 + "/..", "0" * 20 + "\n"])
def test_keys_are_never_paths(tmp_path: Path, id: str) -> None:
    cache = Cache(tmp_path / "cache", 1 << 30)
    assert cache.lookup(id) is None and cache.open(id) is None


def test_a_damaged_entry_is_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", 1 << 30)
    for number, damage in enumerate((lambda data: data[:-9], lambda data: b"", lambda data: b"x")):
        keep(cache, number)
        path = cache.entries / f"{key(number)}.tbmem"
        path.write_bytes(damage(path.read_bytes()))
        assert cache.open(key(number)) is None
        assert cache.lookup(key(number)) is None and not path.exists()
    keep(cache, 7)
    (cache.entries / f"{key(7)}.json").write_text("{")
    assert cache.lookup(key(7)) is None and kept(cache) == []


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", 1 << 30)
    now = time.time()
    for number in range(5):
        size = keep(cache, number, now - 1000 + number)
    cache.open(key(0))  # used just now
    bounded = Cache(tmp_path / "cache", 3 * size)
    bounded.trim()
    assert kept(bounded) == [0, 3, 4]
    Cache(tmp_path / "cache", 1).trim(keep=key(3))
    assert kept(bounded) == [3]


def test_an_open_recording_outlives_its_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", 1 << 30)
    keep(cache, 1)
    openings = Openings(cache)
    first = openings.get(key(1))
    assert first is not None
    cache.discard(key(1))
    assert openings.get(key(1)) is first
    assert first.table("events").num_rows == training().table("events").num_rows


def test_only_so_many_recordings_stay_open(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", 1 << 30)
    openings = Openings(cache, most=2)
    for number in range(3):
        keep(cache, number)
    first = openings.get(key(0))
    openings.get(key(1))
    assert openings.get(key(0)) is first
    openings.get(key(2))
    assert len(openings._open) == 2
    assert openings.get(key(0)) is first  # 1 was used longer ago


def test_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", 1 << 30)
    cache.entries.mkdir(parents=True)
    old, new = cache.entries / ".a.tmp", cache.entries / ".b.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    cache.trim()
    assert (old.exists(), new.exists()) == (False, True)


def test_a_folder_that_cannot_be_written_is_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache", 1 << 30)
    keep(cache, 1)
    assert cache.open(key(1)) is not None
    assert "--memory_cache_dir" in caplog.text


@pytest.mark.parametrize("taken", ["nothing", "link", "open", "file"])
def test_the_replacement_is_one_and_private(
    taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, elsewhere = tmp_path / "tmp", tmp_path / "elsewhere"
    temporary.mkdir()
    elsewhere.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    name = temporary / f"tb_memory_plugin-{os.getuid()}"
    if taken == "link":
        name.symlink_to(elsewhere)
    elif taken == "open":
        name.mkdir()
        name.chmod(0o777)
    elif taken == "file":
        name.write_text("")
    (tmp_path / "file").write_text("")
    roots = [Cache(tmp_path / "file" / "cache", 1 << 30).root for _ in range(2)]
    assert all(root.stat().st_mode & 0o777 == 0o700 for root in roots)
    assert all(root.parent == temporary and not root.is_symlink() for root in roots)
    assert (roots == [name, name]) is (taken == "nothing")
    assert taken == "nothing" or name not in roots


def test_the_cache_is_its_user_s_alone(tmp_path: Path) -> None:
    assert Cache(tmp_path / "deep" / "cache", 1).root.stat().st_mode & 0o777 == 0o700


class TestKeys:
    """One key for one content, read by one version."""

    def test_anything_that_may_matter_changes_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "x.pickle"
        path.write_bytes(b"a" * 300_000)
        os.utime(path, ns=(10**18, 10**18))
        found = [key_of(path).key]
        assert key_of(path).key == found[0]
        os.utime(path, ns=(10**18, 10**18 + 1))
        found.append(key_of(path).key)
        for place in (0, -1):
            data = bytearray(path.read_bytes())
            data[place] ^= 1
            path.write_bytes(data)
            os.utime(path, ns=(10**18, 10**18 + 1))
            found.append(key_of(path).key)
        path.write_bytes(path.read_bytes() + b"a")
        found.append(key_of(path).key)
        for version in ("SCHEMA_VERSION", "ANALYSIS_VERSION", "__version__"):
            monkeypatch.setattr(keys, version, "another")
            found.append(key_of(path).key)
        other = tmp_path / "y.pickle"
        other.write_bytes(path.read_bytes())
        os.utime(other, ns=(path.stat().st_mtime_ns,) * 2)
        found.append(key_of(other).key)
        assert len(set(found)) == len(found)

    def test_a_link_has_the_key_of_its_file(self, tmp_path: Path) -> None:
        (tmp_path / "x.pickle").write_bytes(b"abc")
        (tmp_path / "y.pickle").symlink_to(tmp_path / "x.pickle")
        assert key_of(tmp_path / "x.pickle") == key_of(tmp_path / "y.pickle")

    def test_a_copy_of_a_remote_file_goes_by_its_address(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "x.pickle").write_bytes(b"abc")
        one, two = (key_of(tmp_path / name / "x.pickle", "s3://x").key for name in ("one", "two"))
        assert one == two != key_of(tmp_path / "one" / "x.pickle", "s3://y").key

    def test_what_is_no_file_has_none(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="not there"):
            key_of(tmp_path / "x.pickle")


class TestLocks:
    """One holder at a time, over threads and processes, none of them for ever."""

    def test_one_at_a_time(self, tmp_path: Path) -> None:
        inside: list[int] = []
        most: list[int] = []

        def work() -> None:
            with locks.held(tmp_path / "locks" / "x.lock", lambda: None):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.02)
                inside.pop()

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == [1] * 8
        assert list((tmp_path / "locks").iterdir()) == []

    def test_a_holder_that_dies_lets_go(self, tmp_path: Path) -> None:
        path = tmp_path / "x.lock"
        program = textwrap.dedent(
            f"""
            import sys, time
            from pathlib import Path
            from tb_memory_plugin.store import locks
            with locks.held(Path({str(path)!r}), lambda: None):
                print("held", flush=True)
                time.sleep(600)
            """
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=REPOSITORY
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waited: list[int] = []

        def waiting() -> None:
            waited.append(1)
            if len(waited) == 3:
                holder.kill()

        with locks.held(path, waiting):
            assert len(waited) >= 3
        holder.wait()
        holder.stdout.close()

    def test_a_lock_left_behind_is_no_lock(self, tmp_path: Path) -> None:
        path = tmp_path / "x.lock"
        path.touch()
        with locks.held(path, lambda: pytest.fail("nobody holds it")):
            assert path.exists()
