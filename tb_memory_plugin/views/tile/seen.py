"""Lives, made into the columns of a picture that they are seen in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import outliving
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording.arrays import distinct

#: Lives that are looked at together: they stay in the processor's cache.
_PART = 1 << 15
#: Stretches of events that have their instants looked up, as a power of two.
_BITS = 14


@dataclass(frozen=True)
class Seen:
    """The lives alive at one of the instants at least, in order of birth.

    ``row`` is their place among the lives; they are alive at the instants ``first``, which never
    goes back, … ``last``.
    ``short`` are those alive at one only, of all the instants that were asked for; of one instant
    none is.
    """

    row: IntArray
    first: IntArray
    last: IntArray
    short: IntArray

    def at(self, chosen: IntArray) -> Seen:
        """Some of them, by mask or place."""
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        columns = (self.row, self.first, self.last, self.short)
        return Seen(*(each.take(chosen) for each in columns))

    def between(self, first: int, last: int) -> Seen:
        """Those of columns ``first`` … ``last``, which become 0 …; lives are cut at both ends."""
        inside = self.at((self.first <= last) & (self.last >= first))
        low, high = np.maximum(inside.first, first), np.minimum(inside.last, last)
        return Seen(inside.row, low - first, high - first, inside.short)

    @property
    def columns(self) -> IntArray:
        """In how many columns each is seen."""
        return self.last - self.first + 1


def seen(birth: IntArray, death: IntArray, instants: IntArray, block_latest: IntArray) -> Seen:
    """The lives (``birth`` never goes back) that are alive after one of the events ``instants``.

    ``instants`` never go back either; ``block_latest`` is ``alive.latest`` of ``death``. Costs a
    look at what was born between the first and the last of them.
    """
    if not len(instants):
        nothing = np.zeros(0, dtype=np.int64)
        return Seen(nothing, nothing, nothing, nothing.astype(bool))
    born = np.searchsorted(birth, instants, side="right")
    older = outliving(death[: born[0]], int(instants[0]), block_latest)
    row = np.concatenate([older, *_younger(death, born, instants)])
    first = np.repeat(np.arange(len(instants)), np.diff(np.searchsorted(row, born), prepend=0))
    last = _before(instants, death[row])
    return Seen(row, first, last, (first == last) & (len(instants) > 1))


def _younger(death: IntArray, born: IntArray, instants: IntArray) -> Iterator[IntArray]:
    """The lives born between two instants that are alive at the next; ``born[k]`` by the k-th."""
    starts = distinct(np.searchsorted(born[:-1], np.arange(born[0], born[-1], _PART)))
    for begin, end in zip(starts, np.append(starts, len(born) - 1)[1:], strict=True):
        until = np.repeat(instants[begin + 1 : end + 1], np.diff(born[begin : end + 1]))
        yield np.flatnonzero(death[born[begin] : born[end]] > until) + born[begin]


def _before(instants: IntArray, events: IntArray) -> IntArray:
    """Which of ``instants`` is the last before each of ``events``, all of which are behind one.

    Looked up by the stretch of events that each is in; searched where an instant is in it too.
    """
    start, stop = int(instants[0]), int(instants[-1]) + 1
    shift = max((stop - start).bit_length() - _BITS, 0)
    edges = np.arange(((stop - start) >> shift) + 2) << shift
    before = np.searchsorted(instants, edges + start) - 1
    stretch = (np.minimum(events, stop) - start) >> shift
    found: IntArray = before[stretch]
    unsure = np.flatnonzero((before[1:] != before[:-1])[stretch])
    found[unsure] = np.searchsorted(instants, events[unsure]) - 1
    return found
