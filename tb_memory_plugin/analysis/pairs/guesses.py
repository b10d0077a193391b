"""Moves of two recordings whose clocks nobody knows, made into guesses at the difference.

Of a few moves of one recording the differences to all of the same code in the other are looked
at: where many are the same, both may be one history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairs.clock import median
from tb_memory_plugin.analysis.pairs.moves import Moves, fits

#: Moves next to each other that are looked at, and places in a recording at which that is done.
_BURST = 128
_PLACES = 16
#: Differences that are looked at at once. (Rings of buffers come back to an address very often.)
_MOST = 1 << 18
_AT_LEAST = 8  # moves, whatever that is in differences, up to so many times as much
_STRETCH = 8
#: Guesses of one burst.
_GUESSES = 16
_TRIED = 2048
#: ns that a move may take to be written down by both.
JITTER = 20_000
#: One part in so many is the most that clocks are taken to gain on each other, both ways.
_DRIFT = 1 << 9


@dataclass(frozen=True)
class Guess:
    """At ``time`` of their clock ours may show ``offset`` more; ``span`` ns around told so."""

    time: int
    offset: int
    span: int


def simplest(ours: Moves, theirs: Moves, expected: int | None) -> list[Guess]:
    """That clocks are what they say, and that both recordings begin, or end, together."""
    if not len(ours) or not len(theirs):
        return []
    ends = [(int(side.time.min()), int(side.time.max())) for side in (theirs, ours)]
    found = [Guess(its, mine - its, 0) for its, mine in zip(*ends, strict=True)]
    if expected is not None:
        found.append(Guess(min(max(ends[0][0], ends[1][0] - expected), ends[0][1]), expected, 0))
    return found


def guesses(ours: Moves, theirs: Moves) -> Iterator[list[Guess]]:
    """Guesses, the best first, burst by burst; both have moves of the same codes only."""
    if not len(ours) or not len(theirs):
        return
    seldom = _seldom(ours, theirs)
    yield _clusters(ours, theirs, seldom, JITTER)
    order = np.argsort(theirs.time, kind="stable")
    for place in _spread(len(order)):
        burst = order[place : place + _BURST]
        width = JITTER + (int(theirs.time[burst[-1]]) - int(theirs.time[burst[0]])) // _DRIFT
        yield _clusters(ours, theirs, burst, width)


def _spread(count: int) -> list[int]:
    """Where bursts begin: first in the middle, then in between."""
    if count <= _BURST:
        return [0]
    parts = min(_PLACES, -(-count // _BURST))
    places = [(count - _BURST) * (2 * n + 1) // (2 * parts) for n in range(parts)]
    return sorted(places, key=lambda at: abs(2 * at - count)) if parts < 4 else _bisected(places)


def _bisected(places: list[int]) -> list[int]:
    found: list[int] = []
    parts = [(0, len(places))]
    while parts:
        low, high = parts.pop(0)
        if low < high:
            middle = (low + high) // 2
            found.append(places[middle])
            parts += [(low, middle), (middle + 1, high)]
    return found


def _seldom(ours: Moves, theirs: Moves) -> IntArray:
    """Those of theirs whose codes are seen the fewest times."""
    codes = int(max(ours.code[-1], theirs.code[-1])) + 1
    often = np.bincount(ours.code, minlength=codes) * np.bincount(theirs.code, minlength=codes)
    weight = often[theirs.code]
    count = min(2 * _BURST, len(weight))
    found: IntArray = np.argpartition(weight, count - 1)[:count]
    return found


def _clusters(ours: Moves, theirs: Moves, burst: IntArray, width: int) -> list[Guess]:
    """Where differences between moves of a ``burst`` of theirs and ours are closest together."""
    first = np.searchsorted(ours.code, theirs.code[burst])
    count = np.searchsorted(ours.code, theirs.code[burst], side="right") - first
    order = np.argsort(count, kind="stable")
    reach = np.cumsum(count[order])
    kept = order[
        (reach <= _MOST) | ((np.arange(len(order)) < _AT_LEAST) & (reach <= _STRETCH * _MOST))
    ]
    if not len(kept):
        return []
    its = np.repeat(burst[kept], count[kept])
    begins = np.cumsum(count[kept]) - count[kept]
    mine = np.arange(len(its)) - np.repeat(begins - first[kept], count[kept])
    good = fits(ours, mine, theirs, its)
    mine, its = mine[good], its[good]
    apart = ours.time[mine] - theirs.time[its]
    order = np.argsort(apart, kind="stable")
    apart, its = apart[order], its[order]
    near = [_within(apart, part) for part in (width, width // 8)]
    times = theirs.time[its]
    span = int(times.max() - times.min()) if len(times) else 0
    found: list[Guess] = []
    for at in _best(near[0] + near[1], len(kept)):
        inside = slice(at, at + int(near[0][at]))
        offset = median(apart[inside])
        if all(abs(offset - other.offset) > width for other in found):
            found.append(Guess(median(times[inside]), offset, span))
            if len(found) == _GUESSES:
                break
    return found


def _within(values: IntArray, width: int) -> IntArray:
    """How many of the sorted ``values`` are from each one up to ``width`` more."""
    found: IntArray = np.searchsorted(values, values + width, side="right") - np.arange(len(values))
    return found


def _best(weight: IntArray, most: int) -> list[int]:
    """Places of the greatest weights, if these are more than chance makes."""
    if not len(weight):
        return []
    count = min(_TRIED, len(weight))
    places = np.argpartition(-weight, count - 1)[:count]
    places = places[np.lexsort((places, -weight[places]))]
    found: list[int] = places[weight[places] >= max(4, most // 8)].tolist()
    return found
