"""What the training program says it is doing, steps and annotations, kept as spans.

Only what somebody records is kept: a job may take millions of steps after its recording ended.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

#: More than any program does.
ALL = 1 << 62


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
    """The steps and annotations of one process, in order of their begin.

    Kept are as many of the last ones as the engines that record ask for, none without any.
    """

    origin: int = field(default_factory=time.time_ns)
    steps: list[Span] = field(default_factory=list)
    annotations: list[Span] = field(default_factory=list)
    _begin: int = 0
    _next: int = 0
    _wanted: dict[int, int] = field(default_factory=dict)  # by engine

    def __post_init__(self) -> None:
        self._begin = self.origin

    def keep(self, engine: object, most: int = ALL) -> None:
        """``engine`` records, and needs the last ``most`` steps and annotations."""
        self._wanted[id(engine)] = most

    def release(self, engine: object) -> Program:
        """``engine`` has ended. What was kept so far, to be held by it alone."""
        kept = Program(self.origin, list(self.steps), list(self.annotations))
        self._wanted.pop(id(engine), None)
        self._trim()
        return kept

    def end_step(self, number: int | None = None) -> Span:
        """Close the step going on, as ``number`` or one more than the last."""
        if number is None:
            number = self._next
        now = time.time_ns()
        step = Span("step", f"step {number}", self._begin, now, number)
        self.steps.append(step)
        self._begin, self._next = now, number + 1
        self._trim()
        return step

    def resume(self) -> None:
        """The recorder has done its own work since the last step ended: that is not in a step."""
        self._begin = time.time_ns()

    def begin(self, name: str) -> Span:
        """An annotation begins."""
        span = Span("annotation", name, time.time_ns())
        self.annotations.append(span)
        self._trim()
        return span

    def end(self, span: Span) -> None:
        """An annotation ends."""
        span.end = time.time_ns()

    def _trim(self) -> None:
        most = max(self._wanted.values(), default=0)
        for spans in (self.steps, self.annotations):
            if len(spans) > most + most // 4:  # not at every step, as it moves all that stay
                del spans[: len(spans) - most]
