"""Recordings of several workers put together by time: what is certain is, what is not is alone."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.store.captures import Taken, captures

SECOND = 10**9


def told(*taken: tuple[str, float, float]) -> list[list[str]]:
    """Captures of ``(worker, begin, end)`` in seconds, named by worker and end."""
    return captures(
        Taken(int(begin * SECOND), int(end * SECOND), int(end * SECOND), worker, f"{worker}{end:g}")
        for worker, begin, end in taken
    )


def test_those_that_went_on_at_one_instant_are_together() -> None:
    assert told(("a", 0, 10), ("b", 9, 30), ("c", 5, 12)) == [["a10", "c12", "b30"]]
    assert told(("a", 0, 10), ("b", 11, 30)) == []
    assert told(("a", 0, 10), ("b", 8, 30), ("c", 20, 25)) == [["a10", "b30"]]
    assert told(("a", 0, 10), ("b", 1, 9), ("a", 12, 20)) == [["a10", "b9"]]


def test_a_worker_twice_at_once_is_in_doubt() -> None:
    assert told(("a", 0, 10), ("b", 1, 11), ("a", 2, 12), ("b", 3, 13)) == []


def test_ends_alone_are_put_together_by_turn_or_where_they_are_close() -> None:
    assert told(("a", 1, 1), ("b", 3, 3), ("a", 50, 50), ("b", 48, 48)) == [
        ["a1", "b3"],
        ["a50", "b48"],
    ]
    assert told(("a", 1, 1), ("b", 3, 3)) == [["a1", "b3"]]
    assert told(("a", 1, 1), ("b", 7, 7)) == []
    assert told(("a", 1, 1), ("b", 3, 3), ("a", 50, 50)) == [["a1", "b3"]]
    assert told(("a", 1, 1), ("b", 2, 2), ("a", 3, 3)) == []
    # As far apart as the turns are: which is with which?
    assert told(("a", 0, 0), ("b", 20, 20), ("a", 40, 40), ("b", 60, 60)) == []


@given(
    workers=st.integers(2, 6),
    turns=st.integers(1, 5),
    known=st.booleans(),
    order=st.randoms(use_true_random=False),
)
def test_the_captures_of_a_job_are_found(
    workers: int, turns: int, known: bool, order: random.Random
) -> None:
    """Each begins within a second and takes ten; the next begins a minute later."""
    truth, taken = [], []
    for turn in range(turns):
        truth.append({f"{worker}.{turn}" for worker in range(workers)})
        for worker in range(workers):
            begin = 60 * turn * SECOND + order.randrange(SECOND)
            end = begin + 10 * SECOND + order.randrange(SECOND)
            id = f"{worker}.{turn}"
            taken.append(Taken(begin if known else end, end, end, str(worker), id))
    order.shuffle(taken)
    assert [set(one) for one in captures(taken)] == truth


SPANS = st.builds(
    lambda begin, length, worker: (begin, begin + length, worker),
    st.integers(0, 50),
    st.integers(1, 20),
    st.sampled_from("abc"),
)


@given(st.lists(SPANS, max_size=12))
def test_nothing_is_put_together_that_did_not_go_on_at_once(
    spans: list[tuple[int, int, str]],
) -> None:
    taken = {
        str(n): Taken(begin * SECOND, end * SECOND, end * SECOND, worker, str(n))
        for n, (begin, end, worker) in enumerate(spans)
    }
    twice = any(
        one.worker == other.worker and one.begin < other.end and other.begin < one.end
        for one in taken.values()
        for other in taken.values()
        if one.id != other.id
    )
    seen: list[str] = []
    for one in captures(taken.values()):
        seen += one
        workers = [taken[id].worker for id in one]
        assert len(set(workers)) == len(workers) > 1
        if not twice:
            assert max(taken[id].begin for id in one) <= min(taken[id].end for id in one)
    assert len(set(seen)) == len(seen)
