"""A span beside what memory did in it: what is around and below it, and what it leads to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.trace.inside import ancestors, children
from tb_memory_plugin.analysis.trace.links import links_of
from tb_memory_plugin.analysis.trace.memory import memory_of
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.trace.spans import one, spans

#: Of each an answer has so many at most.
MOST_CHILDREN = 200
MOST_INSIDE = 200
MOST_LINKS = 200


def place(recording: Recording, device: Device, row: int) -> dict[str, Any]:
    """What the answer of ``GET span`` has beside what memory did.

    ``inside`` are the spans around it, the outermost first; ``below`` those right below it, by
    kind and name; ``links`` what led to it and what it led to.
    """
    around = ancestors(recording, row)
    linked = links_of(recording, row)
    to = [link.span for link in linked[:MOST_LINKS]]
    others = spans(recording, np.array(to, dtype=np.int64))
    return {
        "place": one(recording, row),
        "args": _arguments(recording, row),
        "inside": spans(recording, np.array(around[-MOST_INSIDE:], dtype=np.int64)),
        "below": _below(recording, device, children(recording, row)),
        "links": [
            {"kind": link.kind, "way": link.way, "span": span}
            for link, span in zip(linked, others, strict=False)
        ],
        "hidden_links": max(len(linked) - MOST_LINKS, 0),
    }


def _arguments(recording: Recording, row: int) -> dict[str, Any]:
    text = recording.table("spans").column("args")[row].as_py()
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _below(recording: Recording, device: Device, rows: IntArray) -> dict[str, Any]:
    """Spans summed up by kind and name: calls, how long, and their memory, the most first."""
    kind, name = (recording.values("spans", column)[rows] for column in ("kind", "name"))
    words = max(len(arrays.dictionary(recording.table("spans"), "name")), 1)
    key = (kind.astype(np.int64) + 1) * (words + 1) + name + 1
    keys = arrays.distinct(key)
    group = np.searchsorted(keys, key)
    memory = memory_of(recording, device, rows)
    place = recording.values("span_places", "place")[rows]
    begin, end = (recording.values("span_order", column)[place] for column in ("begin", "end"))
    sums = {
        column: exact.sum_by(group, values, len(keys))
        for column, values in (
            ("time", end - begin),
            ("allocated", memory["allocated"]),
            ("freed", memory["freed"]),
        )
    }
    calls = np.bincount(group, minlength=len(keys))
    order = np.lexsort((-calls, -sums["time"], -sums["allocated"]))[:MOST_CHILDREN]
    _, first = np.unique(group, return_index=True) if len(group) else (None, group)
    labels = spans(recording, rows[first[order]])
    return {
        "found": len(keys),
        "calls": len(rows),
        "rows": [
            {
                "kind": label["kind"],
                "name": label["name"],
                "calls": int(calls[at]),
                **{column: int(values[at]) for column, values in sums.items()},
            }
            for at, label in zip(order.tolist(), labels, strict=True)
        ],
    }
