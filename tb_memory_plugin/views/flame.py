"""A tree of calls, made into as many nodes as a screen can show, each of them exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.flame_tree import Calls, Totals, calls, totals
from tb_memory_plugin.analysis.instants import event_time, step_at
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.flame_frames import Names

#: Pixels that a graph has where nobody says how many.
WIDTH = 1600
#: Nodes of an answer; each of them may have one more below it, for what is smaller.
_MOST_NODES = 5000


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
    way = _way(tree, _node(tree, root))
    names = Names(recording, tree, find)
    nodes = _nodes(tree, sums, found, _largest(tree, sums.value, way[-1], width), names)
    moment = None
    if weighed.event is not None:
        time = event_time(recording, device, weighed.event)
        step = step_at(recording, device, time)
        moment = {"event": weighed.event, "time": time, "step": step}
    return {
        "device": device.key,
        "of": of,
        "unit": weighed.unit,
        "moment": moment,
        "window": {"first": seen.first, "stop": seen.stop, "begin": seen.begin, "end": seen.end},
        "total": int(sums.value[0]),
        "count": int(sums.count[0]),
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
    try:
        found = np.flatnonzero(tree.key == np.uint64(int(root, 16)))
    except (ValueError, OverflowError):
        found = np.zeros(0, dtype=np.int64)
    if not len(found):
        raise QueryError("There is no such frame in this graph; leave out root for the whole.")
    return int(found[0])


def _way(tree: Calls, node: int) -> list[int]:
    """The nodes from the root to ``node``."""
    way = [node]
    while way[-1]:
        way.append(int(tree.parent[way[-1]]))
    return way[::-1]


def _step(tree: Calls, sums: Totals, names: Names, node: int) -> dict[str, Any]:
    return {
        "frame": names.of_node(node),
        "key": _key(tree, node),
        "value": int(sums.value[node]),
        "count": int(sums.count[node]),
    }


def _key(tree: Calls, node: int) -> str:
    return f"{int(tree.key[node]):016x}"


def _largest(tree: Calls, value: IntArray, top: int, width: int) -> IntArray:
    """The nodes from ``top`` on that are wide enough, largest first, each after its parent."""
    within = (tree.first >= tree.first[top]) & (tree.stop <= tree.stop[top])
    within[:top] = False  # those on the way to a node may span no more than it
    within &= (value > 0) & (value >= value[top] / width)
    within[top] = True
    nodes = np.flatnonzero(within)
    # A node weighs at least as much as those below it, and comes before them.
    order: IntArray = np.argsort(-value[nodes], kind="stable")
    return nodes[order][:_MOST_NODES]


def _nodes(
    tree: Calls, sums: Totals, found: Totals | None, shown: IntArray, names: Names
) -> dict[str, list[Any]]:
    """Columns of the nodes ``shown`` and of what is merged below them, each after its parent.

    Of those below one node the largest comes first, what is merged last.
    """
    below: dict[int, list[int]] = {node: [] for node in shown.tolist()}
    for node in shown[1:].tolist():
        below[int(tree.parent[node])].append(node)
    weighing = tree.parent[1:][sums.value[1:] > 0]
    children = np.bincount(weighing, minlength=len(tree.parent)).tolist()
    rows: list[tuple[Any, ...]] = []
    waiting = [(int(shown[0]), -1)]  # a node, or ~node for what is merged below it
    while waiting:
        node, parent = waiting.pop()
        if node < 0:
            kept = below[~node]
            rest = [_rest(sums.value, sums.own, ~node, kept)]
            rest.append(_rest(sums.count, sums.own_count, ~node, kept))
            rest.append(0 if found is None else _rest(found.value, found.own, ~node, kept))
            rows.append((parent, names.of_smaller(children[~node] - len(kept)), None, *rest))
            continue
        if children[node] > len(below[node]):
            waiting.append((~node, len(rows)))
        waiting.extend((child, len(rows)) for child in reversed(below[node]))
        hit = 0 if found is None else int(found.value[node])
        whole = (int(sums.value[node]), int(sums.count[node]))
        rows.append((parent, names.of_node(node), _key(tree, node), *whole, hit))
    columns = ["parent", "frame", "key", "value", "count", "hit"]
    if found is None:
        columns.pop()
    return {name: [row[place] for row in rows] for place, name in enumerate(columns)}


def _rest(whole: IntArray, own: IntArray, node: int, kept: list[int]) -> int:
    """What is below ``node`` and not in the nodes ``kept``."""
    return int(whole[node]) - int(own[node]) - sum(int(whole[child]) for child in kept)
