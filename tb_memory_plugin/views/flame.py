"""A tree of calls, made into as many nodes as a screen can show, each of them exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.content import place_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.flame_tree import Calls, Totals, calls, totals, way_to
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.flame_frames import Names
from tb_memory_plugin.views.weighed import described

#: Pixels that a graph has where nobody says how many.
WIDTH = 1600
#: Nodes of an answer; each of them may have one more below it, for what is smaller.
_MOST_NODES = 2000


def page(
    recording: Recording,
    device: Device,
    *,
    of: str = "alive",
    at: str = "peak",
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    filter: str = "",
    find: str = "",
    inverted: bool = False,
    folded: bool = False,
    root: str = "",
    width: int = WIDTH,
) -> dict[str, Any]:
    """The answer of ``GET flame`` (docs/architecture.md has its columns). Raises QueryError.

    ``root`` is the key of the node to look into; what is narrower than a pixel of ``width`` of
    it is merged, below each node, into one.
    """
    seen = window(recording, device, axis, begin, end)
    wanted = filters.mask(recording, device, filter)
    weighed = weights(recording, device, of, seen, at, wanted)
    tree = calls(recording, inverted=inverted, folded=folded)
    sums = totals(tree, weighed)
    searched = filters.mask(recording, device, find)
    found = None
    if searched is not None:
        hits = searched if wanted is None else searched & wanted
        found = totals(tree, weights(recording, device, of, seen, at, hits))
    way = way_to(tree, _node(tree, root))
    names = Names(recording, tree, find)
    nodes = _nodes(tree, sums, found, _largest(tree, sums.near, way[-1], width), names)
    return {
        **described(recording, device, of, seen, weighed),
        "found": None
        if found is None
        else {"value": int(found.value[0]), "count": int(found.count[0])},
        "way": [_step(tree, sums, names, node) for node in way],
        "nodes": nodes,
        "frames": names.columns(),
    }


def _node(tree: Calls, root: str) -> int:
    if not root:
        return 0
    node = place_of(tree.key, root)
    if node < 0:
        raise QueryError("There is no such frame in this graph (any more).")
    return node


def _step(tree: Calls, sums: Totals, names: Names, node: int) -> dict[str, Any]:
    return {
        "frame": names.of_nodes(np.array([node]))[0],
        "key": _keys(tree, np.array([node]))[0],
        "value": int(sums.value[node]),
        "count": int(sums.count[node]),
    }


def _keys(tree: Calls, nodes: IntArray) -> list[str]:
    digits = tree.key[nodes].astype(">u8").tobytes().hex()
    return [digits[begin : begin + 16] for begin in range(0, len(digits), 16)]


def _largest(tree: Calls, near: IntArray, top: int, width: int) -> IntArray:
    """The nodes from ``top`` on that are wide enough, largest first, each after its parent."""
    within = (tree.first >= tree.first[top]) & (tree.stop <= tree.stop[top])
    within[:top] = False  # those on the way to a node may span no more than it
    within &= (near > 0) & (near >= near[top] / width)
    within[top] = True
    nodes = np.flatnonzero(within)
    # A node weighs at least as much as those below it, and comes before them.
    order: IntArray = np.argsort(-near[nodes], kind="stable")
    return nodes[order][:_MOST_NODES]


def _nodes(
    tree: Calls, sums: Totals, found: Totals | None, shown: IntArray, names: Names
) -> dict[str, list[Any]]:
    """Columns of the nodes ``shown`` and of what is merged below them, each after its parent.

    Of those below one node the largest comes first, what is merged last.
    """
    weighing = tree.parent[1:][sums.near[1:] > 0]
    children = np.bincount(weighing, minlength=len(tree.parent))[shown]
    place = np.empty(len(tree.parent), dtype=np.int64)
    place[shown] = np.arange(len(shown))
    above = place[tree.parent[shown[1:]]]  # by place in ``shown``, as all that follows
    kept = np.bincount(above, minlength=len(shown))
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
            names.of_nodes(shown),
            [names.of_smaller(count) for count in (children - kept)[merging].tolist()],
            np.int64,
        ),
        "key": column(_keys(tree, shown), None, object),
    }
    amounts = [("value", sums.value, sums.own), ("count", sums.count, sums.own_count)]
    if found is not None:
        amounts.append(("hit", found.value, found.own))
    for name, value, own in amounts:
        inner = value[shown] - own[shown]
        np.subtract.at(inner, above, value[shown[1:]])
        columns[name] = column(value[shown], inner[merging], value.dtype)
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
