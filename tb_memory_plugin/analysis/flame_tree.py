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
    """The tree of paths, level by level: those with the same way so far share a node."""
    width = len(of.frame)
    sizes = np.diff(of.starts)
    at = np.zeros(len(sizes), dtype=np.int64)  # the node each path has come to
    parents, said = [np.array([-1])], [np.array([-1])]
    counts, shortest, longest = [np.array([len(sizes)])], [np.zeros(1, int)], [np.zeros(1, int)]
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
        least, most = np.full(len(ways), np.iinfo(np.int64).max), np.zeros(len(ways), np.int64)
        np.minimum.at(least, place, length)
        np.maximum.at(most, place, length)
        above = keys[-1][parent - (nodes - len(keys[-1]))]
        for column, values in zip(
            (parents, said, counts, shortest, longest, keys),
            (parent, symbol, count, least, most, mixed(above * _PRIME + of.content[symbol])),
            strict=True,
        ):
            column.append(values)
        at[active] = nodes + place
        nodes += len(ways)
    parent, symbol, count = (np.concatenate(column) for column in (parents, said, counts))
    first, ending = _spread(parent, count, [len(level) for level in parents])
    spans, place = np.unique(
        np.concatenate([first, first]) * (len(sizes) + 1)
        + np.concatenate([first + count, first + ending]),
        return_inverse=True,
    )
    below, own = place.reshape(2, -1).astype(np.int32)
    return Calls(
        order=of.places[np.argsort(first[at], kind="stable")],
        parent=parent,
        frame=np.where(symbol < 0, ROOT, of.frame[symbol]),
        first=first,
        own=first + ending,
        stop=first + count,
        spans=np.stack(np.divmod(spans, len(sizes) + 1), axis=1),
        below=below,
        ending=own,
        shortest=np.concatenate(shortest),
        longest=np.concatenate(longest),
        key=np.concatenate(keys),
    )


def _spread(parent: IntArray, count: IntArray, levels: list[int]) -> tuple[IntArray, IntArray]:
    """Where the paths below every node begin, and how many end at it; ``count`` come through.

    Those that end at a node come before those that go on to the nodes below it.
    """
    below = np.bincount(parent[1:], count[1:], len(parent)).astype(np.int64)
    ending = count - below
    first = np.zeros(len(parent), dtype=np.int64)
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
