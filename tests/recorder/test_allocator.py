"""The engine on the allocator's history, on a stand-in for ``torch.cuda``: there is no GPU here."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter, allocator
from tb_memory_plugin.recorder.labels import Name, Storage, Tracker
from tb_memory_plugin.recording.schema import Category
from tests.fixtures import snapshots
from tests.recorder.conftest import Said
from tests.recorder.loops import Recorded, read

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")


@dataclass
class Card:
    """What ``torch.cuda`` and ``torch._C`` would do with one device."""

    structure: dict[str, Any]
    used: bool = True
    history: bool = False
    calls: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    observers: list[Callable[..., None]] = field(default_factory=list)
    snapshots: int = 0

    def record(self, enabled: Any = "all", **options: Any) -> None:
        self.calls.append((enabled, options))
        self.history = enabled is not None

    def snapshot(self) -> dict[str, Any]:
        self.snapshots += 1
        return snapshots.snapshot(events=600, seed=3)

    def run_out(self) -> None:
        """What the allocator does before it raises."""
        for observer in self.observers:
            observer(0, 1 << 30, 1 << 34, 1 << 20)
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1.00 GiB.")


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    """The stand-in, installed; the profiler cannot see it."""
    card = Card(snapshots.snapshot(events=600, seed=3))
    memory = types.SimpleNamespace(_record_memory_history=card.record, _snapshot=card.snapshot)
    cuda = torch.cuda
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "is_initialized", lambda: card.used)
    monkeypatch.setattr(cuda, "device_count", lambda: 1)
    monkeypatch.setattr(cuda, "memory_reserved", lambda _: 9_000_000)
    monkeypatch.setattr(cuda, "memory_allocated", lambda _: 7_000_001)
    monkeypatch.setattr(cuda, "memory", memory)
    monkeypatch.setattr(torch._C, "_cuda_isHistoryEnabled", lambda: card.history, raising=False)
    monkeypatch.setattr(
        torch._C, "_cuda_attach_out_of_memory_observer", card.observers.append, raising=False
    )
    monkeypatch.setattr(allocator, "_OBSERVERS", {})
    return card


def history(memory: MemoryWriter) -> Recorded:
    (file,) = [path for path in memory.files if path.name.endswith(".allocator.tbmem")]
    return read(file)


def test_the_history_is_recorded_and_put_back(tmp_path: Path, card: Card, said: Said) -> None:
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False, max_events=70) as memory:
        assert card.history
        memory.step()
    assert card.calls[0] == ("all", {"context": "all", "stacks": "python", "max_entries": 70})
    assert card.calls[-1] == (None, {})
    recorded = history(memory)
    meta = recorded.recording.meta
    assert (meta["format"], meta["basis"]) == ("torch_snapshot", "requested")
    assert meta["pid"] > 0
    assert "torch" in meta["versions"]
    assert [device.name for device in recorded.recording.devices] == ["cuda:0"]
    events = [e for trace in card.structure["device_traces"] for e in trace]
    births = sum(event["action"] == "alloc" for event in events)
    assert sum(row["birth"] is not None for row in recorded.lives) == births
    assert any(row["kind"] == "step" and row["name"] == "step 0" for row in recorded.rows("spans"))
    assert said() == []


def test_both_engines_write_their_own_files(tmp_path: Path, card: Card) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = torch.zeros(1003)
        memory.step()
    assert len(memory.files) == 2
    profiled = next(path for path in memory.files if ".allocator." not in path.name)
    assert any(row["size"] == 4012 for row in read(profiled).lives)
    assert len(history(memory).lives) > 100
    assert kept is not None


def test_a_history_of_the_users_is_left_on(tmp_path: Path, card: Card) -> None:
    card.history = True
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False) as memory:
        memory.step()
    assert card.calls == []
    assert card.history
    assert len(history(memory).lives) > 100


def test_a_device_is_not_touched_before_the_program_does(tmp_path: Path, card: Card) -> None:
    card.used = False
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False) as memory:
        memory.step()
        assert card.calls == []
        card.used = True
        memory.step()
        assert card.history
    assert len(memory.files) == 1


def test_without_the_profiler_steps_have_what_the_allocator_counts(
    tmp_path: Path, card: Card
) -> None:
    found: list[tuple[str, int, int]] = []

    class Points:
        def add_scalar(self, tag: str, value: int, step: int) -> None:
            found.append((tag, value, step))

    with MemoryWriter(tmp_path, engines=("allocator",), writer=Points()) as memory:
        memory.step()
    assert found == [
        ("memory/end_allocated/cuda_0", 7_000_001, 0),
        ("memory/end_reserved/cuda_0", 9_000_000, 0),
    ]


def test_out_of_memory_is_written_before_the_exception_goes_on(
    tmp_path: Path, card: Card, said: Said
) -> None:
    written: list[str] = []
    memory = MemoryWriter(tmp_path, engines=("allocator",), scalars=False)
    with pytest.raises(torch.OutOfMemoryError), memory:
        memory.step()
        try:
            card.run_out()
        except torch.OutOfMemoryError:
            written = [path.name for path in memory.files]
            raise
    assert any(name.endswith(".oom1.allocator.tbmem") for name in written)
    assert said() == []
    for path in memory.files:
        assert len(read(path).lives) > 100


def test_a_loop_that_lives_on_fills_no_disk(tmp_path: Path, card: Card) -> None:
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False) as memory:
        for _ in range(20):
            with pytest.raises(torch.OutOfMemoryError):
                card.run_out()
    names = [path.name for path in memory.files if ".oom" in path.name]
    assert len(names) == 3
    card.snapshots = 0
    with pytest.raises(torch.OutOfMemoryError):
        card.run_out()  # the observer cannot be taken off, but has nobody to tell
    assert card.snapshots == 0


def test_tracked_storages_have_their_names(
    tmp_path: Path, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The addresses are those of blocks alive at the end, which a fake tensor cannot have."""
    blocks = []
    for segment in card.structure["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                blocks.append((block.get("address", address), block["requested_size"]))
            address += block["size"]
    assert len(blocks) > 3
    storages = [
        Storage(
            address,
            size,
            "cuda:0",
            Name(Category.PARAMETER, f"w{place}", "float32", "[1]"),
            lambda: False,
        )
        for place, (address, size) in enumerate(blocks)
    ]
    monkeypatch.setattr(Tracker, "storages", lambda _: storages)
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False) as memory:
        memory.step()
    named = {row["name"]: row for row in history(memory).lives if row["name"]}
    assert {(row["address"], row["requested"]) for row in named.values()} == set(blocks)
    assert len(named) == len(blocks)
    assert all(row["death"] is None and row["category"] == "parameter" for row in named.values())
    assert not any(row["category_inferred"] for row in named.values())
