"""Buffers of a plan by what the framework calls them: a tree of scopes, operations, arguments."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

#: A part of an argument's way: ``p``, ``layers`` and ``0`` of ``p['layers'][0]``.
_PART = re.compile(r"[^\[\]'\".]+")
_DEEPEST = 40
#: What has no name of the framework's goes by its kind.
UNNAMED = "no framework op"


def way(op: str | None, kind: str) -> list[str]:
    """The way to a buffer: scopes and operation, or the parts of an argument's name."""
    if not op:
        return [UNNAMED, kind]
    if "[" in op and "/" not in op:
        return [f"{kind}s", *_PART.findall(op)][:_DEEPEST]
    return [part for part in _scopes(op) if part][:_DEEPEST] or [UNNAMED, kind]


def _scopes(op: str) -> list[str]:
    """``op`` at the slashes that are in no brackets: ``jit(f)/jvp(a/b)/add`` are three."""
    found, depth, begin = [], 0, 0
    for place, letter in enumerate(op):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth = max(0, depth - 1)
        elif letter == "/" and not depth:
            found.append(op[begin:place])
            begin = place + 1
    return [*found, op[begin:]]


def tree(planned: Recording, rows: IntArray, most: int) -> dict[str, Any]:
    """The tree of allocations ``rows`` of a plans' recording, of at most ``most`` nodes.

    ``name``, ``bytes``, ``padding``, ``count``, ``id``, ``birth``, ``death`` (events; of a single
    allocation, else null) and ``children``, the largest first. What is too much is one node,
    ``smaller``.
    """
    table = planned.table("allocations")
    lives = table.select(["birth", "death"]).take(arrays.column(rows, pa.int64())).to_pydict()
    size = planned.values("allocations", "size")[rows].tolist()
    bare = planned.values("allocations", "requested")[rows].tolist()
    ops = arrays.words_of(table, "op", rows)
    kinds = arrays.words_of(table, "region", rows)
    names = arrays.words_of(table, "name", rows)
    root = _Node("all")
    for row, life, whole, unpadded, op, kind, name in zip(
        rows.tolist(),
        zip(lives["birth"], lives["death"], strict=True),
        size,
        bare,
        ops,
        kinds,
        names,
        strict=True,
    ):
        node = root
        node.add(whole, whole - unpadded)
        for part in [*way(op, kind or "buffer"), name or "a buffer without a name"]:
            node = node.children.setdefault(part, _Node(part))
            node.add(whole, whole - unpadded)
        node.held.append((row, *life))
    return root.told(_threshold(root, most))


class _Node:
    def __init__(self, name: str) -> None:
        self.name = name
        self.bytes = self.padding = self.count = 0
        self.children: dict[str, _Node] = {}
        #: Row, birth and death of allocations that are here themselves.
        self.held: list[tuple[int, int | None, int | None]] = []

    def add(self, size: int, padding: int) -> None:
        self.bytes += size
        self.padding += padding
        self.count += 1

    def told(self, least: int) -> dict[str, Any]:
        ordered = sorted(self.children.values(), key=lambda each: -each.bytes)
        kept = [each for each in ordered if each.bytes >= least]
        children = [each.told(least) for each in kept]
        rest = ordered[len(kept) :]
        if rest:
            smaller = _Node("smaller")
            for each in rest:
                smaller.bytes += each.bytes
                smaller.padding += each.padding
                smaller.count += each.count
            children.append(smaller.told(0))
        row, birth, death = self.held[0] if len(self.held) == 1 else (None, None, None)
        return {
            "name": self.name,
            "bytes": self.bytes,
            "padding": self.padding,
            "count": self.count,
            "id": None if row is None else str(row),
            "birth": birth,
            "death": death,
            "children": children,
        }


def _threshold(root: _Node, most: int) -> int:
    """From how many bytes on there are at most ``most`` nodes."""
    sizes: list[int] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        sizes.append(node.bytes)
        waiting += node.children.values()
    if len(sizes) <= most:
        return 0
    return sorted(sizes, reverse=True)[most] + 1
