"""Stretches of a tree of calls, made into those of its nodes that are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import place_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame_paths import ROOT, Paths, paths
from tb_memory_plugin.analysis.flame_stretches import keys_below, root_key
from tb_memory_plugin.analysis.flame_tree import Calls
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Recording

#: Stretches whose nodes are looked through together.
_AT_ONCE = 4096


@dataclass(frozen=True)
class Nodes:
    """Nodes by stretch and depth, those of a stretch side by side from the top down."""

    stretch: IntArray
    depth: IntArray


@dataclass(frozen=True)
class Named:
    """What nodes are called: a row of ``frames`` or one of ``ROOT`` …, and their keys.

    ``shortest`` and ``longest`` say how many frames a ``LIBRARY`` node stands for. A key names a
    node by the frames on its way, the same in every recording.
    """

    frame: IntArray
    shortest: IntArray
    longest: IntArray
    key: IntArray


def nodes_of(some: IntArray, begin: IntArray, end: IntArray) -> Nodes:
    """The nodes of the stretches ``some`` at the depths from ``begin`` to ``end`` - 1 of each."""
    sizes = (end - begin).astype(np.int64)
    before = np.cumsum(sizes) - sizes
    depth = np.repeat(begin - before, sizes) + np.arange(int(sizes.sum()))
    return Nodes(np.repeat(some, sizes), depth)


def widest(
    tree: Calls, near: IntArray, top: tuple[int, int], width: int, most: int
) -> tuple[Nodes, IntArray]:
    """The nodes from ``top`` on that are wide enough, larger ones first, and their parents.

    ``near`` is what the stretches weigh, ``top`` a stretch and a depth; a node is wide enough if
    it weighs more than nothing and at least the ``width``-th part of ``top``. Parents are places
    in these nodes, come before what is below them, and are -1 for the first.
    """
    of, (first, depth) = tree.stretches, top
    within = (of.first >= of.first[first]) & (of.stop <= of.stop[first])
    within &= (near > 0) & (near >= near[first] / width)
    within[first] = True
    some = np.flatnonzero(within)
    # A stretch weighs at least as much as those below it, and comes before them.
    some = some[np.argsort(-near[some], kind="stable")]
    begin = of.begin[some].astype(np.int64)
    begin[0] = depth
    sizes = of.end[some] - begin
    left = most - (np.cumsum(sizes) - sizes)
    some, begin, sizes = some[left > 0], begin[left > 0], np.minimum(sizes, left)[left > 0]
    last = np.full(len(near), -1)
    last[some] = np.cumsum(sizes) - 1
    begins = np.cumsum(sizes) - sizes
    parent = np.arange(int(sizes.sum())) - 1
    parent[begins[1:]] = last[of.parent[some[1:]]]
    return nodes_of(some, begin, begin + sizes), parent


def way_to(tree: Calls, stretch: int, depth: int) -> Nodes:
    """The nodes from the root to one."""
    of = tree.stretches
    way = [stretch]
    while way[-1]:
        way.append(int(of.parent[way[-1]]))
    some = np.array(way[::-1])
    end = of.end[some].astype(np.int64)
    end[-1] = depth + 1
    return nodes_of(some, of.begin[some], end)


def named(recording: Recording, tree: Calls, nodes: Nodes) -> Named:
    """What ``nodes`` are called."""
    of = tree.stretches
    begins = np.flatnonzero(np.append(True, nodes.stretch[1:] != nodes.stretch[:-1]))
    begins = begins[: len(nodes.stretch)]
    some = nodes.stretch[begins]
    ends = np.append(begins[1:], len(nodes.stretch)) - 1
    # Keys are made from the first node of a stretch on, wherever these begin.
    whole = nodes_of(some, of.begin[some], nodes.depth[ends] + 1)
    told = _told(recording, tree, whole)
    keys = _keys(tree, whole, told)
    asked = whole.depth >= np.repeat(nodes.depth[begins], nodes.depth[ends] + 1 - of.begin[some])
    frame, shortest, longest = (
        column[asked] for column in (told.frame, told.shortest, told.longest)
    )
    return Named(frame, shortest, longest, keys[asked])


def node_of(recording: Recording, tree: Calls, key: str) -> tuple[int, int] | None:
    """Stretch and depth of the node with ``key``, in 16 hexadecimal digits; None without one."""
    name = ("call", tree.inverted, tree.folded, key)
    return memo(recording, name, lambda: _find(recording, tree, key))


def _find(recording: Recording, tree: Calls, key: str) -> tuple[int, int] | None:
    of = tree.stretches
    if place_of(root_key(), key) == 0:
        return 0, 0
    # Where stacks are alone there are the most nodes, and the least to look into.
    alone = of.stop - of.first == 1
    alone[0] = False
    shared = ~alone
    shared[0] = False
    for all_of_them in (np.flatnonzero(shared), np.flatnonzero(alone)):
        for start in range(0, len(all_of_them), _AT_ONCE):
            some = all_of_them[start : start + _AT_ONCE]
            nodes = nodes_of(some, of.begin[some], of.end[some])
            at = place_of(_keys(tree, nodes, _told(recording, tree, nodes)), key)
            if at >= 0:
                return int(nodes.stretch[at]), int(nodes.depth[at])
    return None


@dataclass(frozen=True)
class _Told:
    """What the elements of paths say that nodes are made of."""

    frame: IntArray
    content: IntArray
    shortest: IntArray
    longest: IntArray


def _told(recording: Recording, tree: Calls, nodes: Nodes) -> _Told:
    """Each node from one of the paths through it."""
    at = tree.stretches.first[nodes.stretch]
    read, path = ways_of(recording, tree, at)
    element = read.starts[path] + nodes.depth - 1
    root = nodes.depth == 0
    element[root] = 0
    symbol = read.symbols[element]
    shortest, longest = lengths(tree, at, nodes.depth, read.lengths[element])
    return _Told(
        frame=np.where(root, np.int32(ROOT), read.frame[symbol]),
        content=read.content[symbol],
        shortest=np.where(root, 0, shortest),
        longest=np.where(root, 0, longest),
    )


def ways_of(recording: Recording, tree: Calls, at: IntArray) -> tuple[Paths, IntArray]:
    """Paths, and which of them are those ``at`` places in the order of stretches."""
    places = tree.stretches.order[at]
    stacks = np.unique(places)
    known = stacks[stacks < len(recording.table("stacks"))]
    read = paths(recording, tree.inverted, tree.folded, known)
    turn = np.argsort(read.places)
    return read, turn[np.searchsorted(read.places, places, sorter=turn)]


def lengths(tree: Calls, at: IntArray, depth: IntArray, own: IntArray) -> tuple[IntArray, IntArray]:
    """The least and the most frames that nodes stand for.

    A node is that at a ``depth`` of the path ``at`` a place in the order of stretches, where the
    element of the path stands for ``own``.
    """
    folds = tree.stretches.folds
    if not len(folds):
        return own, own
    width = len(tree.stretches.order) + 1
    row = (
        np.searchsorted(
            folds[:, 0].astype(np.int64) * width + folds[:, 1], depth * width + at, "right"
        )
        - 1
    )
    level, _, stop, least, most = folds[row].T
    varied = (row >= 0) & (level == depth) & (at < stop)
    return np.where(varied, least, own), np.where(varied, most, own)


def _keys(tree: Calls, nodes: Nodes, told: _Told) -> IntArray:
    """The keys of ``nodes``, which begin with the first node of each stretch."""
    of = tree.stretches
    keys = of.key[nodes.stretch]
    begins = np.flatnonzero(nodes.depth == of.begin[nodes.stretch])
    ends = np.append(begins[1:], len(nodes.depth))
    above = keys[begins]
    while len(begins):
        above = np.where(
            nodes.depth[begins] == 0, root_key(), keys_below(above, told.content[begins])
        )
        keys[begins] = above
        begins = begins + 1
        goes_on = begins < ends
        begins, ends, above = begins[goes_on], ends[goes_on], above[goes_on]
    return keys
