"""Recordings of several workers in one folder, made into captures by when each went on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

#: ns between the times of recordings of one capture, where it is not known how long they took.
_CLOSE = 5 * 10**9


@dataclass(frozen=True, order=True)
class Taken:
    """What a worker recorded, from ``begin`` to ``end``, in ns since 1970.

    ``at`` is one of the two: the one that is certain. Where the other is not known they are the
    same.
    """

    begin: int
    end: int
    at: int
    worker: str
    id: str

    @property
    def instant(self) -> Taken:
        """The same, of which only the certain time is known."""
        return Taken(self.at, self.at, self.at, self.worker, self.id)


def captures(taken: Iterable[Taken]) -> list[list[str]]:
    """The ids of those taken together, in order of time; what is alone or in doubt is in none.

    Recordings belong together where there is an instant at which all of them went on. Where that
    is not known (or cannot be, as one worker would have recorded twice at once): the n-th of every
    worker, if all have as many, at least two, and turns are further from each other than the
    recordings of one are; else those within five seconds, where no worker has two so close.
    """
    ordered = sorted(taken)
    if all(one.begin < one.end for one in ordered) and not _crowded(ordered, 0):
        found = _together(ordered, 0)
    else:
        ordered = sorted(one.instant for one in ordered)
        found = _by_turn(ordered)
        if not found:
            crowded = _crowded(ordered, _CLOSE)
            found = [each for each in _together(ordered, _CLOSE) if not crowded.intersection(each)]
    return [[one.id for one in each] for each in found if len(each) > 1]


def _together(ordered: Sequence[Taken], slack: int) -> list[list[Taken]]:
    """Neighbours in time, of different workers, with an instant in common."""
    found: list[list[Taken]] = []
    workers: set[str] = set()
    until = 0
    for one in ordered:
        if not found or one.worker in workers or one.begin > until + slack:
            found.append([])
            workers, until = set(), one.end
        found[-1].append(one)
        workers.add(one.worker)
        until = min(until, one.end)
    return found


def _by_turn(ordered: Sequence[Taken]) -> list[list[Taken]]:
    """The n-th of every worker; none unless all have as many and turns are well apart."""
    by_worker: dict[str, list[Taken]] = {}
    for one in ordered:
        by_worker.setdefault(one.worker, []).append(one)
    count = len(ordered) // max(1, len(by_worker))
    if count < 2 or any(len(each) != count for each in by_worker.values()):
        return []
    turns = [list(turn) for turn in zip(*by_worker.values(), strict=True)]
    widest = max(_last(turn) - _first(turn) for turn in turns)
    apart = all(_first(after) - _last(before) > widest for before, after in pairwise(turns))
    return turns if apart else []


def _first(turn: Sequence[Taken]) -> int:
    return min(one.at for one in turn)


def _last(turn: Sequence[Taken]) -> int:
    return max(one.at for one in turn)


def _crowded(ordered: Sequence[Taken], slack: int) -> set[Taken]:
    """Those of one worker at once, or within ``slack``: of two jobs that cannot be told apart."""
    found: set[Taken] = set()
    last: dict[str, Taken] = {}
    for one in ordered:
        before = last.get(one.worker)
        if before is not None and one.begin < before.end + slack:
            found |= {before, one}
        if before is None or one.end > before.end:
            last[one.worker] = one
    return found
