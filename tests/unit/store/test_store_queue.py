"""Who asked last is served first."""

from __future__ import annotations

import threading
import time

from tb_memory_plugin.store.queue import Job, Queue
from tests.unit.store.waiting import until


def test_last_asked_first_done() -> None:
    queue, gate, done = Queue(1), threading.Event(), []
    first = Job(lambda job: (gate.wait(30), done.append("first"))[0])
    queue.add(first)
    until(lambda: first.state == "reading")
    jobs = {n: Job(lambda job, n=n: done.append(n)) for n in ("a", "b", "c")}  # type: ignore[misc]
    for job in jobs.values():
        queue.add(job)
    assert {job.state for job in jobs.values()} == {"queued"}
    jobs["a"].ask()
    gate.set()
    until(lambda: len(done) == 4)
    assert done == ["first", "a", "c", "b"]


def test_no_more_at_once_than_workers() -> None:
    queue, now, most, gate = Queue(2), [0], [0], threading.Lock()

    def work(job: Job) -> None:
        with gate:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        with gate:
            now[0] -= 1
            finished.append(1)

    finished: list[int] = []
    for _ in range(8):
        queue.add(Job(work))
    until(lambda: len(finished) == 8)
    assert most[0] == 2
