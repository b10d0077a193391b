"""The engine on the allocator's history, on a stand-in for ``torch.xpu``.

torch.xpu has no way to ask whether a history is on, and tells nobody of failures.
"""

from __future__ import annotations

import functools
import time
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter, statistics
from tb_memory_plugin.recorder import history as switch
from tests.fixtures import snapshots
from tests.recorder.conftest import Said
from tests.recorder.fakes import Statistics
from tests.recorder.loops import Recorded, read

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")

WORDS = "XPU out of memory. Tried to allocate 1.00 GiB."


@dataclass
class Card:
    """What ``torch.xpu`` would do with one device."""

    asked: list[Any] = field(default_factory=list)
    statistics: Statistics = field(default_factory=lambda: Statistics("xpu", counts_failures=False))
    on: bool = False
    snapshots: int = 0

    def record(self, enabled: Any = "all", **_: Any) -> None:
        self.asked.append(enabled)
        self.on = enabled is not None

    def snapshot(self) -> dict[str, Any]:
        self.snapshots += 1
        structure = snapshots.snapshot(events=600, seed=3)
        if not self.on:
            structure["device_traces"] = [[]]
        return structure


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    """The stand-in, installed."""
    card = Card()
    card.statistics.reserved.move(9_000_000)
    card.statistics.allocated.move(7_000_001)
    stand_in = types.SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        device_count=lambda: 1,
        memory_stats_as_nested_dict=lambda device: torch._C._xpu_memoryStats(device),
        get_device_properties=lambda _: types.SimpleNamespace(total_memory=48 << 30),
        memory=types.SimpleNamespace(_record_memory_history=card.record, _snapshot=card.snapshot),
    )
    card.statistics.put(torch._C, functools.partial(monkeypatch.setattr, raising=False))
    monkeypatch.setattr(torch, "xpu", stand_in)
    monkeypatch.setattr(statistics, "_KNOWN", {})
    monkeypatch.setattr(switch, "_SWITCHED_OFF", {})
    return card


def writer(folder: Path) -> MemoryWriter:
    return MemoryWriter(folder, engines=("allocator",), scalars=False)


def failures(memory: MemoryWriter) -> list[Recorded]:
    """What was written when the memory was out."""
    return [read(path) for path in memory.files if ".oom" in path.name]


def said_of(recorded: Recorded) -> list[str]:
    marks = recorded.rows("marks")
    return [row["text"] for row in marks if row["kind"] == "out_of_memory"]


def test_the_history_of_an_xpu_is_recorded(tmp_path: Path, card: Card, said: Said) -> None:
    structure = snapshots.snapshot(events=600, seed=3)
    with writer(tmp_path) as memory:
        memory.step()
    assert card.asked == ["all", None]
    (path,) = memory.files
    recorded = read(path)
    (device,) = recorded.recording.meta["devices"]
    assert (device["name"], device["capacity"]) == ("xpu:0", 48 << 30)
    assert device["lifetime_peak"] == 7_000_001
    births = sum(entry["action"] == "alloc" for entry in structure["device_traces"][0])
    assert sum(row["birth"] is not None for row in recorded.lives) == births
    assert said() == []


def test_a_history_of_the_users_is_left_on(tmp_path: Path, card: Card) -> None:
    card.on = True
    with writer(tmp_path) as memory:
        memory.step()
    assert card.asked == []
    assert len(read(memory.files[0]).lives) > 100


def test_what_an_earlier_writer_left_is_not_the_users(
    tmp_path: Path, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where torch keeps the entries of a history that is off."""
    with writer(tmp_path):
        pass
    card.on = True  # the entries, which are older
    assert card.snapshot()["device_traces"][0][-1]["time_us"] < time.time() * 1e6
    with writer(tmp_path):
        pass
    assert card.asked == ["all", None, "all", None]


def survive(memory: MemoryWriter, where: str) -> None:
    """A loop that runs out of memory, deals with it, and goes on."""
    try:
        if where == "annotate":
            with memory.annotate("forward"):
                raise torch.OutOfMemoryError(WORDS)
        raise torch.OutOfMemoryError(WORDS)
    except torch.OutOfMemoryError:
        if where == "step":
            memory.step()
        if where == "dump":
            memory.dump("after")
    memory.step()


@pytest.mark.parametrize("where", ["annotate", "step", "dump"])
def test_a_failure_that_the_loop_survives_is_written(
    tmp_path: Path, card: Card, said: Said, where: str
) -> None:
    with writer(tmp_path) as memory:
        memory.step()
        survive(memory, where)
        (recorded,) = failures(memory)
        assert said_of(recorded) == [WORDS]
        (mark,) = [row for row in recorded.rows("marks") if row["kind"] == "out_of_memory"]
        assert mark["device"] == 0
        assert mark["event"] == len(recorded.rows("events")) - 1
        for _ in range(5):
            survive(memory, where)
    assert len(failures(memory)) == 3
    assert said_of(read(memory.files[0])) == [WORDS] * 6
    assert said() == []


def test_a_failure_that_ends_the_loop_is_marked_once(tmp_path: Path, card: Card) -> None:
    memory = writer(tmp_path)
    with pytest.raises(torch.OutOfMemoryError) as caught, memory:
        raise torch.OutOfMemoryError(WORDS)
    assert caught.value.args == (WORDS,)
    (path,) = memory.files
    assert said_of(read(path)) == [WORDS]


def test_a_failure_that_only_the_count_tells_of_is_written(tmp_path: Path, card: Card) -> None:
    card.statistics.counts_failures = True
    card.statistics.failures = 4
    with writer(tmp_path) as memory:
        memory.step()
        assert failures(memory) == []
        card.statistics.failures += 1
        memory.step()
        memory.step()
        assert len(failures(memory)) == 1
        card.statistics.failures += 1
        survive(memory, "annotate")
        assert len(failures(memory)) == 2


def test_failures_of_others_are_not_its_own(tmp_path: Path, card: Card) -> None:
    """A loop within the handling of an earlier failure, or one that is out of host memory."""
    try:
        raise torch.OutOfMemoryError(WORDS)
    except torch.OutOfMemoryError:
        with writer(tmp_path) as memory:
            memory.step()
            try:
                raise MemoryError
            except MemoryError:
                memory.step()
            try:
                raise ValueError("something else")
            except ValueError as error:
                memory.step()
                assert vars(error) == {}
    (path,) = memory.files
    assert said_of(read(path)) == []
