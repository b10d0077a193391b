"""PyTorch's profiler, run in short chunks so that a long run needs little memory."""

from __future__ import annotations

import gc
import importlib
import threading
import time
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

from tb_memory_plugin.recorder.engine import Session, StepUsage, Unavailable, torch_module
from tb_memory_plugin.recorder.labels import Sighting
from tb_memory_plugin.recorder.profiler.about import about
from tb_memory_plugin.recorder.profiler.ledger import Ledger
from tb_memory_plugin.recorder.profiler.spans import SpanRows
from tb_memory_plugin.recorder.profiler.tables import tables
from tb_memory_plugin.recorder.profiler.told import profiled
from tb_memory_plugin.recorder.profiler.tree import NOWHERE, Kind, TreeReader
from tb_memory_plugin.recorder.program import Span
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.stacks import StackInterner

FORMAT = "torch_profiler"

#: A chunk ends with the first step after so long, or with so many items in it.
CHUNK_SECONDS = 1.0
CHUNK_ITEMS = 20_000

#: A program may run operators for ever without an allocation: they end the recording too.
SPANS_AN_EVENT = 4


class ProfilerEngine:
    """Allocation events of the thread that started it, and of the backward passes it runs.

    Between two chunks the profiler is off for as long as reading the last one takes. What is
    allocated or freed meanwhile is not seen; this thread does neither then, as the garbage
    collector is held.
    """

    suffix = ""
    counts = False

    def __init__(self, session: Session) -> None:
        self._session = session
        self._program = session.program
        self._sightings: list[Sighting] = []
        self._spans = SpanRows()
        self._ledger = Ledger(StackInterner(), self._spans)
        self._reader: TreeReader | None = None
        self._thread = 0
        self._running = False
        self._paused = False
        self._collector = _Collector()
        self._profiler: Any = None
        self._enabled: Callable[[], bool] = bool
        self._began = 0.0
        self._steps: list[Span] = []
        self._items_a_step = 0.0
        self._ours: set[str] = set()
        self._ended = ""  # why it does not run any more

    @classmethod
    def create(cls, session: Session) -> list[ProfilerEngine]:
        """One engine sees all devices."""
        return [cls(session)]

    def start(self) -> bool:
        torch = torch_module()
        self._profiler = importlib.import_module("torch.autograd.profiler")
        if self._foreign() or torch.autograd._profiler_enabled():
            raise Unavailable("another torch profiler is running, and there can be only one")
        self._enabled = torch.autograd._profiler_enabled
        self._reader = TreeReader(
            self._session.tracker.modules, self._spans, self._ours, self._session.max_events
        )
        self._thread = threading.get_ident()
        self._begin()
        self._session.tracker.listen(self._sightings)
        self._program.keep(self)
        self._session.witnesses.append(partial(profiled, self._ledger))
        return True

    def step(self, step: Span) -> bool:
        if not self._running:
            return False
        self._steps.append(step)
        if threading.get_ident() != self._thread:
            return False
        enough = (
            time.monotonic() - self._began >= CHUNK_SECONDS
            or self._items_a_step * len(self._steps) >= CHUNK_ITEMS
            or not self._items_a_step
        )
        if enough:
            self.pause()
        return enough

    def annotate(self, name: str) -> None:
        self._ours.add(name)

    def pause(self) -> None:
        """Read the chunk that is running."""
        if not self._running or threading.get_ident() != self._thread:
            return
        if self._foreign() or not self._enabled():
            self._end("another torch profiler was started, which ended this one")
        self._collector.hold()
        self._running, self._paused = False, True
        stopped = time.time_ns()
        result = self._profiler._disable_profiler()
        self._session.tracker.look()
        self._take(result.experimental_event_tree(), stopped)
        limit = self._session.max_events
        if len(self._ledger.events) >= limit:
            self._paused = False
            self._end(f"the recording holds its limit of {limit} events (max_events)")
        nested = 0 if self._reader is None else self._reader.nested
        if len(self._spans) - nested >= SPANS_AN_EVENT * limit:
            self._paused = False
            self._end(f"the recording holds {SPANS_AN_EVENT} × {limit} operators (max_events)")

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._begin()
        self._collector.release()

    def collect(self) -> Recording | None:
        ledger = self._ledger
        if not ledger.devices:
            return None
        meta = {
            **self._session.facts,
            "format": FORMAT,
            "basis": "size",
            **about(ledger, stacks=self._session.stacks, ended=self._ended),
        }
        return builder.recording(meta, tables(ledger, self._program))

    def usage(self) -> list[StepUsage]:
        found, self._ledger.usage = self._ledger.usage, []
        return found

    def out_of_memory(self, text: str, values: dict[str, int]) -> bool:
        self._ledger.failed(time.time_ns(), text, values)
        return False

    def stop(self) -> None:
        if self._running and threading.get_ident() != self._thread:
            self._end("the writer was closed by another thread than the one that opened it")
        try:
            self.pause()
        finally:
            self._paused = False
            self._collector.release()
            self._leave()

    def forget(self) -> None:
        self._leave()
        self._collector.release()
        if self._running and self._enabled() and threading.get_ident() == self._thread:
            self._running = False
            self._profiler._disable_profiler()

    # Chunks

    def _begin(self) -> None:
        profile = self._profiler
        config = profile.ProfilerConfig(
            profile.ProfilerState.KINETO,
            True,
            True,
            self._session.stacks,
            False,
            False,
            profile._ExperimentalConfig(),
            "",
        )
        activities = {profile.ProfilerActivity.CPU}
        profile._prepare_profiler(config, activities)
        profile._enable_profiler(config, activities)
        self._running = True
        self._began = time.monotonic()

    def _take(self, roots: list[Any], stopped: int) -> None:
        reader = self._reader
        if reader is None:
            return
        items = reader.read(roots, stopped)
        if self._steps:
            self._items_a_step = max(len(items) / len(self._steps), 1.0)
        items += [(seen.time, Kind.SIGHTING, seen, NOWHERE) for seen in self._sightings]
        items += [(span.end or 0, Kind.STEP, span, NOWHERE) for span in self._steps]
        items.sort(key=itemgetter(0))
        self._sightings.clear()
        self._steps.clear()
        self._ledger.add(items)

    def _foreign(self) -> bool:
        """Whether a profiler of the user's is on: that one sets this flag, ours does not."""
        return bool(getattr(self._profiler, "_is_profiler_enabled", False))

    def _end(self, why: str) -> None:
        self._running = False
        self._ended = why
        self._leave()
        raise Unavailable(f"{why}; the memory recording ends there")

    def _leave(self) -> None:
        """Nothing more is recorded: hold on to the steps so far, and let the rest be."""
        self._session.tracker.leave(self._sightings)
        self._sightings.clear()
        self._steps.clear()
        if self._program is self._session.program:
            self._program = self._program.release(self)


class _Collector:
    """Keeps Python's garbage collector from freeing tensors while nobody watches."""

    def __init__(self) -> None:
        self._held = False

    def hold(self) -> None:
        if gc.isenabled():
            self._held = True
            gc.disable()

    def release(self) -> None:
        if self._held:
            self._held = False
            gc.enable()
