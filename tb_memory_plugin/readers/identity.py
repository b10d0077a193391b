"""Lists of frames to stack ids, fast: told apart by the identity of a few frames.

Unpickled frame dictionaries are shared between stacks, the lists that hold them mostly are not.
A search tree over ``id(frames[position])``, with positions chosen where stacks differ, leads to
one candidate, ``==`` confirms it (nearly all of it pointer comparisons). Where nothing is shared
a second tree asks the same by content. Only what neither knows is interned frame by frame.

Identities stay valid because the trees keep the lists they know, hence their frames, alive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Key = Callable[[Any], Any]
#: (position, branches by key) or [list, stack id].
_Node = Any

#: Lists kept for their identities; a source with more shares next to nothing.
MOST_KEPT = 65_536


class SearchTree:
    """Known lists, found by ``key`` of their items at telling positions."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._roots: dict[Any, _Node] = {}
        self.count = 0

    def find(self, items: list[Any]) -> int:
        """The id ``items`` was added with, -1 if no equal list is known."""
        key = self._key
        node = self._roots.get(len(items))
        while type(node) is tuple:
            node = node[1].get(key(items[node[0]]))
        if node is not None and node[0] == items:
            found: int = node[1]
            return found
        return -1

    def add(self, items: list[Any], number: int) -> None:
        """Remember ``items``, which :meth:`find` did not know, unless no key tells it apart."""
        key = self._key
        holder, place = self._roots, len(items)
        node = holder.get(place)
        while type(node) is tuple:
            place = key(items[node[0]])
            holder = node[1]
            node = holder.get(place)
        if node is not None:
            other = node[0]
            for position, (left, right) in enumerate(zip(items, other, strict=True)):
                if key(left) != key(right):
                    branches = {key(left): [items, number], key(right): node}
                    holder[place] = (position, branches)
                    break
            else:
                return
        else:
            holder[place] = [items, number]
        self.count += 1


class StackFinder:
    """Ids of stacks: ``intern(frames)`` is asked only for lists no tree knows."""

    def __init__(self, intern: Callable[[list[Any]], int], content: Key) -> None:
        self._intern = intern
        self._by_identity = SearchTree(id)
        self._by_content = SearchTree(content)

    def ids(self, column: Sequence[list[Any] | None]) -> list[int]:
        """The stack of each entry, -1 for None and for a stack without frames.

        The loop over all events of a source: what ``SearchTree.find`` does, written out.
        """
        found: list[int] = []
        add = found.append
        root = self._by_identity._roots.get
        last: list[Any] = [None]
        last_id = -1
        for frames in column:
            if not frames:
                add(-1)
                continue
            # A free is requested and completed with the same stack, one after the other.
            if frames[0] is last[0] and frames == last:
                add(last_id)
                continue
            node = root(len(frames))
            while type(node) is tuple:
                node = node[1].get(id(frames[node[0]]))
            if node is not None and node[0] == frames:
                last, last_id = node
            else:
                last, last_id = frames, self.unknown(frames)
                if self._by_identity.count < MOST_KEPT:
                    self._by_identity.add(frames, last_id)
            add(last_id)
        return found

    def unknown(self, frames: list[Any]) -> int:
        """The id of a stack that is not known by the identity of its frames."""
        number = self._by_content.find(frames)
        if number < 0:
            number = self._intern(frames)
            if self._by_content.count < MOST_KEPT:
                self._by_content.add(frames, number)
        return number
