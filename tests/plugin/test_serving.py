"""What changes while TensorBoard runs: new files, dropped files, a cache that two servers share."""

from __future__ import annotations

import os
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.plugin import MemoryPlugin
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer


def enabled(server: TensorBoardServer) -> bool:
    found: bool = server.board("data/plugins_listing")["memory"]["enabled"]
    return found


def test_files_appear_without_a_restart_and_may_be_dropped(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    write_scalars(logdir / "run")
    with TensorBoardServer(logdir, path_prefix="/pre") as server:
        assert server.sources() == {}
        assert enabled(server) is False
        write_pickle(snapshot(events=100), logdir / "run" / "x.pickle")
        assert list(server.sources(after=1)) == ["run/x.pickle"]
        assert enabled(server) is True

        data = pickle.dumps(snapshot(events=100, seed=3), 4)
        answer = server.post("../dropped.pickle", data)
        assert answer.status == 200
        found = server.sources(after=2)
        assert found["(dropped)/dropped.pickle"]["id"] == answer.json()["source"]
        assert found["(dropped)/dropped.pickle"]["uploaded"] is True
        assert server.opened(answer.json()["source"])["state"] == "ready"
        assert [path.name for path in logdir.rglob("*.pickle")] == ["x.pickle"]

        forged = server.post("x.pickle", data, {"Content-Type": "text/plain"})
        assert forged.status == 403 and "X-Memory-Upload" in forged.json()["error"]
        assert server.get("upload", name="x").status == 405
        empty = server.post("x.pickle", b"")
        assert empty.status == 400 and "is empty" in empty.json()["error"]


def test_two_servers_share_what_was_read(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    write_scalars(logdir / "run")
    write_pickle(snapshot(events=20_000, shared_lists=False), logdir / "run" / "x.pickle")
    flags = ["--memory_cache_dir", str(tmp_path / "cache")]
    with TensorBoardServer(logdir, *flags) as one, TensorBoardServer(logdir, *flags) as two:
        ids = [next(iter(server.sources(after=1).values()))["id"] for server in (one, two)]
        assert ids[0] == ids[1]
        for server in (one, two):
            server.get("open", source=ids[0])
        states = [server.opened(ids[0]) for server in (one, two)]
        assert states[0] == states[1] and states[0]["state"] == "ready"
    # Read twice, there would have been a moment with two files; what matters stays: one entry.
    assert len(list((tmp_path / "cache" / "entries").glob("*.tbmem"))) == 1
    assert list((tmp_path / "cache" / "locks").iterdir()) == []


def test_being_active_is_known_at_once(tmp_path: Path) -> None:
    class Context:
        logdir = str(tmp_path)
        flags = None

    plugin = MemoryPlugin(Context())
    assert plugin.is_active() is False
    write_pickle(snapshot(events=40), tmp_path / "x.pickle")
    end = time.monotonic() + 30
    while not plugin.is_active() and time.monotonic() < end:
        time.sleep(0.05)
    assert plugin.is_active()


def test_is_active_never_looks_at_the_disk_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Context:
        logdir = str(tmp_path)
        flags = None

    plugin = MemoryPlugin(Context())
    mine, real = threading.get_ident(), os.scandir

    def scandir(path: str) -> Any:
        assert threading.get_ident() != mine
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert plugin.is_active() is False
