"""Jobs, done by a few threads: those asked for last first."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

_turns = itertools.count()


@dataclass
class Job:
    """Something to do once, and how far it is."""

    work: Callable[[Job], None]
    state: str = "queued"
    fraction: float = 0.0
    phase: str = ""
    turn: int = field(default_factory=lambda: next(_turns))

    def report(self, fraction: float, phase: str) -> None:
        """Note how far it is."""
        self.fraction, self.phase = fraction, phase

    def ask(self) -> None:
        """Note that somebody waits for it now."""
        self.turn = next(_turns)


class Queue:
    """At most ``workers`` jobs at once, in threads that start when there is something to do."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._waiting: list[Job] = []
        self._threads = 0
        self._idle = 0
        self._changed = threading.Condition()

    def add(self, job: Job) -> None:
        """Have ``job.work(job)`` called; it must not raise."""
        with self._changed:
            self._waiting.append(job)
            if self._idle:
                self._changed.notify()
            elif self._threads < self._workers:
                self._threads += 1
                threading.Thread(target=self._work, name="memory-import", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._idle += 1
                    self._changed.wait()
                    self._idle -= 1
                job = max(self._waiting, key=lambda job: job.turn)
                self._waiting.remove(job)
                job.state = "reading"
            job.work(job)
