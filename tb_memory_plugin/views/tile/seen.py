"""Lives, made into the columns of a picture that they are seen in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import outliving
from tb_memory_plugin.analysis.exact import IntArray


@dataclass(frozen=True)
class Seen:
    """The lives alive at one of the instants at least, in order of birth.

    ``row`` is their place among the lives; they are alive at the instants ``first`` … ``last``.
    ``short`` are those alive at one only, of all the instants that were asked for; of one instant
    none is.
    """

    row: IntArray
    first: IntArray
    last: IntArray
    short: IntArray

    def at(self, chosen: IntArray) -> Seen:
        """Some of them, by mask or place."""
        return Seen(self.row[chosen], self.first[chosen], self.last[chosen], self.short[chosen])

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
    look at what was born between the first and the last of them; only lives of two instants and
    more are searched for one by one.
    """
    if not len(instants):
        nothing = np.zeros(0, dtype=np.int64)
        return Seen(nothing, nothing, nothing, nothing.astype(bool))
    born = np.searchsorted(birth, instants, side="right")
    older = outliving(death[: born[0]], int(instants[0]), block_latest)
    counts = np.diff(born)
    until = np.repeat(instants[1:], counts)
    younger = np.flatnonzero(death[born[0] : born[-1]] > until)
    first = np.repeat(np.arange(1, len(instants)), counts)[younger]
    row = np.concatenate([older, younger + born[0]])
    first = np.concatenate([np.zeros(len(older), dtype=np.int64), first])
    end = death[row]
    last = first.copy()
    following = np.append(instants, instants[-1])[first + 1]
    longer = np.flatnonzero(end > following)
    last[longer] = np.searchsorted(instants, end[longer], side="left") - 1
    return Seen(row, first, last, (first == last) & (len(instants) > 1))
