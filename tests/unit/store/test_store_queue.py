"""Who asked last is served first."""

from __future__ import annotations

import threading
import time

import pytest

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
    queue.hurry(jobs["a"])
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


def test_patient_jobs_wait_for_those_that_somebody_waits_for() -> None:
    queue, gate, done = Queue(1), threading.Event(), []
    first = Job(lambda job: (gate.wait(30), done.append("first"))[0])
    queue.add(first)
    until(lambda: first.state == "reading")
    for name in ("later", "last"):
        queue.add(Job(lambda job, name=name: done.append(name), patient=True))  # type: ignore[misc]
    asked = Job(lambda job: done.append("asked"))
    queue.add(asked)
    gate.set()
    until(lambda: len(done) == 4)
    assert done == ["first", "asked", "later", "last"]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_patient_job_under_way_keeps_nobody_waiting(workers: int) -> None:
    queue, gate, done = Queue(workers), threading.Event(), []
    slow = [Job(lambda job: gate.wait(30), patient=True) for _ in range(5)]
    for job in slow:
        queue.add(job)
    going_on = max(1, workers - 1)
    until(lambda: sum(job.state == "reading" for job in slow) == going_on)
    queue.add(Job(lambda job: done.append(True)))
    until(lambda: done)
    assert sum(job.state == "reading" for job in slow) == going_on
    gate.set()


def test_a_patient_job_that_somebody_comes_to_wait_for_is_next() -> None:
    queue, gates, done = Queue(1), [threading.Event() for _ in range(3)], []

    def slow(place: int) -> Job:
        return Job(lambda job: (gates[place].wait(30), done.append(place))[0], patient=True)

    jobs = [slow(place) for place in range(3)]
    for job in jobs:
        queue.add(job)
    until(lambda: jobs[0].state == "reading")
    queue.hurry(jobs[2])
    until(lambda: jobs[2].state == "reading")
    assert jobs[1].state == "queued"
    for gate in reversed(gates):
        gate.set()
    until(lambda: len(done) == 3)


def test_what_nobody_has_begun_can_be_dropped() -> None:
    queue, gate, done = Queue(1), threading.Event(), []
    first, second = (Job(lambda job: (gate.wait(30), done.append(1))[0], True) for _ in range(2))
    queue.add(first)
    queue.add(second)
    until(lambda: first.state == "reading")
    assert (queue.drop(first), queue.drop(second), queue.drop(second)) == (False, True, False)
    gate.set()
    until(lambda: done)
    third = Job(lambda job: done.append(3))
    queue.add(third)
    until(lambda: len(done) == 2)
    assert done == [1, 3]
