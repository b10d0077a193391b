"""What a source of recordings in the training job must do, and the list of those there are."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tb_memory_plugin.recorder.labels import Tracker
from tb_memory_plugin.recorder.program import Program, Span
from tb_memory_plugin.recording.recording import Recording

if TYPE_CHECKING:
    from tb_memory_plugin.recorder.profiler.told import Witness


class Unavailable(Exception):
    """An engine that cannot work here; the message says why, for the person reading it."""


@dataclass(frozen=True)
class Session:
    """What all engines of one writer share."""

    program: Program
    tracker: Tracker
    stacks: bool
    max_events: int
    step_peaks: bool  # reset the allocator's peaks at every step
    facts: dict[str, Any]  # of the process, for ``meta``
    #: To be called when an allocator reports that it is out of memory, before anyone is told.
    failed: Callable[[], None]
    #: Engines that can tell others what they know of allocations.
    witnesses: list[Witness] = field(default_factory=list)


@dataclass(frozen=True)
class StepUsage:
    """What one device held in one step, in bytes; None where the engine does not know."""

    step: int
    device: str  # "cuda:0"
    peak_allocated: int | None
    end_allocated: int | None
    peak_reserved: int | None = None
    end_reserved: int | None = None


class Engine(Protocol):
    """One way to see memory. Called by the thread that trains; may raise, and is then dropped."""

    #: Added to the names of its files; empty for the main one.
    suffix: str
    #: Its figures of steps are the allocator's own: better than what others see.
    counts: bool

    def start(self) -> bool:
        """Begin; False to be asked again later (the device is not in use yet).

        Raises Unavailable.
        """

    def step(self, step: Span) -> bool:
        """A step has ended. True: there is more to collect, and the engine is paused."""

    def annotate(self, name: str) -> Any:
        """A context manager to be in during an annotation, or None."""

    def pause(self) -> None:
        """Stop watching for a moment, with all that happened so far at hand."""

    def resume(self) -> None:
        """Go on watching, if it was paused and has not ended."""

    def collect(self) -> Recording | None:
        """All that was seen until the pause; None if nothing."""

    def usage(self) -> list[StepUsage]:
        """Figures of steps that became known since the last call."""

    def out_of_memory(self, text: str, values: dict[str, int]) -> bool:
        """Note that an allocation failed, now; True if the engine had not been told of it."""

    def stop(self) -> None:
        """End; ``collect`` still answers."""

    def forget(self) -> None:
        """This is a forked child: watch nothing here, write nothing."""


#: name: module and class. Imported when used.
ENGINES: dict[str, tuple[str, str]] = {
    "profiler": ("tb_memory_plugin.recorder.profiler.engine", "ProfilerEngine"),
    "allocator": ("tb_memory_plugin.recorder.allocator", "AllocatorEngine"),
}


def create(name: str, session: Session) -> list[Engine]:
    """The engines called ``name`` for the devices there are. Raises Unavailable."""
    if name not in ENGINES:
        raise Unavailable(f"there is no engine {name!r}; there are {', '.join(sorted(ENGINES))}")
    module, builder = ENGINES[name]
    make: Callable[[Session], list[Engine]] = getattr(
        importlib.import_module(module), builder
    ).create
    return make(session)


def torch_module() -> Any:
    """The job's torch. Raises Unavailable where there is none."""
    # Kineto logs two lines to stderr for every start and stop unless told otherwise.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise Unavailable(f"torch cannot be imported ({error}), so nothing is recorded") from error
