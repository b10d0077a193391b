"""A process that waits for a request, so that a click need not wait for its libraries."""

from __future__ import annotations

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
    made.dismiss()


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
    standby.prepare(tmp_path / "one")
    first = standby._child
    assert first is not None
    first.process.kill()
    first.process.wait()
    second = standby.take(tmp_path / "one")
    assert second is not first and second.process.poll() is None
    second.end()
    standby.prepare(tmp_path / "one")
    third = standby._child
    standby.prepare(tmp_path / "other")
    assert third is not None and third.process.poll() is not None
    assert standby._child is not None and standby._child.folder == tmp_path / "other"


def test_who_waits_in_vain_is_let_go(
    tmp_path: Path, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PATIENCE", 0.05)
    standby.prepare(tmp_path / "entries")
    deadline = time.monotonic() + 30
    while standby._child is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert standby._child is None and not starting._running


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


def _listed(store: Store) -> dict[str, Any]:
    deadline = time.monotonic() + 30
    while not (found := store.sources()["sources"]) and time.monotonic() < deadline:
        time.sleep(0.01)
    row: dict[str, Any] = found[0]
    return row
