"""A process that waits for a request, so that a click need not wait for its libraries."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.store import children, starting
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.starting import Standby
from tb_memory_plugin.store.store import Store
from tests.fixtures.snapshots import snapshot, write_pickle

_LIMITS = Limits(memory=2 << 30, seconds=120)


@pytest.fixture
def standby(monkeypatch: pytest.MonkeyPatch) -> Iterator[Standby]:
    made = Standby()
    for module in (children, starting):
        monkeypatch.setattr(module, "standby", made)
    monkeypatch.setattr("tb_memory_plugin.store.store.standby", made)
    yield made
    made._waits(Path("elsewhere"))  # lets go of who waits


def test_the_process_that_waits_is_the_one_that_reads(tmp_path: Path, standby: Standby) -> None:
    entries = tmp_path / "entries"
    standby.prepare(entries)
    waiting = standby._child
    standby.prepare(entries)
    assert waiting is not None and standby._child is waiting
    path = write_pickle(snapshot(events=50), tmp_path / "x.pickle")
    children.read(path, "0" * 20, entries, _LIMITS, lambda *_: None)
    assert standby._child is None and waiting.process.poll() == 0
    assert (entries / f"{'0' * 20}.tbmem").is_file()
    children.read(path, "1" * 20, entries, _LIMITS, lambda *_: None)  # nobody waits
    assert (entries / f"{'1' * 20}.tbmem").is_file()


def test_a_process_that_is_gone_or_elsewhere_is_not_taken(tmp_path: Path, standby: Standby) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert standby.take(one) is None
    standby.prepare(one)
    assert standby._child is not None
    standby._child.process.kill()
    standby._child.process.wait()
    assert standby.take(one) is None
    standby.prepare(one)
    waiting = standby._child
    standby.prepare(other)
    assert waiting is not None and waiting.process.poll() is not None
    assert waiting.complaints.closed
    assert standby._child is not None and standby._child.folder == other


def test_a_process_that_gave_up_just_now_is_replaced(tmp_path: Path, standby: Standby) -> None:
    entries = tmp_path / "entries"
    standby.prepare(entries)
    assert standby._child is not None
    gone = standby._child
    gone.process.kill()
    gone.process.wait()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standby, "take", lambda _: gone)
        path = write_pickle(snapshot(events=50), tmp_path / "x.pickle")
        children.read(path, "0" * 20, entries, _LIMITS, lambda *_: None)
    assert (entries / f"{'0' * 20}.tbmem").is_file()


def test_a_process_that_does_not_run_is_replaced(
    tmp_path: Path, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "_SOON", 0.5)
    entries = tmp_path / "entries"
    standby.prepare(entries)
    assert standby._child is not None
    waiting = standby._child.process
    waiting.send_signal(signal.SIGSTOP)
    path = write_pickle(snapshot(events=50), tmp_path / "x.pickle")
    children.read(path, "0" * 20, entries, _LIMITS, lambda *_: None)
    assert (entries / f"{'0' * 20}.tbmem").is_file() and waiting.poll() == -signal.SIGKILL


def test_who_waits_in_vain_gives_up() -> None:
    program = "from tb_memory_plugin.store import child; child._PATIENCE = 1; child.main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.wait(60) == -signal.SIGALRM


def test_who_is_told_that_nobody_asks_ends_well() -> None:
    command = [sys.executable, "-m", "tb_memory_plugin.store.child"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_a_folder_that_cannot_be_made_is_no_error_of_a_hint(
    tmp_path: Path, standby: Standby
) -> None:
    (tmp_path / "file").touch()
    standby.prepare(tmp_path / "file" / "entries")
    assert standby._child is None


def test_one_waits_while_a_source_is_unread(
    logdir: Path, make: Callable[..., Store], standby: Standby
) -> None:
    write_pickle(snapshot(events=50), logdir / "run" / "x.pickle")
    store = make()
    source = _listed(store)["id"]
    assert standby._child is not None
    while store.open(source)["state"] in ("queued", "reading"):
        time.sleep(0.01)
    assert store.open(source)["state"] == "ready"
    assert _listed(store)["state"] == "ready"
    assert standby._child is None, "nothing is left to be read"


def test_nobody_waits_for_a_file_that_is_bad(
    logdir: Path, make: Callable[..., Store], standby: Standby
) -> None:
    (logdir / "run" / "x.pickle").write_bytes(b"\x80\x02cut off")
    store = make()
    assert _listed(store)["state"] == "error"
    store.sources()
    assert standby._child is None


def _listed(store: Store) -> dict[str, Any]:
    deadline = time.monotonic() + 30
    while not (found := store.sources()["sources"]) and time.monotonic() < deadline:
        time.sleep(0.01)
    row: dict[str, Any] = found[0]
    return row
