"""Sequences of symbols, put in an order in which those that begin alike lie side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import mixed
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame_paths import LIBRARY, Paths

_PRIME = np.uint64(0x100000001B3)


@dataclass(frozen=True)
class Stretches:
    """A tree of calls without its nodes: how its stacks part, and their order.

    A *stretch* is a node with those below it down to where stacks part or one ends; all its nodes
    weigh the same. There are fewer than two a stack, where there may be millions of nodes.

    ``order`` puts the places of ``Weights`` in a row in which those below stretch k are at
    ``first[k]`` … ``stop[k]`` - 1; of them, those whose stack ends with it come first, up to
    ``own[k]``. Its nodes are at the depths ``begin[k]`` … ``end[k]`` - 1, ``key[k]`` is the key of
    the node above. Stretch 0 is the root alone, at depth 0; every one comes after its ``parent``.
    ``folds`` has a row for every node that stands for different numbers of library frames:
    its depth, its ``first`` and ``stop``, the least and the most; in this order.
    """

    order: IntArray
    parent: IntArray
    first: IntArray
    own: IntArray
    stop: IntArray
    begin: IntArray
    end: IntArray
    key: IntArray
    folds: IntArray


def root_key() -> IntArray:
    """The key of the root of every tree, alone in an array."""
    return mixed(np.ones(1, np.uint64))


def keys_below(above: IntArray, content: IntArray) -> IntArray:
    """The keys of nodes, from those of the nodes above them and what their frames say."""
    return mixed(above * _PRIME + content)


def stretches(of: Paths) -> Stretches:
    """How the paths part, level by level: only those that are still together are looked at."""
    made = _Making(of)
    together, keys = np.zeros(1, dtype=np.int64), root_key()
    for depth in range(len(of.symbols)):
        if not len(together):
            break
        together, keys = made.level(depth, together, keys)
    return made.done()


class _Making:
    """The columns of stretches while they are filled, one level of the paths after the other."""

    def __init__(self, of: Paths) -> None:
        self._of = of
        self._sizes = np.diff(of.starts)
        paths = len(self._sizes)
        self._order = np.arange(paths)
        # With each stretch a path ends, or it has two and more below it.
        self._parent, self._first, self._own, self._stop, self._begin, self._end = np.zeros(
            (6, 2 * paths + 1), dtype=np.int32
        )
        self._key = np.zeros(2 * paths + 1, dtype=np.uint64)
        self._count = 1
        self._parent[0] = -1
        self._stop[0] = paths
        self._folds: list[IntArray] = [np.zeros((0, 5), dtype=np.int32)]

    def level(self, depth: int, together: IntArray, keys: IntArray) -> tuple[IntArray, IntArray]:
        """What element ``depth`` of the paths says of the stretches ``together``.

        ``keys`` are those of their last nodes so far. Answers the same for the next level: the
        stretches that go on, and those new ones that more than one path goes through.
        """
        at, owner, begins = self._members(together)
        path = self._order[at]
        symbol = self._symbols(path, depth)
        head = symbol[begins]
        alike = np.logical_and.reduceat(symbol == head[owner], begins)
        if depth == 0:
            alike[:] = False  # the root is a stretch of its own
        self._end[together[~alike | (head < 0)]] = depth + 1
        whole = together[alike & (head < 0)]
        self._own[whole] = self._stop[whole]
        goes_on = alike & (head >= 0)
        parts = ~alike[owner]
        fresh, above, said = self._part(
            depth, together, at[parts], owner[parts], path[parts], symbol[parts]
        )
        self._key[fresh] = keys[above]
        many = self._stop[fresh] - self._first[fresh] > 1
        self._alone(fresh[~many])
        together = np.append(together[goes_on], fresh[many])
        said = np.append(head[goes_on], said[many])
        keys = keys_below(np.append(keys[goes_on], keys[above][many]), self._of.content[said])
        turn = np.argsort(self._first[together])
        together, said, keys = together[turn], said[turn], keys[turn]
        self._note_folds(depth, together[self._of.frame[said] == LIBRARY])
        return together, keys

    def done(self) -> Stretches:
        columns = (self._parent, self._first, self._own, self._stop, self._begin, self._end)
        parent, first, own, stop, begin, end = (column[: self._count].copy() for column in columns)
        return Stretches(
            order=self._of.places[self._order],
            parent=parent,
            first=first,
            own=own,
            stop=stop,
            begin=begin,
            end=end,
            key=self._key[: self._count].copy(),
            folds=np.concatenate(self._folds),
        )

    def _members(self, some: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Places in the order of the paths through ``some``, whose they are, where those begin."""
        sizes = self._stop[some] - self._first[some]
        begins = np.cumsum(sizes) - sizes
        owner = np.repeat(np.arange(len(some)), sizes)
        at = np.repeat(self._first[some] - begins, sizes) + np.arange(len(owner))
        return at, owner, begins

    def _symbols(self, path: IntArray, depth: int) -> IntArray:
        """Element ``depth`` of paths, -1 of those that have ended."""
        ended = self._sizes[path] <= depth
        element = self._of.starts[path] + depth
        element[ended] = 0
        return np.where(ended, -1, self._of.symbols[element])

    def _part(
        self,
        depth: int,
        together: IntArray,
        at: IntArray,
        owner: IntArray,
        path: IntArray,
        symbol: IntArray,
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Puts paths that part in order.

        Answers the new stretches, the places in ``together`` of what they are below, and the
        symbols of their first nodes.
        """
        width = len(self._of.frame) + 1
        ways = owner * width + (symbol + 1)
        turn = np.argsort(ways, kind="stable")
        ways = ways[turn]
        self._order[at] = path[turn]
        begins = np.flatnonzero(np.append(True, ways[1:] != ways[:-1])[: len(ways)])
        sizes = np.diff(np.append(begins, len(ways)))
        above, said = ways[begins] // width, ways[begins] % width - 1
        parted = together[above]
        self._own[parted] = self._first[parted]
        ending = said < 0
        self._own[parted[ending]] += sizes[ending]
        fresh = self._count + np.arange(int((~ending).sum()))
        self._count += len(fresh)
        self._parent[fresh] = parted[~ending]
        self._first[fresh] = at[begins][~ending]
        self._stop[fresh] = self._first[fresh] + sizes[~ending]
        self._begin[fresh] = depth + 1
        return fresh, above[~ending], said[~ending]

    def _alone(self, some: IntArray) -> None:
        """Stretches that one path goes through end with it."""
        self._own[some] = self._stop[some]
        self._end[some] = self._sizes[self._order[self._first[some]]] + 1

    def _note_folds(self, depth: int, some: IntArray) -> None:
        """The least and the most frames that element ``depth`` stands for, where they differ."""
        if not len(some):
            return
        at, _, begins = self._members(some)
        lengths = self._of.lengths[self._of.starts[self._order[at]] + depth]
        least, most = (each.reduceat(lengths, begins) for each in (np.minimum, np.maximum))
        varied = least < most
        rows = (
            np.full(len(some), depth + 1),
            self._first[some],
            self._stop[some],
            least,
            most,
        )
        self._folds.append(np.stack(rows, axis=1)[varied].astype(np.int32))
