"""A guess at the difference of two clocks, followed further and further to both sides in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.pairs.clock import Clock, fitted, spread
from tb_memory_plugin.analysis.pairs.guesses import JITTER, Guess
from tb_memory_plugin.analysis.pairs.moves import Moves, fits
from tb_memory_plugin.analysis.pairs.partners import Lookup

#: Moves that are looked at in each stretch of time, and how much longer the next one is.
_SAMPLE = 512
_FURTHER = 3
_SHORTEST = 1_000_000  # ns to each side
#: One part in so many is the most that clocks are taken to gain on each other.
_DRIFT = 1000
#: ns by which two moves that are one may be apart once the drift is known.
APART = 100_000
#: Of what is looked at so much must be found.
_SHARE = 0.3
_LEAST = 8


@dataclass(frozen=True)
class Followed:
    """A clock, what part of the moves that both should have it makes the same, and how closely."""

    clock: Clock
    found: float  # moves, about
    share: float
    spread: int  # ns

    @property
    def score(self) -> float:
        """More for more moves, and for those that are closer."""
        return self.found * float(np.log(1e7 / (self.spread + 1_000)))


class Follower:
    """What guesses are followed in: moves that both recordings have codes of."""

    def __init__(self, ours: Moves, theirs: Moves) -> None:
        self._ours = ours
        self._lookup = Lookup(ours)
        self._theirs = theirs.some(np.argsort(theirs.time, kind="stable"))
        self._ends = int(ours.time.min()), int(ours.time.max())

    def follow(self, guess: Guess) -> Followed | None:
        """The clock that a guess leads to, as far as it does; None where it leads nowhere."""
        clock = Clock(guess.offset, 0, guess.time)
        half = max(_SHORTEST, guess.span)
        apart = JITTER + half // _DRIFT
        found: Followed | None = None
        while True:
            further = self._looked(clock, guess.time, half, apart)
            if further is None:
                return found
            clock, found = further.clock, further
            low, high = self._theirs.time[0], self._theirs.time[-1]
            if guess.time - half <= low and guess.time + half >= high:
                return found
            half, apart = half * _FURTHER, APART

    def _looked(self, clock: Clock, middle: int, half: int, apart: int) -> Followed | None:
        times = self._theirs.time
        # Those that ours should have too, by what is known of the clocks so far.
        low, high = (clock.back(end) for end in self._ends)
        bounds = [max(middle - half, low - apart), min(middle + half, high + apart) + 1]
        first, stop = np.searchsorted(times, bounds).tolist()
        if stop <= first:
            return None
        step = max((stop - first) // _SAMPLE, 1)
        # Not evenly: what comes round every so many moves would be looked at again and again.
        at = np.arange(first, stop, step)
        at = np.minimum(at + (at * 40_503 % step), stop - 1)
        sample = self._theirs.some(at)
        expected = clock.at(sample.time)
        place = self._lookup.nearest(sample.code, expected)
        there = np.maximum(place, 0)
        good = (place >= 0) & (np.abs(self._ours.time[there] - expected) <= apart)
        good &= fits(self._ours, there, sample, np.arange(len(sample)))
        share = float(good.mean())
        if good.sum() < min(_LEAST, len(at)) or share < _SHARE:
            return None
        own, its = self._ours.time[there[good]], sample.time[good]
        better = fitted(its, own)
        return Followed(better, share * (stop - first), share, spread(better, its, own))
