"""Stand-ins for what the profiler reports, for devices and mishaps that a test cannot have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tb_memory_plugin.recorder.labels import Name, Sighting, Storage
from tb_memory_plugin.recorder.profiler.ledger import Ledger
from tb_memory_plugin.recorder.profiler.spans import SpanRows
from tb_memory_plugin.recorder.profiler.tree import Item, Kind, Scope
from tb_memory_plugin.recorder.program import Program, Span
from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.recording.stacks import StackInterner


@dataclass(frozen=True)
class Memory:
    """The fields of an allocation event."""

    ptr: int
    alloc_size: int
    device: str = "cpu"
    total_allocated: int = 0
    total_reserved: int = 0


@dataclass
class History:
    """Items, one nanosecond after another, and the ledger they make."""

    items: list[Item] = field(default_factory=list)
    ledger: Ledger = field(default_factory=lambda: Ledger(StackInterner(), SpanRows()))
    program: Program = field(default_factory=lambda: Program(origin=0))
    _now: int = 0

    def memory(self, address: int, size: int, device: str = "cpu", **counts: int) -> None:
        self._add(Kind.MEMORY, Memory(address, size, device, **counts))

    def sight(self, *storages: Storage) -> None:
        names = [storage.name for storage in storages]
        addresses = [storage.address for storage in storages]
        self._add(Kind.SIGHTING, Sighting(self._now, names, addresses, list(storages)))

    def step(self, number: int) -> None:
        self._add(Kind.STEP, Span("step", f"step {number}", 0, self._now, number))

    def take(self) -> Ledger:
        """The ledger, with the items so far as one more chunk."""
        self.ledger.add(self.items)
        self.items = []
        return self.ledger

    def _add(self, kind: Kind, payload: Any) -> None:
        self.items.append((self._now, kind, payload, Scope()))
        self._now += 1


def storage(address: int, size: int, gone: list[bool], device: str = "cpu") -> Storage:
    """A tracked parameter; ``gone[0]`` says whether it has been freed."""
    name = Name(Category.PARAMETER, f"w{address:x}", "float32", f"[{size // 4}]")
    return Storage(address, size, device, name, lambda: gone[0])


@dataclass
class Counts:
    """What an allocator counts of one device: a number, and the highest since a reset."""

    current: int = 0
    peak: int = 0

    def move(self, size: int) -> None:
        self.current += size
        self.peak = max(self.peak, self.current)


@dataclass
class Statistics:
    """The functions of ``torch._C`` for one device of ``kind``; ``read`` and ``reset`` are its."""

    kind: str = "cuda"
    counts_failures: bool = True
    failures: int = 0
    allocated: Counts = field(default_factory=Counts)
    reserved: Counts = field(default_factory=Counts)

    def read(self, _device: int) -> dict[str, Any]:
        counted = {"num_ooms": self.failures} if self.counts_failures else {}
        every = {
            "allocated": self.allocated,
            "requested": self.allocated,
            "reserved": self.reserved,
        }
        return {
            f"{name}_bytes": {"all": {"current": counts.current, "peak": counts.peak}}
            for name, counts in every.items()
        } | counted

    def reset(self, _device: int) -> None:
        for counts in (self.allocated, self.reserved):
            counts.peak = counts.current

    def put(self, library: Any, put: Callable[..., None] = setattr) -> None:
        """Set the functions in ``library``, which stands for ``torch._C``."""
        put(library, f"_{self.kind}_memoryStats", self.read)
        put(library, f"_{self.kind}_resetPeakMemoryStats", self.reset)

    def torch(self) -> Any:
        """A torch of nothing else."""
        library = SimpleNamespace()
        self.put(library)
        ask = f"_{self.kind}_memoryStats"
        module = SimpleNamespace(memory_stats_as_nested_dict=lambda d: getattr(library, ask)(d))
        return SimpleNamespace(_C=library, **{self.kind: module})
