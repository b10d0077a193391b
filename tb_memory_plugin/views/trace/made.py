"""An allocation beside what the program did: who made and freed it, and what used it last."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray, sum_by
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.trace.around import around
from tb_memory_plugin.analysis.trace.inside import ancestors
from tb_memory_plugin.analysis.trace.links import led_to
from tb_memory_plugin.analysis.trace.sums import Choice, chosen
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.views.trace.spans import one

#: Names that are told of what ran between the last known use and the free.
MOST_BETWEEN = 50
#: From how many spans links are followed, and how often on from what they lead to.
_FARTHEST = 2
_MOST_FOLLOWED = 1000


def made(recording: Recording, device: Device, row: int) -> dict[str, Any]:
    """What the answer of ``GET allocation`` says of spans; ``row`` is of the device's allocations.

    ``last_use`` is the last span that is known to have had the memory: the outermost operator
    around its birth, or what that, or what is inside of it, led to before the free (a kernel that
    it launched, its backward). ``between`` are the spans that began after that one's end and
    before the free, by name, those that took longest first.
    """
    birth, death = (
        int(recording.values("allocations", name, device)[row]) for name in ("birth", "death")
    )
    at = around(recording, device)
    maker = int(at[birth]) if birth >= 0 and len(at) else -1
    freer = int(at[death]) if death != AFTER and len(at) else -1
    times = event_times(recording, device)
    freed = int(times[death]) if times is not None and death != AFTER else None
    used, why = _last_use(recording, maker, freed)
    return {
        "made_in": one(recording, maker),
        "freed_in": one(recording, freer),
        "last_use": None if used < 0 else {"span": one(recording, used), "why": why},
        "between": None if used < 0 or freed is None else _between(recording, used, freed),
    }


def _last_use(recording: Recording, maker: int, freed: int | None) -> tuple[int, str]:
    """The span that is known to have used it last, and how that is known."""
    if maker < 0:
        return -1, ""
    begin, end = (recording.values("spans", name) for name in ("begin", "end"))
    whole = _outermost_op(recording, maker)
    best, why = whole, "made"
    reached = np.array([whole])
    for _ in range(_FARTHEST):
        target, kind = led_to(recording, reached[:_MOST_FOLLOWED])
        if freed is not None:
            target, kind = target[begin[target] < freed], kind[begin[target] < freed]
        ended = np.flatnonzero(end[target] != AFTER)
        if len(ended):
            last = ended[np.argmax(end[target[ended]])]
            if end[target[last]] > end[best]:
                best = int(target[last])
                why = arrays.words(recording.table("links"), "kind")[int(kind[last])]
        reached = arrays.distinct(target)
    return best, why


def _outermost_op(recording: Recording, span: int) -> int:
    """The outermost operator around a span or itself; the span where there is none."""
    kinds = arrays.words(recording.table("spans"), "kind")
    kind = recording.values("spans", "kind")
    ops = [one for one in (*ancestors(recording, span), span) if kinds[int(kind[one])] == "op"]
    return ops[0] if ops else span


def _between(recording: Recording, used: int, freed: int) -> dict[str, Any] | None:
    end = int(recording.values("spans", "end")[used])
    if end >= freed:
        return None
    rows = np.concatenate([np.zeros(0, np.int32), *chosen(recording, Choice("", end, freed))])
    kind, name = (recording.values("spans", column)[rows] for column in ("kind", "name"))
    last = np.minimum(recording.values("spans", "end")[rows], freed)
    lasts = last - recording.values("spans", "begin")[rows]
    keys = (kind.astype(np.int64) + 1) * (int(name.max(initial=-1)) + 2) + name + 1
    distinct = arrays.distinct(keys)
    group = np.searchsorted(distinct, keys)
    time = sum_by(group, lasts, len(distinct))
    calls = np.bincount(group, minlength=len(distinct))
    head: IntArray = np.zeros(len(distinct), dtype=np.int64)
    head[group[::-1]] = rows[::-1]
    order = np.argsort(-time, kind="stable")[:MOST_BETWEEN]
    words = (
        recording.table("spans")
        .select(["kind", "name"])
        .take(arrays.column(head[order], pa.int64()))
    )
    kinds, names = (arrays.all_words(words, column) for column in ("kind", "name"))
    return {
        "begin": end,
        "end": freed,
        "found": len(distinct),
        "calls": len(rows),
        "rows": [
            {
                "kind": kinds[at],
                "name": names[at] or "",
                "calls": int(calls[place]),
                "time": int(time[place]),
            }
            for at, place in enumerate(order.tolist())
        ],
    }
