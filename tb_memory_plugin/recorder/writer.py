"""The context manager around a training loop that records where its memory goes."""

from __future__ import annotations

import importlib.metadata
import operator
import os
import platform
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tb_memory_plugin.recorder import failures, forks, place
from tb_memory_plugin.recorder.annotation import Annotation
from tb_memory_plugin.recorder.crew import Crew
from tb_memory_plugin.recorder.engine import Session, StepUsage
from tb_memory_plugin.recorder.labels import Tracker
from tb_memory_plugin.recorder.program import Program, Span
from tb_memory_plugin.recorder.quiet import Voice
from tb_memory_plugin.recorder.scalars import Scalars

_T = TypeVar("_T")


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
        step_peaks: reset the peak statistics of CUDA, ROCm and XPU at every step, to have its
            peak. torch goes on to answer the program as if nobody had.
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
        step_peaks: bool = True,
    ) -> None:
        self._logdir = os.fspath(logdir)
        self._name = name
        self._writer = writer
        self._engine_names = tuple(engines)
        self._stacks = stacks
        self._max_events = max_events
        self._refresh_seconds = refresh_seconds
        self._with_scalars = scalars
        self._step_peaks = step_peaks and scalars
        self._voice = Voice()
        self._lock = threading.RLock()
        self._open = False
        self._used = False
        self._silent = False  # a copy in another process
        self._program = Program()
        self._tracker = Tracker()
        self._crew: Crew | None = None
        self._scalars: Scalars | None = None

    @property
    def files(self) -> list[Path]:
        """The recordings written so far."""
        return [] if self._crew is None else list(self._crew.files)

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
        logdir, rank = Path(self._logdir), place.rank()
        if self._with_scalars:
            self._scalars = Scalars(logdir, self._writer, rank or 0)
        self._program = Program()
        session = Session(
            self._program,
            self._tracker,
            self._stacks,
            self._max_events,
            self._step_peaks,
            _facts(self._program.origin, rank),
            self._out_of_memory,
        )
        self._crew = Crew(self._voice, place.choose(logdir, self._name), self._refresh_seconds)
        self._crew.hire(self._engine_names, session)
        self._open = True
        failures.handled(self)  # what is being handled already is not this loop's
        forks.watch(self)
        self._crew.start()

    def _step(self, number: int | None) -> None:
        crew = self._ready("step()")
        if crew is None:
            return
        self._tracker.look_at_gradients()
        step = self._program.end_step(self._numbered(number))
        crew.start()
        crew.step(step, self._put_scalars)
        self._program.resume()

    def _numbered(self, number: Any) -> int | None:
        """``number`` if it can be a step's; None, which counts on, if it cannot."""
        if number is None:
            return None
        try:
            found = operator.index(number)
        except TypeError:
            found = -1
        if 0 <= found < 1 << 63:
            return found
        self._voice.say(f"step() takes a whole number from 0 on, not {number!r}, so it counts on")
        return None

    def _put_scalars(self, usage: list[StepUsage]) -> None:
        if self._scalars is None:
            return
        try:
            self._scalars.write(usage)
        except Exception as error:
            self._scalars = None
            self._voice.failed("writing scalars", error)

    def _begin_annotation(self, name: str) -> Any:
        return self._safely("annotating", self._enter_annotation, name)

    def _enter_annotation(self, name: str) -> tuple[Span, list[Any]] | None:
        crew = self._ready("annotate()")
        if crew is None:
            return None
        entered = crew.annotate(name)
        return self._program.begin(name), entered

    def _end_annotation(self, opened: Any) -> None:
        if opened is not None:
            self._safely("annotating", self._leave_annotation, *opened)

    def _leave_annotation(self, span: Span, entered: list[Any]) -> None:
        self._program.end(span)
        self._look_for_failures()
        for manager in reversed(entered):
            manager.__exit__(None, None, None)

    def _track(self, model: Any, optimizer: Any, name: str) -> None:
        crew = self._ready("track()")
        if crew is not None:
            crew.start()
            self._tracker.track(model, optimizer, name)

    def _dump(self, name: str) -> Path | None:
        crew = self._ready("dump()")
        return None if crew is None else crew.dump(name)

    def _close(self, failure: tuple[str, dict[str, int]] | None) -> None:
        if self._crew is None or not self._open:
            return
        self._open = False
        forks.leave(self)
        self._crew.close(failure)
        self._put_scalars(self._crew.usage())
        if self._scalars is not None:
            self._scalars.close()
        self._tracker.close()

    def _out_of_memory(self) -> None:
        """Called from within a failing allocation, maybe on a thread of the backward pass."""
        if self._crew is not None and self._lock.acquire(blocking=False):
            try:
                self._safely("writing on out-of-memory", self._crew.out_of_memory)
            finally:
                self._lock.release()

    def _look_for_failures(self) -> None:
        """Whether the program has run out of memory and is now dealing with it.

        Not every allocator tells when it fails.
        """
        failure = failures.handled(self)
        if failure is not None and self._crew is not None and self._open:
            self._safely("writing on out-of-memory", self._crew.out_of_memory, failure)

    # Never into the loop

    def _ready(self, what: str) -> Crew | None:
        if self._open:
            self._look_for_failures()
            return self._crew
        self._voice.say(f"{what} was called outside of its with block and does nothing")
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
        if self._crew is not None:
            self._crew.forget()


def _facts(origin: int, rank: int | None) -> dict[str, Any]:
    """What ``meta`` says of the process."""
    versions = {"python": platform.python_version()}
    for package in ("torch", "tb_memory_plugin"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "time_origin_ns": origin,
        "clock": "unix",
        "host": place.host(),
        "rank": rank,
        "pid": os.getpid(),
        "program": Path(sys.argv[0]).name if sys.argv else "",
        "versions": versions,
    }


def _copy(logdir: str) -> MemoryWriter:
    """What a writer becomes in another process: one that does nothing."""
    writer = MemoryWriter(logdir)
    writer._silent = True
    return writer
