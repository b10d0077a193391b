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
    nodes = _nodes(tree, sums, found, _largest(tree, sums.value, way[-1], width), names)
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
    return [f"{key:016x}" for key in tree.key[nodes].tolist()]


def _largest(tree: Calls, value: IntArray, top: int, width: int) -> IntArray:
    """The nodes from ``top`` on that are wide enough, largest first, each after its parent."""
    # Rounded, which keeps their order, and is all that is needed: they may be Python's integers.
    near = value.astype(np.float64)
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
    weighing = tree.parent[1:][sums.value[1:].astype(np.float64) > 0]
    children = np.bincount(weighing, minlength=len(tree.parent))[shown].tolist()
    place = {node: at for at, node in enumerate(shown.tolist())}
    below: list[list[int]] = [[] for _ in place]  # by place in ``shown``, as all that follows
    for at, parent in enumerate(tree.parent[shown[1:]].tolist(), start=1):
        below[place[parent]].append(at)
    frames, keys = names.of_nodes(shown), _keys(tree, shown)
    pairs = [(sums.value, sums.own), (sums.count, sums.own_count)]
    if found is not None:
        pairs.append((found.value, found.own))
    whole = list(zip(*(column[shown].tolist() for column, _ in pairs), strict=True))
    inner = list(
        zip(*((column[shown] - own[shown]).tolist() for column, own in pairs), strict=True)
    )
    rows: list[tuple[Any, ...]] = []
    waiting = [(0, -1)]  # a place, or ~place for what is merged below it
    while waiting:
        at, parent = waiting.pop()
        if at >= 0:
            if children[at] > len(below[at]):
                waiting.append((~at, len(rows)))
            waiting.extend((child, len(rows)) for child in reversed(below[at]))
            rows.append((parent, frames[at], keys[at], *whole[at]))
        else:
            kept = below[~at]
            rest = [
                total - sum(whole[child][column] for child in kept)
                for column, total in enumerate(inner[~at])
            ]
            rows.append((parent, names.of_smaller(children[~at] - len(kept)), None, *rest))
    columns = ["parent", "frame", "key", "value", "count", "hit"][: len(pairs) + 3]
    return {name: [row[column] for row in rows] for column, name in enumerate(columns)}
