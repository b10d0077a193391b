"""The history of a device's caching allocator, as torch keeps it for CUDA, ROCm and XPU."""

from __future__ import annotations

import importlib
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tb_memory_plugin.recorder import history, observer
from tb_memory_plugin.recorder.additions import Noted, appended, labels, marks
from tb_memory_plugin.recorder.engine import Session, StepUsage, torch_module
from tb_memory_plugin.recorder.program import Span
from tb_memory_plugin.recorder.programspans import span_table
from tb_memory_plugin.recorder.sighted import Sighted
from tb_memory_plugin.recorder.statistics import StepPeaks, lifetime_peak
from tb_memory_plugin.recording.recording import Recording

#: Backends with a history; ROCm is "cuda" in torch.
BACKENDS = ("cuda", "xpu")

#: The history is a ring of the last so many entries (torch: several KB of host memory each).
ENTRIES = 100_000

#: Of the program's steps, as many of the last are kept for it.
STEPS = 20_000

#: Of failures, as many of the last are kept in words.
FAILURES = 100

#: How often everything tracked is looked at where no other engine does (the profiler: each chunk).
LOOK_SECONDS = 2.0

_NO_PEAKS = {
    "what": "some peaks of steps among the scalars",
    "why": "this torch does not let its peak statistics be reset, so the peak of a step is known "
    "only where it is the highest so far",
    "remedy": "none is needed here: the history has every peak in its window",
}


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
        self._asked = False  # to start, before
        self._ours = False  # the history was not on already
        self._peaks: StepPeaks | None = None
        self._usage: list[StepUsage] = []
        self._sighted = Sighted()
        self._failures = 0  # that the allocator has counted
        self._told = False  # of failures, by torch
        self._noted: list[Noted] = []
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

    @property
    def counts(self) -> bool:
        """Whether it knows the peak of every step."""
        return self._peaks is not None and self._peaks.exact

    def start(self) -> bool:
        later, self._asked = self._asked, True
        if not self._backend.is_initialized():
            return False
        self._ours = not history.is_on(self._torch, self._kind)
        if self._ours:
            entries = min(ENTRIES, self._session.max_events)
            stacks = self._session.stacks
            history.switch_on(self._torch, self._kind, stacks=stacks, entries=entries)
        self._on = True
        self._session.program.keep(self, STEPS)
        self._session.tracker.listen(self._sighted)
        self._told = observer.listen(self._torch, self._kind, self)
        self._peaks = StepPeaks(self._torch, self._kind, resets=self._session.step_peaks)
        if not later:  # else the device was first used in the step that goes on
            for ordinal in range(self._backend.device_count()):
                self._failures += self._peaks.begin(ordinal).failures
        return True

    def step(self, step: Span) -> bool:
        if not self._on or self._peaks is None:
            return False
        failures = 0
        for ordinal in range(self._backend.device_count()):
            figures = self._peaks.end(ordinal)
            failures += figures.failures
            if figures.reserved or figures.peak_reserved:
                self._usage.append(
                    StepUsage(
                        step.step or 0,
                        f"{self._kind}:{ordinal}",
                        figures.peak_allocated,
                        figures.allocated,
                        figures.peak_reserved,
                        figures.reserved,
                    )
                )
        if failures > self._failures and not self._told:
            self._session.failed()
        self._failures = failures
        if time.monotonic() - self._sighted.looked >= LOOK_SECONDS:
            self._session.tracker.look()
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
            if self._last is None:
                return None
            return self._last.with_tables({"marks": marks(self._last, self._noted)})
        reader = importlib.import_module("tb_memory_plugin.readers.torch_snapshot")
        structure = self._backend.memory._snapshot()
        recording: Recording = reader.from_structure(
            structure, "allocator history", consume=True, device_type=self._kind
        )
        return self._completed(recording)

    def usage(self) -> list[StepUsage]:
        found, self._usage = self._usage, []
        return found

    def out_of_memory(self, text: str, values: dict[str, int]) -> bool:
        """Keep the words, for a history that does not have the failure itself."""
        if self._told or self._kind not in text.lower():
            return False
        self._noted = [*self._noted, (time.time_ns(), text, values)][-FAILURES:]
        if self._on and self._peaks is not None:
            self._failures = self._peaks.failures(range(self._backend.device_count()))
        return True

    def stop(self) -> None:
        if not self._on:
            return
        try:
            self._last = self.collect()
        finally:
            self._on = False
            self._session.program.release(self)
            self._session.tracker.leave(self._sighted)
            observer.leave(self._kind, self)
            if self._ours:
                history.switch_off(self._torch, self._kind)

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
        meta["devices"] = [self._described(entry) for entry in meta["devices"]]
        if self._session.step_peaks and not self.counts:
            meta["missing"] = [*meta["missing"], _NO_PEAKS]
        found = {}
        if origin is not None:
            program = replace(self._session.program, origin=origin)
            steps = span_table(program, annotations=False)
            found["spans"] = appended(recording.table("spans"), steps)
        tracker, witnesses = self._session.tracker, self._session.witnesses
        found["marks"] = marks(recording, self._noted)
        found["labels"] = labels(recording, self._sighted, tracker.storages(), witnesses)
        return Recording(meta, {**recording.tables, **found})

    def _described(self, device: dict[str, Any]) -> dict[str, Any]:
        """``device`` with what a history does not say of it."""
        ordinal = device.get("ordinal")
        if device.get("type") != self._kind or ordinal is None:
            return device
        more: dict[str, Any] = {}
        with suppress(RuntimeError, AttributeError, AssertionError):  # the history is what counts
            more["capacity"] = int(self._backend.get_device_properties(ordinal).total_memory)
        with suppress(RuntimeError, AttributeError, AssertionError):
            peak = lifetime_peak(self._torch, self._kind, ordinal, "requested_bytes")
            more["lifetime_peak"] = peak
        return {**device, **more}
