"""The context manager around a training loop that records where its memory goes."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tb_memory_plugin.recorder import engine as engines_
from tb_memory_plugin.recorder import failures, forks, place
from tb_memory_plugin.recorder.annotation import Annotation
from tb_memory_plugin.recorder.engine import Engine, Session, Unavailable
from tb_memory_plugin.recorder.labels import Tracker
from tb_memory_plugin.recorder.program import Program
from tb_memory_plugin.recorder.quiet import Voice
from tb_memory_plugin.recorder.refresh import Refresh
from tb_memory_plugin.recorder.scalars import Scalars
from tb_memory_plugin.recording.recording import Recording, save

_T = TypeVar("_T")

#: A program that survives failed allocations may have thousands; the first ones are written.
_OOM_DUMPS = 3


@dataclass
class _Running:
    """An engine at work. ``alive`` ends with its first failure; what it holds is still written."""

    engine: Engine
    refresh: Refresh
    started: bool = False
    alive: bool = True


class MemoryWriter:
    """Records the memory of a training loop into ``<logdir>/plugins/memory/``.

    Use it as a context manager, in the thread that trains::

        with MemoryWriter("runs/first") as memory:
            memory.track(model, optimizer)
            for batch in data:
                train(batch)
                memory.step()

    Nothing here raises into the loop: what goes wrong is one ``RecorderWarning``, then quiet.
    Exceptions of the loop pass through unchanged; on out-of-memory what is held is written first.

    Args:
        logdir: the run's folder, as given to ``SummaryWriter``.
        name: added to the file names, where one process records several things.
        writer: your ``SummaryWriter`` for this run, for the scalars of each step. Without it they
            go into the sub-run ``<logdir>/memory``.
        engines: which to use: ``"profiler"`` (any device, exact births and deaths with stacks)
            and ``"allocator"`` (history of the CUDA, ROCm or XPU allocator).
        stacks: record Python stacks and modules.
        max_events: the recording ends when it holds so many (the allocator's history keeps the
            last so many instead).
        refresh_seconds: how often, at most, the file of a live run is written again.
        scalars: write the scalars.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        *,
        name: str | None = None,
        writer: Any = None,
        engines: Sequence[str] = ("profiler", "allocator"),
        stacks: bool = True,
        max_events: int = 500_000,
        refresh_seconds: float = 30.0,
        scalars: bool = True,
    ) -> None:
        self._logdir = os.fspath(logdir)
        self._name = name
        self._writer = writer
        self._engine_names = tuple(engines)
        self._stacks = stacks
        self._max_events = max_events
        self._refresh_seconds = refresh_seconds
        self._with_scalars = scalars
        self._voice = Voice()
        self._lock = threading.RLock()
        self._open = False
        self._used = False
        self._silent = False  # a copy in another process
        self._program = Program()
        self._tracker = Tracker()
        self._running: list[_Running] = []
        self._place: place.Place | None = None
        self._scalars: Scalars | None = None
        self._files: list[Path] = []
        self._oom_dumps = 0

    @property
    def files(self) -> list[Path]:
        """The recordings written so far."""
        return list(self._files)

    def __enter__(self) -> MemoryWriter:
        self._safely("starting", self._start)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._safely("closing", self._close, failures.out_of_memory(error))

    def close(self) -> None:
        """End the recording and write it; also done on leaving the context."""
        self._safely("closing", self._close, None)

    def step(self, number: int | None = None) -> None:
        """A training step ends here: it is ``number``, or one more than the last, from 0."""
        self._safely("ending a step", self._step, number)

    def annotate(self, name: str) -> Annotation:
        """A context manager for a part of the program: ``with memory.annotate("forward"):``."""
        return Annotation(str(name), self._begin_annotation, self._end_annotation)

    def track(self, model: Any, optimizer: Any = None, *, name: str = "") -> None:
        """Name the parameters, buffers and gradients of a model and its optimizer's state.

        Call it once the model is on its device, for every model; ``name`` then comes before the
        names of this one's tensors.
        """
        self._safely("tracking a model", self._track, model, optimizer, name)

    def dump(self, name: str) -> Path | None:
        """Write what is held so far as a recording of its own called ``name``; its path."""
        return self._safely("dumping", self._dump, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_copy, (self._logdir,))

    # What the methods do, free to raise

    def _start(self) -> None:
        if self._used:
            self._voice.say("it can be entered once only; make a new one")
            return
        self._used = True
        if "://" in self._logdir:
            self._voice.say(f"{self._logdir} is not a local folder, so nothing is recorded")
            return
        self._place = place.choose(Path(self._logdir), self._name)
        rank = place.rank()
        if self._with_scalars:
            self._scalars = Scalars(Path(self._logdir), self._writer, rank or 0)
        self._program = Program()
        session = Session(
            self._program,
            self._tracker,
            self._stacks,
            self._max_events,
            self._facts(rank),
            self._out_of_memory,
        )
        self._open = True
        forks.watch(self)
        for name in self._engine_names:
            try:
                made = engines_.create(name, session)
            except Unavailable as reason:
                self._voice.say(str(reason))
                continue
            except Exception as error:
                self._voice.failed(f"setting up the engine {name!r}", error)
                continue
            self._running += [_Running(engine, Refresh(self._refresh_seconds)) for engine in made]
        self._start_engines()

    def _facts(self, rank: int | None) -> dict[str, Any]:
        versions = {"python": platform.python_version()}
        for package in ("torch", "tb_memory_plugin"):
            try:
                versions[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
        return {
            "time_origin_ns": self._program.origin,
            "clock": "unix",
            "host": place.host(),
            "rank": rank,
            "pid": os.getpid(),
            "program": Path(sys.argv[0]).name if sys.argv else "",
            "versions": versions,
        }

    def _start_engines(self) -> None:
        for running in self._running:
            if running.alive and not running.started:
                running.started = bool(self._ask(running, "starting", running.engine.start))

    def _step(self, number: int | None) -> None:
        if not self._ready("step()"):
            return
        self._tracker.look_at_gradients()
        step = self._program.end_step(number)
        self._start_engines()
        for running in self._working():
            try:
                if self._ask(running, "recording a step", running.engine.step, step):
                    self._write_scalars()
                    if running.refresh.due():
                        self._write(running)
            finally:
                self._go_on(running)
        self._program.resume()

    def _working(self) -> list[_Running]:
        return [running for running in self._running if running.alive and running.started]

    def _go_on(self, running: _Running) -> None:
        """End a pause; an engine that has failed stays off."""
        if running.alive:
            self._ask(running, "going on", running.engine.resume)
        else:
            self._ask(running, "stopping", running.engine.stop)

    def _write_scalars(self) -> None:
        """Write the figures of the first engine that works: two would write every point twice."""
        for place_, running in enumerate(self._running):
            usage = running.engine.usage() if running.started else []
            if place_ == 0 or not self._running[0].alive:
                self._put_scalars(usage)

    def _put_scalars(self, usage: list[engines_.StepUsage]) -> None:
        if self._scalars is None:
            return
        try:
            self._scalars.write(usage)
        except Exception as error:
            self._scalars = None
            self._voice.failed("writing scalars", error)

    def _write(self, running: _Running, extra: str = "", *, closed: bool = False) -> Path | None:
        """Write what a paused engine holds; None if that is nothing."""
        began = time.monotonic()
        recording = self._ask(running, "reading the profile", running.engine.collect)
        if recording is None or self._place is None:
            return None
        path = self._place.file(*(part for part in (extra, running.engine.suffix) if part))
        meta = {**recording.meta, "source": path.name, "live": not closed}
        save(Recording(meta, recording.tables), path, compress=True)
        if not extra:
            running.refresh.wrote(began)
        if path not in self._files:
            self._files.append(path)
        return path

    def _begin_annotation(self, name: str) -> Any:
        return self._safely("annotating", self._enter_annotation, name)

    def _enter_annotation(self, name: str) -> Any:
        if not self._ready("annotate()"):
            return None
        entered = []
        for running in self._working():
            manager = self._ask(running, "annotating", running.engine.annotate, name)
            if manager is not None:
                manager.__enter__()
                entered.append(manager)
        return self._program.begin(name), entered

    def _end_annotation(self, opened: Any) -> None:
        if opened is not None:
            self._safely("annotating", self._leave_annotation, *opened)

    def _leave_annotation(self, span: Any, entered: list[Any]) -> None:
        self._program.end(span)
        for manager in reversed(entered):
            manager.__exit__(None, None, None)

    def _track(self, model: Any, optimizer: Any, name: str) -> None:
        if self._ready("track()"):
            self._start_engines()
            self._tracker.track(model, optimizer, name)

    def _dump(self, name: str) -> Path | None:
        written = []
        if self._ready("dump()"):
            for running in self._running:
                if running.started:
                    try:
                        self._ask(running, "pausing", running.engine.pause)
                        written.append(self._write(running, name))
                    finally:
                        self._go_on(running)
        return next((path for path in written if path is not None), None)

    def _close(self, failure: tuple[str, dict[str, int]] | None) -> None:
        if not self._open:
            return
        self._open = False
        forks.leave(self)
        for running in self._running:
            if not running.started:
                continue
            self._ask(running, "stopping", running.engine.stop)
            if failure is not None:
                self._ask(running, "noting the failure", running.engine.out_of_memory, *failure)
            try:
                self._write(running, closed=True)
            except Exception as error:
                self._voice.failed("writing the recording", error)
        self._write_scalars()
        if self._scalars is not None:
            self._scalars.close()
        self._tracker.close()

    def _out_of_memory(self) -> None:
        """Inside a failing allocation: write the engines that can be read from there."""
        if self._lock.acquire(blocking=False):
            try:
                for running in self._working():
                    if running.engine.suffix:
                        self._oom_dumps += 1
                        if self._oom_dumps <= _OOM_DUMPS:
                            self._safely(
                                "writing on out-of-memory",
                                self._write,
                                running,
                                f"oom{self._oom_dumps}",
                            )
            finally:
                self._lock.release()

    # Never into the loop

    def _ready(self, what: str) -> bool:
        if not self._open:
            self._voice.say(f"{what} was called outside of its with block and does nothing")
        return self._open

    def _ask(self, running: _Running, doing: str, call: Callable[..., _T], *args: Any) -> _T | None:
        """``call(*args)`` of an engine, which is dropped if it fails."""
        try:
            return call(*args)
        except Unavailable as reason:
            running.alive = False
            self._voice.say(str(reason))
        except Exception as error:
            running.alive = False
            self._voice.failed(doing, error)
        return None

    def _safely(self, doing: str, call: Callable[..., _T], *args: Any) -> _T | None:
        if self._silent:
            return None
        try:
            with self._lock:
                return call(*args)
        except Exception as error:
            self._voice.failed(doing, error)
            return None

    def _forget(self) -> None:
        """In a forked child: it must neither record nor write into the parent's files."""
        self._silent = True
        self._lock = threading.RLock()
        for running in self._running:
            self._ask(running, "leaving a forked process", running.engine.forget)


def _copy(logdir: str) -> MemoryWriter:
    """What a writer becomes in another process: one that does nothing."""
    writer = MemoryWriter(logdir)
    writer._silent = True
    return writer
