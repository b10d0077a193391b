"""Stacks, made into one tree of calls; what it weighs is added up by ``totals``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import mixed
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import Weights
from tb_memory_plugin.analysis.flame_paths import ROOT, Paths, paths
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Recording

_PRIME = np.uint64(0x100000001B3)


@dataclass(frozen=True)
class Calls:
    """A tree of calls. Node 0 is the root; every node comes after its parent.

    ``order`` puts the places of ``Weights`` in a row in which those below node k are at
    ``first[k]`` … ``stop[k]`` - 1; of them, those whose stack ends at the node come first, up to
    ``own[k]``. ``frame`` is a row of ``frames``, or one of ``ROOT`` …; ``shortest`` and
    ``longest`` say how many frames a ``LIBRARY`` node stands for. ``key`` names a node by the
    frames on its way, the same in every recording. ``spans`` are the distinct of all these ranges,
    ``below`` and ``ending`` the places in it of what is below a node and of what ends at it.
    """

    order: IntArray
    parent: IntArray
    frame: IntArray
    first: IntArray
    own: IntArray
    stop: IntArray
    spans: IntArray
    below: IntArray
    ending: IntArray
    shortest: IntArray
    longest: IntArray
    key: IntArray


def calls(recording: Recording, *, inverted: bool = False, folded: bool = False) -> Calls:
    """The tree of all stacks that an allocation was born with.

    From the outermost frame inwards; ``inverted``, from the innermost outwards. Frames that have
    function, file and line in common are one. ``folded``: two and more library frames one after
    the other are one node, and such runs below the same node are the same node; a stack's frame
    that tells most is never in one, so that stacks of library frames alone stay apart.
    """
    key = ("calls", inverted, folded)
    return memo(recording, key, lambda: _tree(paths(recording, inverted, folded)))


@dataclass(frozen=True)
class Totals:
    """What every node weighs and how many allocations that is; ``own``: what ends at it.

    ``near`` is ``value`` rounded, which keeps its order, where that may be Python's integers.
    """

    value: IntArray
    own: IntArray
    count: IntArray
    own_count: IntArray
    near: IntArray


def totals(tree: Calls, weighed: Weights) -> Totals:
    """The weights of the nodes of ``tree``: exactly their own and those of the nodes below."""
    # Far fewer ranges than nodes: most nodes have but one below them.
    value, count = (
        sums[tree.spans[:, 1]] - sums[tree.spans[:, 0]]
        for sums in (_running(column[tree.order]) for column in (weighed.value, weighed.count))
    )
    return Totals(
        value[tree.below],
        value[tree.ending],
        count[tree.below],
        count[tree.ending],
        value.astype(np.float64)[tree.below],
    )


def way_to(tree: Calls, node: int) -> list[int]:
    """The nodes from the root to ``node``."""
    way = [node]
    while way[-1]:
        way.append(int(tree.parent[way[-1]]))
    return way[::-1]


def _running(values: IntArray) -> IntArray:
    sums = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=sums[1:])
    return sums


def _tree(of: Paths) -> Calls:
    """The tree of paths, level by level: those with the same way so far share a node.

    Its columns are narrow: with many stacks there are millions of nodes.
    """
    width = len(of.frame)
    sizes = np.diff(of.starts)
    at = np.zeros(len(sizes), dtype=np.int64)  # the node each path has come to
    parents, said, counts, shortest, longest = (
        [np.array([value], dtype=np.int32)] for value in (-1, -1, len(sizes), 0, 0)
    )
    keys = [mixed(np.ones(1, np.uint64))]
    nodes, active = 1, np.arange(len(sizes))
    for depth in range(int(sizes.max(initial=0))):
        active = active[sizes[active] > depth]
        element = of.starts[active] + depth
        ways, place, count = np.unique(
            at[active] * width + of.symbols[element], return_inverse=True, return_counts=True
        )
        parent, symbol = ways // width, ways % width
        length = of.lengths[element]
        least, most = np.full(len(ways), np.iinfo(np.int32).max, np.int32), np.zeros_like(ways)
        np.minimum.at(least, place, length)
        np.maximum.at(most, place, length)
        above = keys[-1][parent - (nodes - len(keys[-1]))]
        levels_of = (parents, said, counts, shortest, longest)
        values_of: tuple[IntArray, ...] = (parent, symbol, count, least, most)
        for column, values in zip(levels_of, values_of, strict=True):
            column.append(values.astype(np.int32))
        keys.append(mixed(above * _PRIME + of.content[symbol]))
        at[active] = nodes + place
        nodes += len(ways)
    levels = [len(level) for level in parents]
    parent, symbol, count = (_joined(column) for column in (parents, said, counts))
    first, ending = _spread(parent, count, levels)
    spans, below, own = _spans(parent, count, first, ending, levels)
    return Calls(
        order=of.places[np.argsort(first[at], kind="stable")],
        parent=parent,
        frame=np.where(symbol < 0, np.int32(ROOT), of.frame[symbol]),
        first=first,
        own=first + ending,
        stop=first + count,
        spans=spans,
        below=below,
        ending=own,
        shortest=_joined(shortest),
        longest=_joined(longest),
        key=_joined(keys),
    )


def _joined(levels: list[IntArray]) -> IntArray:
    """All levels in one, the parts of which are let go."""
    whole = np.concatenate(levels)
    levels.clear()
    return whole


def _spans(
    parent: IntArray, count: IntArray, first: IntArray, ending: IntArray, levels: list[int]
) -> tuple[IntArray, IntArray, IntArray]:
    """``Calls.spans``, ``below`` and ``ending``: a node all of whose parent's paths pass has its.

    The first span is empty.
    """
    new = np.append(True, count[1:] != count[parent[1:]])
    below = np.cumsum(new, dtype=np.int32)
    begin = 1
    for size in levels[1:]:
        level = slice(begin, begin + size)
        below[level] = np.where(new[level], below[level], below[parent[level]])
        begin += size
    number = int(new.sum()) + 1
    some = np.flatnonzero((ending > 0) & (ending < count))
    own = np.where(ending == count, below, np.int32(0))
    own[some] = number + np.arange(len(some))
    begins = np.concatenate([[0], first[new], first[some]])
    lengths = np.concatenate([[0], count[new], ending[some]])
    return np.stack([begins, begins + lengths], axis=1), below, own


def _spread(parent: IntArray, count: IntArray, levels: list[int]) -> tuple[IntArray, IntArray]:
    """Where the paths below every node begin, and how many end at it; ``count`` come through.

    Those that end at a node come before those that go on to the nodes below it.
    """
    below = np.bincount(parent[1:], count[1:], len(parent)).astype(np.int32)
    ending = count - below
    first = np.zeros(len(parent), dtype=np.int32)
    begin = 1
    for size in levels[1:]:
        level = slice(begin, begin + size)
        above = parent[level]  # siblings lie side by side
        before = np.cumsum(count[level]) - count[level]
        eldest = np.append(True, above[1:] != above[:-1])
        since = before - before[eldest][np.cumsum(eldest) - 1]
        first[level] = first[above] + ending[above] + since
        begin += size
    return first, ending
