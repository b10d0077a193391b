"""A tree of calls, made into as many nodes as a screen can show, each of them exact."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.flame_groups import common_bands
from tb_memory_plugin.analysis.flame_nodes import Named, Nodes, named, node_of, way_to, widest
from tb_memory_plugin.analysis.flame_rows import rows_of
from tb_memory_plugin.analysis.flame_tree import Calls, Totals, calls, totals
from tb_memory_plugin.analysis.ranking import TOP, describe
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.flame_columns import columns_of, digits
from tb_memory_plugin.views.flame_frames import Names
from tb_memory_plugin.views.weighed import described, picked_rows

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
    by: str = "",
    pattern: str = "",
    top: int = TOP,
    group: str = "",
    bands: bool = False,
) -> dict[str, Any]:
    """The answer of ``GET flame`` (docs/architecture.md has its columns). Raises QueryError.

    ``root`` is the key of the node to look into; what is narrower than a pixel of ``width`` of
    it is merged, below each node, into one. With ``group``, the key of one by ``by``, nodes tell
    how much of them is of it; with ``bands`` they have the band of the group that all they weigh
    is of, among the ``top`` of ``usage``.
    """
    seen = window(recording, device, axis, begin, end)
    wanted = filters.mask(recording, device, filter)
    weighed = weights(recording, device, of, seen, at, wanted)
    tree = calls(recording, inverted=inverted, folded=folded)
    sums = totals(tree, weighed)

    def part(some: IntArray | None) -> Totals | None:
        if some is None:
            return None
        both = some if wanted is None else some & wanted
        return totals(tree, weights(recording, device, of, seen, at, both))

    grouping = (by, pattern, top)
    found = part(filters.mask(recording, device, find))
    picked = part(picked_rows(recording, device, *grouping, group))
    amounts = {"hit": found, "picked": picked}
    first = _node(recording, tree, root)
    names = Names(recording, find)
    way = way_to(tree, *first)
    steps = _steps(sums, names, way, named(recording, tree, way))
    shown, parent = widest(tree, sums.near, first, width, _MOST_NODES)
    band = None
    if bands:
        _, parts = rows_of(recording, device, of, seen, at, wanted)
        band = common_bands(recording, device, tree, grouping, parts)
    told = named(recording, tree, shown)
    nodes = columns_of(tree, sums, amounts, band, shown, parent, names, told)
    return {
        **described(recording, device, of, seen, weighed),
        "found": None
        if found is None
        else {"value": int(found.value[0]), "count": int(found.count[0])},
        **({} if band is None else _grouped(recording, device, *grouping)),
        "way": steps,
        "nodes": nodes,
        "frames": names.columns(),
    }


def _grouped(
    recording: Recording, device: Device, by: str, pattern: str, top: int
) -> dict[str, Any]:
    return {"by": by, "groups": describe(recording, device, by, pattern, top)}


def _node(recording: Recording, tree: Calls, root: str) -> tuple[int, int]:
    found = node_of(recording, tree, root) if root else (0, 0)
    if found is None:
        raise QueryError("There is no such frame in this graph (any more).")
    return found


def _steps(sums: Totals, names: Names, way: Nodes, told: Named) -> list[dict[str, Any]]:
    columns = (
        names.of_nodes(told),
        digits(told.key),
        sums.value[way.stretch].tolist(),
        sums.count[way.stretch].tolist(),
    )
    return [
        dict(zip(("frame", "key", "value", "count"), row, strict=True))
        for row in zip(*columns, strict=True)
    ]
