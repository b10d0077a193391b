"""Two recordings, made into the moves of memory that are the same in both, and their clocks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairs.clock import Clock, fitted, median
from tb_memory_plugin.analysis.pairs.following import APART, Followed, Follower
from tb_memory_plugin.analysis.pairs.guesses import guesses, simplest
from tb_memory_plugin.analysis.pairs.moves import Moves, moves
from tb_memory_plugin.analysis.pairs.partners import partners
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

#: Fewer moves are the same by chance, and so is a smaller part of the fewer of both …
_LEAST = 16
_LEAST_PART = 0.02
#: … and fewer of the moves that both should have: of those of one, of those of the other.
_MOST_SHARE = 0.5
_LEAST_SHARE = 0.1
#: At fewer places in memory anything may happen to be alike.
_LEAST_CODES = 4
#: ns: if half of all are off by more, these are two histories.
_MOST_SPREAD = 50_000
#: A guess that is so good, and so much better than all others of its burst, is the one.
_SURE_SHARE, _SURE = 0.8, 1.5
#: Others that are looked at further, and by how much they may be worse to be nearly as good.
_KEPT, _NEARLY = 16, 1.1
#: Moves by which clocks are held against each other first.
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Match:
    """What two recordings have in common: ``rows`` of the table ``events`` of each, in pairs.

    ``clock`` tells from the times of theirs those of ours, each since its own origin. ``share`` is
    of each how much of its births and frees is in the pairs, of those in the time that both have.
    ``spread`` are the median and the 95th percentile of what the clock is off, in ns. A match that
    is ``good`` is of one process; where it is not ``certain`` the history repeats itself so evenly
    that other clocks would fit nearly as well.
    """

    clock: Clock
    rows: tuple[IntArray, IntArray]
    share: tuple[float, float]
    spread: tuple[int, int]
    good: bool
    certain: bool = True

    def __len__(self) -> int:
        return len(self.rows[0])


def match(ours: Recording, theirs: Recording) -> Match | None:
    """What is the same in two recordings of one process; None where they are not of one.

    Births and frees are the same that are at one address, of one size (rounded as the allocator
    does where one recording has what was asked for and the other what was given) and at one time,
    whatever the clocks show. About O(n log n), in columns.
    """
    own, other = moves(ours, theirs)
    shared = _shared(own, other)
    best, certain = _best(*shared, _by_origins(ours, theirs))
    if best is None:
        return None
    clock, sample = best.clock, _sampled(*shared)
    for left, right in (sample, sample, shared):
        mine, its = partners(left, right.at(clock.at(right.time)), APART)
        if len(mine) < _LEAST:
            return None
        clock = fitted(right.time[its], left.time[mine])
    pairs = (shared[0].some(mine), shared[1].some(its))
    found = replace(_told(own, other, pairs, clock), certain=certain)
    return found if found.good else None


def as_shown(ours: Recording, theirs: Recording) -> Clock:
    """What clocks show, taken as it is; where one shows no time of day, both begin at once."""
    expected = _by_origins(ours, theirs)
    begins = [_first_time(side) for side in (ours, theirs)]
    return Clock(begins[0] - begins[1] if expected is None else expected)


def _first_time(recording: Recording) -> int:
    table = recording.table("events")
    times = recording.values("events", "time")[arrays.valid(table, "time")]
    return int(times.min()) if len(times) else 0


def matched_at(ours: Recording, theirs: Recording, clock: Clock) -> Match:
    """What is the same in two recordings if the clocks are what somebody says, however little."""
    own, other = moves(ours, theirs)
    places = partners(own, other.at(clock.at(other.time)), APART)
    return _told(own, other, (own.some(places[0]), other.some(places[1])), clock)


def _shared(ours: Moves, theirs: Moves) -> tuple[Moves, Moves]:
    """The moves of codes that both have."""
    codes = 1 + max((int(side.code[-1]) for side in (ours, theirs) if len(side)), default=0)
    both = np.ones(codes, dtype=bool)
    for side in (ours, theirs):
        both &= np.bincount(side.code, minlength=codes) > 0
    return ours.some(both[ours.code]), theirs.some(both[theirs.code])


def _sampled(ours: Moves, theirs: Moves) -> tuple[Moves, Moves]:
    """Those of some codes only, where there are very many."""
    codes = int(ours.code[-1]) + 1
    parts = -(-max(len(ours), len(theirs)) // _SAMPLE)
    chosen = np.arange(codes) * 40_503 % 65_537 % parts == 0
    one, other = (side.some(chosen[side.code]) for side in (ours, theirs))
    return (one, other) if min(len(one), len(other)) > _SAMPLE // 8 else (ours, theirs)


def _by_origins(ours: Recording, theirs: Recording) -> int | None:
    """What clocks that both show the time since 1970 should differ by; None if they do not."""
    origins = [side.meta["time_origin_ns"] for side in (ours, theirs)]
    if None in origins or any(side.meta["clock"] != "unix" for side in (ours, theirs)):
        return None
    return int(origins[1] - origins[0])


def _best(ours: Moves, theirs: Moves, expected: int | None) -> tuple[Followed | None, bool]:
    """What the best of all guesses leads to, and whether no other one is nearly as good.

    Of those that are the one nearest to what is ``expected`` is the best.
    """
    if min(len(ours), len(theirs)) < _LEAST:
        return None, False
    follower = Follower(ours, theirs)
    ranked: list[Followed] = []
    for burst in itertools.chain([simplest(ours, theirs, expected)], guesses(ours, theirs)):
        followed = [follower.follow(guess) for guess in burst]
        ranked += [found for found in followed if found is not None]
        ranked.sort(key=lambda one: -one.score)
        others = [one for one in ranked if not _same(one.clock, ranked[0].clock)]
        ranked = [*ranked[:1], *others[:_KEPT]]
        if ranked and ranked[0].share > _SURE_SHARE and _alone(ranked, _SURE):
            break
    if not ranked:
        return None, False
    good = [one for one in ranked if one.score * _NEARLY > ranked[0].score]
    if expected is not None:
        good.sort(key=lambda one: abs(one.clock.offset - expected))
    return good[0], len(good) == 1


def _alone(ranked: list[Followed], by: float) -> bool:
    """Whether the first of different clocks has so many times the score of any other."""
    return all(ranked[0].score > by * other.score for other in ranked[1:])


def _same(one: Clock, other: Clock) -> bool:
    """Whether both show the same where either was found."""
    at = np.array([one.pivot, other.pivot])
    return bool((np.abs(one.at(at) - other.at(at)) <= APART).all())


def _told(ours: Moves, theirs: Moves, pairs: tuple[Moves, Moves], clock: Clock) -> Match:
    own, other = pairs
    off = np.abs(own.time - clock.at(other.time))
    spread = (median(off), _percentile(off)) if len(off) else (0, 0)
    covered = _covered(ours, theirs.at(clock.at(theirs.time)))
    share = [min(len(off) / max(count, 1), 1.0) for count in covered]
    codes = int((np.bincount(own.code) > 0).sum())
    enough = max(_LEAST, _LEAST_PART * min(len(ours), len(theirs)))
    good = len(off) >= enough and codes >= _LEAST_CODES and spread[0] <= _MOST_SPREAD
    good &= max(share) >= _MOST_SHARE and min(share) >= _LEAST_SHARE
    return Match(clock, (own.row, other.row), (share[0], share[1]), spread, bool(good))


def _covered(ours: Moves, theirs: Moves) -> tuple[int, int]:
    """How many moves each has in the time that both have."""
    if not len(ours) or not len(theirs):
        return 0, 0
    low = max(int(side.time.min()) for side in (ours, theirs))
    high = min(int(side.time.max()) for side in (ours, theirs))
    one, other = (int(((s.time >= low) & (s.time <= high)).sum()) for s in (ours, theirs))
    return one, other


def _percentile(values: IntArray) -> int:
    place = min(len(values) * 95 // 100, len(values) - 1)
    return int(np.partition(values, place)[place])
