"""Moves of two recordings, made into pairs of which each is the other's nearest in time."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairs.moves import Moves, fits

_BITS = 62
#: Turns of looking for partners: as many may be at one time stamp.
_TURNS = 8


class Lookup:
    """Moves in which the nearest of a code is looked up."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        self._low = int(moves.time.min()) if len(moves) else 0
        span = int(moves.time.max()) - self._low if len(moves) else 0
        codes = int(moves.code[-1]) + 1 if len(moves) else 1
        self._bits = min((span + 2).bit_length(), _BITS - codes.bit_length())
        self._less = max((span + 2).bit_length() - self._bits, 0)
        self._keys = self._key(moves.code, moves.time)

    def _key(self, code: IntArray, time: IntArray) -> IntArray:
        since = np.clip((time - self._low) >> self._less, 0, (1 << self._bits) - 1)
        found: IntArray = (code << self._bits) | since
        return found

    def nearest(self, code: IntArray, time: IntArray) -> IntArray:
        """The place of the nearest in time of each code, the earlier of two; -1 for none."""
        moves, count = self._moves, len(self._moves)
        if not count:
            return np.full(len(code), -1, dtype=np.int64)
        after = np.searchsorted(self._keys, self._key(code, time))
        before = np.maximum(after - 1, 0)
        after = np.minimum(after, count - 1)
        has_before, has_after = moves.code[before] == code, moves.code[after] == code
        apart_before = np.abs(moves.time[before] - time)
        apart_after = np.abs(moves.time[after] - time)
        later = has_after & (~has_before | (apart_after < apart_before))
        found: IntArray = np.where(later, after, np.where(has_before, before, -1))
        return found


def partners(ours: Moves, theirs: Moves, most: int) -> tuple[IntArray, IntArray]:
    """Places of both that are one move, in order of code and time; no place is there twice.

    Times are those of one clock, at most ``most`` ns apart. Of moves with one time stamp the first
    is the first's partner. Those of a code never cross: they are in the same order in both.
    """
    low = max(_ends(ours)[0], _ends(theirs)[0]) - most
    high = min(_ends(ours)[1], _ends(theirs)[1]) + most
    own = np.flatnonzero((ours.time >= low) & (ours.time <= high))
    other = np.flatnonzero((theirs.time >= low) & (theirs.time <= high))
    found: list[tuple[IntArray, IntArray]] = [(own[:0], other[:0])]
    for _ in range(_TURNS):
        left, right = ours.some(own), theirs.some(other)
        there = Lookup(right).nearest(left.code, left.time)
        back = Lookup(left).nearest(right.code, right.time)
        mine = np.flatnonzero(there >= 0)
        mine = mine[back[there[mine]] == mine]
        its = there[mine]
        near = np.abs(left.time[mine] - right.time[its]) <= most
        near &= fits(left, mine, right, its)
        mine, its = mine[near], its[near]
        if not len(mine):
            break
        found.append((own[mine], other[its]))
        own, other = np.delete(own, mine), np.delete(other, its)
        if not len(own) or not len(other):
            break
    mine, its = (np.concatenate([pair[side] for pair in found]) for side in (0, 1))
    order = np.argsort(mine)
    mine, its = mine[order], its[order]
    straight = np.append(True, its[1:] > np.maximum.accumulate(its)[:-1])[: len(its)]
    return mine[straight], its[straight]


def _ends(moves: Moves) -> tuple[int, int]:
    if not len(moves):
        return 0, 0
    return int(moves.time.min()), int(moves.time.max())
