"""Nodes of a tree of calls and what they weigh, made into the columns of an answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame_nodes import Named, Nodes
from tb_memory_plugin.analysis.flame_tree import Calls, Totals
from tb_memory_plugin.views.flame_frames import Names


def digits(keys: IntArray) -> list[str]:
    """Keys as the 16 hexadecimal digits that a link carries."""
    digits = keys.astype(">u8").tobytes().hex()
    return [digits[begin : begin + 16] for begin in range(0, len(digits), 16)]


def columns_of(
    tree: Calls,
    sums: Totals,
    parts: dict[str, Totals | None],
    band: IntArray | None,
    shown: Nodes,
    parent: IntArray,
    names: Names,
    told: Named,
) -> dict[str, list[Any]]:
    """Columns of the nodes ``shown`` and of what is merged below them, each after its parent.

    Of those below one node the largest comes first, what is merged last. ``parts`` are further
    columns, by name, of what part of each node weighs; ``band`` is that of every stretch.
    """
    of, stretch = tree.stretches, shown.stretch
    weighing = of.parent[1:][sums.near[1:] > 0]
    last = shown.depth == of.end[stretch] - 1
    children = np.bincount(weighing, minlength=len(of.parent))[stretch]
    # Within a stretch a node has one below it, which weighs as much.
    children = np.where(last, children, sums.near[stretch] > 0)
    above = parent[1:]
    kept = np.bincount(above, minlength=len(parent))
    merging = np.flatnonzero(children > kept)
    at, rest = _rows(above.tolist(), children > kept)
    rest = rest[merging]

    def column(whole: Any, of_merged: Any, kind: Any) -> list[Any]:
        values = np.empty(len(at) + len(rest), dtype=kind)
        values[at], values[rest] = whole, of_merged
        return list(values.tolist())

    # Columns, and no tuple a row: thousands of those set off Python's garbage collector.
    columns = {
        "parent": column(np.append(-1, at[above]), at[merging], np.int64),
        "frame": column(
            names.of_nodes(told),
            [names.of_smaller(count) for count in (children - kept)[merging].tolist()],
            np.int64,
        ),
        "key": column(digits(told.key), None, object),
    }
    amounts = [("value", sums.value, sums.own), ("count", sums.count, sums.own_count)]
    amounts += [(name, each.value, each.own) for name, each in parts.items() if each is not None]
    for name, value, own in amounts:
        whole = value[stretch]
        inner = whole - np.where(last, own[stretch], 0)
        np.subtract.at(inner, above, whole[1:])
        columns[name] = column(whole, inner[merging], whole.dtype)
    if band is not None:  # of what is merged it is told where that of the node above is
        columns["band"] = column(band[stretch], band[stretch][merging], np.int64)
    return columns


def _rows(above: list[int], merges: IntArray) -> tuple[IntArray, IntArray]:
    """Where each node, and what is merged below it, comes in the answer.

    ``above`` are the parents' places, of all nodes but the first; siblings come in their order.
    """
    below = (1 + merges).tolist()  # rows of the node, those below it, and what is merged
    for node in range(len(above), 0, -1):
        below[above[node - 1]] += below[node]
    at = [0] * len(below)
    following = [1] * len(below)  # the row after those placed below the node
    for node, parent in enumerate(above, start=1):
        at[node] = following[parent]
        following[node] = at[node] + 1
        following[parent] += below[node]
    return np.array(at), np.array(following)
