"""The engine on the allocator's history, on a stand-in for ``torch.cuda``: there is no GPU here."""

from __future__ import annotations

import functools
import time
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter, observer, statistics
from tb_memory_plugin.recorder.labels import Name, Storage, Tracker
from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.views.summary import summary as summary_of
from tests.fixtures import snapshots
from tests.recorder.conftest import Said
from tests.recorder.fakes import Statistics
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
    statistics: Statistics = field(default_factory=Statistics)

    def record(self, enabled: Any = "all", **options: Any) -> None:
        self.calls.append((enabled, options))
        self.history = enabled is not None

    def snapshot(self) -> dict[str, Any]:
        self.snapshots += 1
        return snapshots.snapshot(events=600, seed=3)

    def run_out(self) -> None:
        """What the allocator does before it raises."""
        for told in self.observers:
            told(0, 1 << 30, 1 << 34, 1 << 20)
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
    card.statistics.reserved.move(9_000_000)
    card.statistics.allocated.move(7_000_001)
    put = functools.partial(monkeypatch.setattr, raising=False)
    card.statistics.put(torch._C, put)
    properties = types.SimpleNamespace(total_memory=80 << 30)
    monkeypatch.setattr(cuda, "get_device_properties", lambda _: properties)
    monkeypatch.setattr(cuda, "memory", memory)
    monkeypatch.setattr(torch._C, "_cuda_isHistoryEnabled", lambda: card.history, raising=False)
    monkeypatch.setattr(
        torch._C, "_cuda_attach_out_of_memory_observer", card.observers.append, raising=False
    )
    monkeypatch.setattr(observer, "_LISTENING", {})
    monkeypatch.setattr(statistics, "_KNOWN", {})
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
        ("memory/peak_allocated/cuda_0", 7_000_001, 0),
        ("memory/end_allocated/cuda_0", 7_000_001, 0),
        ("memory/peak_reserved/cuda_0", 9_000_000, 0),
        ("memory/end_reserved/cuda_0", 9_000_000, 0),
    ]


def test_steps_have_their_peaks_after_the_profiler_has_ended(
    tmp_path: Path, card: Card, every_step: None
) -> None:
    points: dict[str, dict[int, int]] = {}

    class Points:
        def add_scalar(self, tag: str, value: int, step: int) -> None:
            assert step not in points.setdefault(tag, {}), (tag, step)
            points[tag][step] = value

    allocated = card.statistics.allocated
    with MemoryWriter(tmp_path, writer=Points(), max_events=5) as memory:
        for step in range(8):
            torch.zeros(1003)
            allocated.move(1000 * (step % 3))
            allocated.move(-1000 * (step % 3))
            memory.step()
        assert torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"] == 7_002_001
    peaks = {step: 7_000_001 + 1000 * (step % 3) for step in range(8)}
    assert points["memory/peak_allocated/cuda_0"] == peaks
    assert points["memory/end_allocated/cuda_0"] == dict.fromkeys(range(8), 7_000_001)
    assert 0 < len(points["memory/peak_allocated/cpu"]) < 8
    assert torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"] == 7_002_001


def test_devices_have_a_capacity_and_a_lifetime_peak(tmp_path: Path, card: Card) -> None:
    card.statistics.allocated.move(5_000_000)
    card.statistics.allocated.move(-5_000_000)
    with MemoryWriter(tmp_path, engines=("allocator",)) as memory:
        memory.step()
        memory.step()
    (device,) = history(memory).recording.meta["devices"]
    assert device["capacity"] == 80 << 30
    assert device["lifetime_peak"] == 12_000_001
    recording = history(memory).recording
    (summary,) = summary_of(recording, version="1", run="", name="")["devices"]
    assert (summary["capacity"], summary["lifetime_peak"]) == (80 << 30, 12_000_001)


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


def test_gradients_that_are_none_at_the_end_have_their_names(
    tmp_path: Path, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real gradients, at the addresses and times that the card's history has them at."""
    trace: list[dict[str, Any]] = []

    def enter(action: str, tensors: list[Any]) -> None:
        moment = time.time_ns() // 1000
        for tensor in tensors:
            storage = tensor.untyped_storage()
            what = {"addr": storage.data_ptr(), "size": storage.nbytes(), "stream": 0}
            trace.append({"action": action, **what, "time_us": moment})

    def snapshot() -> dict[str, Any]:
        return {"segments": [], "device_traces": [[dict(entry) for entry in trace]]}

    monkeypatch.setattr(torch.cuda.memory, "_snapshot", snapshot)
    model = torch.nn.Linear(300, 5)
    optimizer = torch.optim.SGD(model.parameters())
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False) as memory:
        memory.track(model, optimizer)
        for _ in range(3):
            model(torch.ones(2, 300)).sum().backward()
            enter("alloc", [parameter.grad for parameter in model.parameters()])
            optimizer.step()
            enter("free_requested", [parameter.grad for parameter in model.parameters()])
            enter("free_completed", [parameter.grad for parameter in model.parameters()])
            optimizer.zero_grad(set_to_none=True)
            memory.step()
    lives = history(memory).lives
    assert [(row["name"], row["shape"]) for row in lives] == [
        ("weight", "[5, 300]"),
        ("bias", "[5]"),
    ] * 3
    assert all(row["category"] == "gradient" and row["death"] is not None for row in lives)
    assert not any(row["category_inferred"] for row in lives)


def test_without_resets_it_says_what_is_missing(
    tmp_path: Path, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(torch._C, "_cuda_resetPeakMemoryStats")
    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", card.statistics.read)
    found: list[str] = []

    class Points:
        def add_scalar(self, tag: str, value: int, step: int) -> None:
            found.append(f"{tag} {step}")

    with MemoryWriter(tmp_path, engines=("allocator",), writer=Points()) as memory:
        memory.step()
        card.statistics.allocated.move(1 << 30)
        memory.step()
    missing = [entry["what"] for entry in history(memory).recording.meta["missing"]]
    assert "some peaks of steps among the scalars" in missing
    assert [each for each in found if "peak" in each] == ["memory/peak_allocated/cuda_0 1"]


def test_peaks_are_left_alone_on_request(tmp_path: Path, card: Card) -> None:
    before = torch._C._cuda_memoryStats
    card.statistics.allocated.move(5)
    card.statistics.allocated.move(-5)
    with MemoryWriter(tmp_path, engines=("allocator",), step_peaks=False) as memory:
        memory.step()
    assert torch._C._cuda_memoryStats == before
    assert card.statistics.allocated.peak == 7_000_006
    missing = [entry["what"] for entry in history(memory).recording.meta["missing"]]
    assert not any("peaks" in what for what in missing)


def test_a_history_that_cannot_be_read_is_switched_off_all_the_same(
    tmp_path: Path, card: Card, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("a new version of torch")

    monkeypatch.setattr(torch.cuda.memory, "_snapshot", broken)
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False) as memory:
        memory.step()
        assert not card.history
    (message,) = said()
    assert "a new version of torch" in message
    assert memory.files == []
