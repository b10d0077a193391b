"""One span, made into what memory did while it lasted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame_rows import highest
from tb_memory_plugin.analysis.instants import event_times, resolve, step_at
from tb_memory_plugin.analysis.trace.inside import events_inside
from tb_memory_plugin.analysis.trace.memory import BY_TIME, memory_of
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.trace.card import place
from tb_memory_plugin.views.trace.spans import row_of
from tb_memory_plugin.views.words import allocation_rows

_NONE = np.iinfo(np.int64)
#: Allocations that are named of those that it left alive.
_MOST_KEPT = 20


def card(recording: Recording, device: Device, id: str) -> dict[str, Any]:
    """The answer of ``GET span``. Raises QueryError for what is none.

    ``first`` … ``stop`` - 1 are the events within it. Allocated ``before`` it is after the last
    event before it, ``after`` it after its last one; its peak is the first moment at which
    allocated is highest in it, what was carried into it included. What was born and freed in it is
    what its own thread did (``on_thread``), or, of steps, annotations and HLO modules, what all
    did meanwhile.
    """
    row = row_of(recording, id)
    times = event_times(recording, device)
    if times is None:
        raise QueryError(f"The events of {device.name} have no time stamps to place a span by.")
    table = recording.table("spans")
    begin, end = (int(arrays.values(table, name)[row]) for name in ("begin", "end"))
    is_begun, is_ended = begin != _NONE.min, end != _NONE.max
    first = int(np.searchsorted(times, begin)) if is_begun else 0
    stop = max(int(np.searchsorted(times, end)) if is_ended else len(times), first)
    window = EventWindow(first, stop, carried=True, begin=begin, end=end, timed=True)
    values = {name: table.column(name)[row].as_py() for name in ("name", "kind", "track", "step")}
    birth = recording.values("allocations", "birth", device)
    born = np.arange(*np.searchsorted(birth, (first, stop)).tolist())
    on_thread = values["kind"] not in BY_TIME
    if on_thread:
        inside = events_inside(recording, device, row, first, stop)
        born = born[inside[birth[born] - first]]
    amount = bytes_of(recording, device)[born]
    is_kept = recording.values("allocations", "death", device)[born] >= stop
    (frees,), (freed,) = (
        memory_of(recording, device, np.array([row]))[name] for name in ("frees", "freed")
    )
    running = step_at(recording, device, begin) if is_begun else None
    return {
        **values,
        "id": str(row),
        "device": device.key,
        "step": running if values["step"] is None else values["step"],
        "begin": begin if is_begun else None,
        "end": end if is_ended else None,
        "first": first,
        "stop": stop,
        "before": _moment(recording, device, first - 1),
        "after": _moment(recording, device, stop - 1),
        "peak": _moment(recording, device, highest(recording, device, window)),
        "on_thread": on_thread,
        "born": _sum(amount),
        "freed": {"count": int(frees), "bytes": int(freed)},
        "kept": _sum(amount[is_kept]),
        "left": _largest(recording, device, born[is_kept]),
        **place(recording, device, row),
    }


def _largest(recording: Recording, device: Device, rows: IntArray) -> list[dict[str, Any]]:
    """The largest of some allocations."""
    amount = bytes_of(recording, device)[rows]
    chosen = rows[np.argsort(-amount, kind="stable")[:_MOST_KEPT]]
    return allocation_rows(recording, chosen + recording.rows("allocations", device).start)


def _moment(recording: Recording, device: Device, event: int) -> dict[str, Any]:
    instant = resolve(recording, device, f"event:{event}")
    allocated = recording.values("usage", "allocated", device)[instant.row]
    return {"event": event, "time": instant.time, "allocated": int(allocated)}


def _sum(amount: IntArray) -> dict[str, int]:
    return {"count": len(amount), "bytes": exact.total(amount)}
