"""A tree of calls, made into as many nodes as a screen can show, each of them exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.flame_nodes import Named, Nodes, named, node_of, way_to, widest
from tb_memory_plugin.analysis.flame_tree import Calls, Totals, calls, totals
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
    top = _node(recording, tree, root)
    names = Names(recording, find)
    way = way_to(tree, *top)
    steps = _steps(sums, names, way, named(recording, tree, way))
    shown, parent = widest(tree, sums.near, top, width, _MOST_NODES)
    nodes = _nodes(tree, (sums, found), shown, parent, names, named(recording, tree, shown))
    return {
        **described(recording, device, of, seen, weighed),
        "found": None
        if found is None
        else {"value": int(found.value[0]), "count": int(found.count[0])},
        "way": steps,
        "nodes": nodes,
        "frames": names.columns(),
    }


def _node(recording: Recording, tree: Calls, root: str) -> tuple[int, int]:
    found = node_of(recording, tree, root) if root else (0, 0)
    if found is None:
        raise QueryError("There is no such frame in this graph (any more).")
    return found


def _steps(sums: Totals, names: Names, way: Nodes, told: Named) -> list[dict[str, Any]]:
    columns = (
        names.of_nodes(told),
        _digits(told.key),
        sums.value[way.stretch].tolist(),
        sums.count[way.stretch].tolist(),
    )
    return [
        dict(zip(("frame", "key", "value", "count"), row, strict=True))
        for row in zip(*columns, strict=True)
    ]


def _digits(keys: IntArray) -> list[str]:
    digits = keys.astype(">u8").tobytes().hex()
    return [digits[begin : begin + 16] for begin in range(0, len(digits), 16)]


def _nodes(
    tree: Calls,
    weights: tuple[Totals, Totals | None],
    shown: Nodes,
    parent: IntArray,
    names: Names,
    told: Named,
) -> dict[str, list[Any]]:
    """Columns of the nodes ``shown`` and of what is merged below them, each after its parent.

    Of those below one node the largest comes first, what is merged last.
    """
    sums, found = weights
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
        "key": column(_digits(told.key), None, object),
    }
    amounts = [("value", sums.value, sums.own), ("count", sums.count, sums.own_count)]
    if found is not None:
        amounts.append(("hit", found.value, found.own))
    for name, value, own in amounts:
        whole = value[stretch]
        inner = whole - np.where(last, own[stretch], 0)
        np.subtract.at(inner, above, whole[1:])
        columns[name] = column(whole, inner[merging], whole.dtype)
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
