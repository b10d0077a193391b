"""What one clock shows when another shows something: an offset, and a drift if there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray

#: Of how many pieces of a ns a clock may gain or lose one in every ns.
_BITS = 40
_HALF = 20
#: The most that a clock may gain or lose: a thousandth. Real ones keep to a tenth of that.
MOST_RATE = (1 << _BITS) // 1000
#: Times from the pivot on (13 days) over which the drift is worked out; it stays the same beyond.
_FURTHEST = 1 << 50
#: Times (73 years) that stay what they are, so that nothing overflows.
_LONGEST = 1 << 61


@dataclass(frozen=True)
class Clock:
    """Of the time ``t`` of one clock the other shows ``t + offset + (t - pivot) · rate / 2⁴⁰``.

    All are integers, in ns but for ``rate``; the last term is rounded down, so that what the clock
    shows is the same wherever it is worked out.
    """

    offset: int
    rate: int = 0
    pivot: int = 0

    @property
    def ppm(self) -> float:
        """How much faster the other clock is, in millionths."""
        return self.rate / (1 << _BITS) * 1e6

    def drift(self, times: IntArray) -> IntArray:
        """The part of the difference that grows with time, in ns."""
        if not self.rate:
            return np.zeros(len(times), dtype=np.int64)
        since = np.clip(_bounded(times) - self.pivot, -_FURTHEST, _FURTHEST)
        high, low = since >> _HALF, since & ((1 << _HALF) - 1)
        found: IntArray = (high * self.rate + ((low * self.rate) >> _HALF)) >> (_BITS - _HALF)
        return found

    def at(self, times: IntArray) -> IntArray:
        """What the other clock shows at ``times``."""
        return _bounded(times) + self.offset + self.drift(times)

    def back(self, shown: int) -> int:
        """About when the other clock shows a time; no more off than the drift drifts."""
        time = shown - self.offset
        return time - int(self.drift(np.array([time]))[0])

    def shifted(self, by: int) -> Clock:
        """The clock whose other one shows ``by`` ns more."""
        return replace(self, offset=self.offset + by)


def _bounded(times: IntArray) -> IntArray:
    found: IntArray = np.clip(times, -_LONGEST, _LONGEST)
    return found.astype(np.int64)


def fitted(times: IntArray, others: IntArray) -> Clock:
    """The clock by which ``times`` are ``others``: by medians, so that a few odd ones do not count.

    A drift is in it if it makes the differences that are left half as large. There must be a time.
    """
    apart, pivot = others - times, median(times)
    level = Clock(median(apart), 0, pivot)
    some = slice(None, None, -(-len(times) // _ENOUGH))
    straight = Clock(0, _straight(times[some], apart[some], pivot), pivot)
    sloping = replace(straight, offset=median(apart - straight.drift(times)))
    clearly = 2 * spread(sloping, times, others) < spread(level, times, others)
    return sloping if clearly else level


def _straight(times: IntArray, apart: IntArray, pivot: int) -> int:
    """The rate that most times tell, worked out again without those that are far off."""
    near = np.ones(len(times), dtype=bool)
    rate = 0
    for _ in range(_PASSES):
        rate = _rate(times[near], apart[near])
        left = apart - Clock(0, rate, pivot).drift(times)
        off = np.abs(left - median(left[near]))
        near = off <= _FAR * median(off) + 1
    return rate


def spread(clock: Clock, times: IntArray, others: IntArray) -> int:
    """The median of what ``clock`` is off, in ns."""
    return median(np.abs(others - clock.at(times)))


def median(values: IntArray) -> int:
    """The middle one of ``values``, of two the greater."""
    return int(np.partition(values, len(values) // 2)[len(values) // 2])


#: Parts of all times of which each has its say in how fast a clock is.
_PARTS = 64
_LEAST = 4
_ENOUGH = 1 << 17  # times
_PASSES = 3
#: What is so many times as far off as half of all are is far off.
_FAR = 8


def _rate(times: IntArray, apart: IntArray) -> int:
    """Theil and Sen's estimate, between the medians of parts of the time."""
    parts = min(_PARTS, len(times) // _LEAST)
    if parts < 2:
        return 0
    order = np.argsort(times, kind="stable")
    whole = (len(order) // parts - 1) | 1  # odd, or a fall would be told by the other neighbour
    cut = order[: whole * parts].reshape(parts, whole)
    middle = whole // 2
    x = np.partition(times[cut], middle, axis=1)[:, middle]
    y = np.partition(apart[cut], middle, axis=1)[:, middle]
    first, second = np.triu_indices(parts, 1)
    run, rise = x[second] - x[first], y[second] - y[first]
    if not (run > 0).any():
        return 0
    slope = float(np.median(rise[run > 0] / run[run > 0]))
    return int(np.clip(round(slope * (1 << _BITS)), -MOST_RATE, MOST_RATE))
