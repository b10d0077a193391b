"""Jobs, done by a few threads: those asked for last first, patient ones when nobody waits."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

_turns = itertools.count()


@dataclass(eq=False)
class Job:
    """Something to do once, and how far it is. Nobody waits for a ``patient`` one."""

    work: Callable[[Job], None]
    patient: bool = False
    state: str = "queued"
    fraction: float = 0.0
    phase: str = ""
    turn: int = field(default_factory=lambda: next(_turns))

    def report(self, fraction: float, phase: str) -> None:
        """Note how far it is."""
        self.fraction, self.phase = fraction, phase


class Queue:
    """At most ``workers`` jobs at once, in threads that start when there is something to do.

    Patient jobs, first come first served, leave one thread to those that somebody waits for; a
    queue of one worker has a second thread for these.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._patient = max(1, workers - 1)  # patient jobs at once
        self._waiting: list[Job] = []
        self._running = {False: 0, True: 0}  # by patience
        self._threads = 0
        self._idle = 0
        self._changed = threading.Condition()

    def add(self, job: Job) -> None:
        """Have ``job.work(job)`` called; it must not raise."""
        with self._changed:
            self._waiting.append(job)
            self._wake()

    def hurry(self, job: Job) -> None:
        """Note that somebody waits for ``job`` now."""
        with self._changed:
            job.turn = next(_turns)
            job.patient = False
            self._wake()

    def drop(self, job: Job) -> bool:
        """Forget a job that nobody has begun; whether that was so."""
        with self._changed:
            if job not in self._waiting:
                return False
            self._waiting.remove(job)
            return True

    def _wake(self) -> None:
        if self._idle:
            self._changed.notify()
        elif self._threads < self._patient + 1 and self._next() is not None:
            self._threads += 1
            threading.Thread(target=self._work, name="memory-import", daemon=True).start()

    def _next(self) -> Job | None:
        """The job to do now, if there is one and it may be done now."""
        patient, running = self._running[True], sum(self._running.values())
        hasty = [job for job in self._waiting if not job.patient]
        if hasty:
            busy = running >= max(self._workers, patient + 1)
            return None if busy else max(hasty, key=lambda job: job.turn)
        if not self._waiting or patient >= self._patient or running >= self._workers:
            return None
        return min(self._waiting, key=lambda job: job.turn)

    def _work(self) -> None:
        while True:
            with self._changed:
                while (job := self._next()) is None:
                    self._idle += 1
                    self._changed.wait()
                    self._idle -= 1
                self._waiting.remove(job)
                job.state = "reading"
                patient = job.patient
                self._running[patient] += 1
                self._wake()
            job.work(job)
            with self._changed:
                self._running[patient] -= 1
