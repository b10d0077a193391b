"""What the training program says it is doing, steps and annotations, kept as spans."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Span:
    """A step or an annotation; ``end`` is None while it goes on. Unix nanoseconds."""

    kind: str
    name: str
    begin: int
    end: int | None = None
    step: int | None = None


@dataclass
class Program:
    """The steps and annotations of one process, in order of their begin."""

    origin: int = field(default_factory=time.time_ns)
    steps: list[Span] = field(default_factory=list)
    annotations: list[Span] = field(default_factory=list)
    _begin: int = 0

    def __post_init__(self) -> None:
        self._begin = self.origin

    def end_step(self, number: int | None = None) -> Span:
        """Close the step going on, as ``number`` or one more than the last."""
        if number is None:
            number = (self.steps[-1].step or 0) + 1 if self.steps else 0
        now = time.time_ns()
        step = Span("step", f"step {number}", self._begin, now, number)
        self.steps.append(step)
        self._begin = now
        return step

    def resume(self) -> None:
        """The recorder has done its own work since the last step ended: that is not in a step."""
        self._begin = time.time_ns()

    def begin(self, name: str) -> Span:
        """An annotation begins."""
        span = Span("annotation", name, time.time_ns())
        self.annotations.append(span)
        return span

    def end(self, span: Span) -> None:
        """An annotation ends."""
        span.end = time.time_ns()
