"""The history of a device's caching allocator, as torch keeps it for CUDA, ROCm and XPU."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.recorder.engine import Session, StepUsage, torch_module
from tb_memory_plugin.recorder.labels import Storage
from tb_memory_plugin.recorder.program import Span
from tb_memory_plugin.recorder.programspans import span_table
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action

#: Backends with a history; ROCm is "cuda" in torch.
BACKENDS = ("cuda", "xpu")

#: The history is a ring of the last so many entries (torch: several KB of host memory each).
ENTRIES = 100_000

#: Of the program's steps, as many of the last are kept for it.
STEPS = 20_000


class AllocatorEngine:
    """Has torch keep the history of one backend's allocator and makes recordings of it.

    Not before the program has used a device: to do so earlier would set up a context, which takes
    hundreds of MB, on a device that may not be the one that is trained on.
    """

    suffix = "allocator"

    def __init__(self, session: Session, kind: str) -> None:
        self._session = session
        self._kind = kind
        self._torch = torch_module()
        self._backend = getattr(self._torch, kind)
        self._on = False
        self._ours = False  # the history was not on already
        self._usage: list[StepUsage] = []
        self._last: Recording | None = None

    @classmethod
    def create(cls, session: Session) -> list[AllocatorEngine]:
        """One for every backend that has a device and a history."""
        torch = torch_module()
        return [
            cls(session, kind)
            for kind in BACKENDS
            if hasattr(torch, kind)
            and getattr(torch, kind).is_available()
            and hasattr(getattr(torch, kind).memory, "_record_memory_history")
        ]

    def start(self) -> bool:
        if not self._backend.is_initialized():
            return False
        is_on = getattr(self._torch._C, f"_{self._kind}_isHistoryEnabled", None)
        self._ours = is_on is None or not is_on()
        if self._ours:
            context = "all" if self._session.stacks else None
            entries = min(ENTRIES, self._session.max_events)
            self._backend.memory._record_memory_history(
                "all", context=context, stacks="python", max_entries=entries
            )
        self._on = True
        self._session.program.keep(self, STEPS)
        _observe(self._torch, self._kind, self)
        return True

    def step(self, step: Span) -> bool:
        if not self._on:
            return False
        for ordinal in range(self._backend.device_count()):
            reserved = int(self._backend.memory_reserved(ordinal))
            if reserved:
                allocated = int(self._backend.memory_allocated(ordinal))
                name = f"{self._kind}:{ordinal}"
                self._usage.append(StepUsage(step.step or 0, name, None, allocated, None, reserved))
        return True

    def annotate(self, name: str) -> Any:
        """torch keeps annotations with the history; it pairs them by name and device."""
        return self._torch.profiler.record_function(name)

    def pause(self) -> None:
        """Nothing to do: reading the history changes nothing."""

    def resume(self) -> None:
        """Nothing to do."""

    def collect(self) -> Recording | None:
        if not self._on:
            return self._last
        reader = importlib.import_module("tb_memory_plugin.readers.torch_snapshot")
        structure = self._backend.memory._snapshot()
        recording: Recording = reader.from_structure(
            structure, "allocator history", consume=True, device_type=self._kind
        )
        return self._completed(recording)

    def usage(self) -> list[StepUsage]:
        found, self._usage = self._usage, []
        return found

    def out_of_memory(self, text: str, values: dict[str, int]) -> None:
        """Nothing to do: the allocator has it in its history."""

    def stop(self) -> None:
        if not self._on:
            return
        self._last = self.collect()
        self._on = False
        self._session.program.release(self)
        _OBSERVERS[self._kind].discard(self)
        if self._ours:
            self._backend.memory._record_memory_history(None)

    def forget(self) -> None:
        self._on = False

    def failed(self) -> None:
        """The allocator is about to raise."""
        if self._on:
            self._session.failed()

    def _completed(self, recording: Recording) -> Recording:
        """``recording`` with what the writer knows: the process, steps, names of tensors."""
        facts = dict(self._session.facts)
        origin = recording.meta["time_origin_ns"]
        meta = {**facts, **recording.meta}
        for key in ("host", "rank", "pid", "versions", "program"):
            meta[key] = facts[key]
        found = {}
        if origin is not None:
            program = replace(self._session.program, origin=origin)
            steps = span_table(program, annotations=False)
            found["spans"] = _appended(recording.table("spans"), steps)
        storages = self._session.tracker.storages()
        found["labels"] = _labels(recording, self._kind, storages)
        return Recording(meta, {**recording.tables, **found})


def _appended(table: pa.Table, more: pa.Table) -> pa.Table:
    joined = pa.concat_tables([table, more])
    return joined.unify_dictionaries().combine_chunks()


def _labels(recording: Recording, kind: str, storages: list[Storage]) -> pa.Table:
    """Names for the storages that are alive, each at the ordinal of its birth."""
    rows = []
    for device in recording.devices:
        address = recording.values("events", "address", device)
        action = recording.values("events", "action", device)
        ordinals = np.flatnonzero((action == Action.ALLOC) | (action == Action.FREE_COMPLETED))
        last = dict(zip(address[ordinals].tolist(), ordinals.tolist(), strict=True))
        for storage in storages:
            if storage.device in (device.name, f"{kind}:{device.key}"):
                event = last.get(storage.address, -1)
                born = event if event >= 0 and action[event] == Action.ALLOC else -1
                rows.append((device.index, born, storage.address, storage.name))
    unique = {row[:3]: row for row in reversed(rows)}
    rows = [unique[key] for key in sorted(unique)]
    return builder.table(
        "labels",
        {
            "device": [row[0] for row in rows],
            "event": [row[1] for row in rows],
            "address": np.array([row[2] for row in rows], dtype=np.uint64),
            "category": [int(row[3].category) for row in rows],
            "inferred": [False] * len(rows),
            "name": [row[3].name for row in rows],
            "dtype": [row[3].dtype for row in rows],
            "shape": [row[3].shape for row in rows],
        },
    )


# torch can attach an observer but not take it off: one for the process, that tells who listens.
_OBSERVERS: dict[str, weakref.WeakSet[AllocatorEngine]] = {}


def _observe(torch: Any, kind: str, engine: AllocatorEngine) -> None:
    first = kind not in _OBSERVERS
    listening = _OBSERVERS.setdefault(kind, weakref.WeakSet())
    listening.add(engine)
    attach: Callable[[Any], None] | None = getattr(
        torch._C, f"_{kind}_attach_out_of_memory_observer", None
    ) or getattr(torch._C, f"_{kind}_attachOutOfMemoryObserver", None)
    if not first or attach is None:
        return

    def observer(*_: Any) -> None:
        for each in list(listening):
            each.failed()

    attach(observer)
