"""What shape an allocation may have, guessed from the sizes that recur in its recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import bytes_column
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Recording

#: Bytes of the elements that tensors are made of; the second only where the first fit nothing.
WIDTHS = ((2, 4), (1,))
#: What counts as a dimension: smaller ones divide nearly everything, larger ones are products.
SMALLEST, LARGEST = 16, 1 << 18
#: Sizes that dimensions are looked for in, and dimensions that shapes are made of.
MOST_SIZES, MOST_DIMENSIONS = 24, 40
#: Guesses of each kind that are given.
ANSWERS = 3
#: Most times that a size may be taken.
MOST_TIMES = 512


@dataclass(frozen=True)
class Recurring:
    """The sizes that several allocations of a recording have, ascending, and how many have each.

    All allocations count, whichever device they are of and whenever they were alive.
    """

    sizes: IntArray
    counts: IntArray


@dataclass(frozen=True)
class Multiple:
    """So many times a size that ``count`` allocations have."""

    times: int
    bytes: int
    count: int


@dataclass(frozen=True)
class Shape:
    """Dimensions of a tensor whose elements are ``width`` bytes each."""

    dimensions: tuple[int, ...]
    width: int


def recurring(recording: Recording) -> Recurring:
    """The recurring sizes, in the recording's basis; what is unknown or empty is none."""

    def work() -> Recurring:
        ordered = np.sort(recording.values("allocations", bytes_column(recording)))
        ordered = ordered[np.searchsorted(ordered, 1) :].astype(np.int64)
        ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)])
        counts = np.diff(ends, prepend=-1)
        several = counts > 1
        return Recurring(ordered[ends[several]], counts[several])

    return memo(recording, ("recurring_sizes",), work)


def multiples(recording: Recording, size: int) -> list[Multiple]:
    """``size`` as at least twice a size that recurs, the fewest times first."""
    among = recurring(recording)
    fits = (among.sizes < size) & (among.sizes * MOST_TIMES >= size) & (size % among.sizes == 0)
    found = zip(among.sizes[fits].tolist(), among.counts[fits].tolist(), strict=True)
    largest = sorted(found, reverse=True)[:ANSWERS]
    return [Multiple(size // each, each, count) for each, count in largest]


def shapes(recording: Recording, size: int) -> list[Shape]:
    """Shapes that ``size`` bytes can have, the likeliest first.

    Each is a whole number of times a smaller size that recurs: that of one of its dimensions, or
    of both together. What is left over is the first dimension. The more of the dimensions recur
    the likelier; then the less is left over; then the more often they recur.
    """
    among = recurring(recording)
    fits = (among.sizes < size) & (size % among.sizes == 0)
    parts = Recurring(among.sizes[fits], among.counts[fits])
    for widths in WIDTHS:
        found = [
            ranked
            for width in widths
            for ranked in _made_of(size, width, parts, _candidates(recording, width, parts))
        ]
        if found:
            return [shape for _, shape in sorted(found, key=lambda each: each[0])[:ANSWERS]]
    return []


def _candidates(recording: Recording, width: int, parts: Recurring) -> IntArray:
    """What a dimension may be: 1 for none, what sizes have in common, or one of ``parts``."""
    alone = np.flatnonzero(parts.sizes % width == 0)
    alone = alone[_plausible(parts.sizes[alone] // width)]
    most = alone[np.argsort(-parts.counts[alone], kind="stable")[:MOST_DIMENSIONS]]
    found = [np.ones(1, np.int64), dimensions(recording, width), parts.sizes[most] // width]
    return np.unique(np.concatenate(found))


def _made_of(
    size: int, width: int, parts: Recurring, of: IntArray
) -> list[tuple[tuple[int, ...], Shape]]:
    """The shapes with one or two dimensions ``of`` these, each with what puts them in order."""
    one, other = (of[each] for each in np.triu_indices(len(of)))
    one, other = one[other > 1], other[other > 1]
    both = one * other * width
    fits = (size % both == 0) & (size <= both * LARGEST)
    one, other, both = one[fits], other[fits], both[fits]
    alone = [_often(parts, each * width) * (each > 1) for each in (one, other)]
    kept = np.flatnonzero(alone[0] + alone[1] + _often(parts, both))
    columns = (
        -np.count_nonzero(alone, axis=0)[kept],
        size // both[kept],
        -(alone[0] + alone[1])[kept],
        one[kept],
        other[kept],
    )
    found = []
    for rank in zip(*(column.tolist() for column in columns), strict=True):
        _, rest, _, smaller, larger = rank
        dimensions = tuple(each for each in (rest, smaller, larger) if each > 1)
        found.append((rank, Shape(dimensions, width)))
    return found


def _often(parts: Recurring, sizes: IntArray) -> IntArray:
    """How many allocations have each of the sizes, 0 for those that are none of ``parts``."""
    if not len(parts.sizes):
        return np.zeros(len(sizes), np.int64)
    at = np.minimum(np.searchsorted(parts.sizes, sizes), len(parts.sizes) - 1)
    return np.where(parts.sizes[at] == sizes, parts.counts[at], 0)


def dimensions(recording: Recording, width: int) -> IntArray:
    """Numbers that many of the recurring sizes have in common, the likeliest first.

    They divide two of the sizes that most bytes were allocated in, or are a square's side.
    """
    return memo(recording, ("dimensions", width), lambda: _dimensions(recurring(recording), width))


def _dimensions(among: Recurring, width: int) -> IntArray:
    whole = np.flatnonzero(among.sizes % width == 0)
    weight = among.sizes[whole] * among.counts[whole].astype(np.float64)
    heaviest = whole[np.argsort(-weight, kind="stable")[:MOST_SIZES]]
    elements = among.sizes[heaviest] // width
    common = np.gcd.outer(elements, elements)
    root = np.rint(np.sqrt(elements)).astype(np.int64)
    sides = root[root * root == elements]
    found = np.concatenate([common.ravel(), (elements[:, None] // common).ravel(), sides])
    found = np.unique(found[_plausible(found)])
    shared = (elements[:, None] % found[None, :] == 0).sum(axis=0)
    # A large number that divides many is likeliest: so many bits, so many times.
    bits = np.frexp(found.astype(np.float64))[1]
    return found[np.lexsort((-found, -shared * bits))[:MOST_DIMENSIONS]]


def _plausible(dimension: IntArray) -> IntArray:
    found: IntArray = (dimension >= SMALLEST) & (dimension <= LARGEST)
    return found
