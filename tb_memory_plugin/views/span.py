"""One step, module or annotation, made into what memory did while it lasted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame_rows import highest
from tb_memory_plugin.analysis.hlo_modules import hlo_modules
from tb_memory_plugin.analysis.instants import event_times, resolve, step_at
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

_NONE = np.iinfo(np.int64)


def card(recording: Recording, device: Device, id: str) -> dict[str, Any]:
    """The answer of ``GET span``. Raises QueryError for what is none of a device.

    ``first`` … ``stop`` - 1 are the events within it. Allocated ``before`` it is after the last
    event before it, ``after`` it after its last one; its peak is the first moment at which
    allocated is highest in it, what was carried into it included.
    """
    row = _row(recording, device, id)
    times = event_times(recording, device)
    if times is None:
        raise QueryError(f"The events of {device.name} have no time stamps to place a span by.")
    table = recording.table("spans")
    begin, end = (int(arrays.values(table, name)[row]) for name in ("begin", "end"))
    is_begun, is_ended = begin != _NONE.min, end != _NONE.max
    first = int(np.searchsorted(times, begin)) if is_begun else 0
    stop = max(int(np.searchsorted(times, end)) if is_ended else len(times), first)
    window = EventWindow(first, stop, carried=True, begin=begin, end=end, timed=True)
    birth = recording.values("allocations", "birth", device)
    born = slice(*np.searchsorted(birth, (first, stop)).tolist())
    amount = bytes_of(recording, device)[born]
    kept = recording.values("allocations", "death", device)[born] >= stop
    values = {name: table.column(name)[row].as_py() for name in ("name", "kind", "track", "step")}
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
        "born": _sum(amount),
        "kept": _sum(amount[kept]),
    }


def _row(recording: Recording, device: Device, id: str) -> int:
    row = int(id) if id.isascii() and id.isdigit() and len(id) < 12 else -1
    shown = [spans_of_kind(recording, kind, device) for kind in ("step", "annotation")]
    shown.append(hlo_modules(recording, device)[0])
    if not any(row in spans.rows for spans in shown):
        raise QueryError(f"There is no step, annotation or HLO module {id!r} on {device.name}.")
    return row


def _moment(recording: Recording, device: Device, event: int) -> dict[str, Any]:
    instant = resolve(recording, device, f"event:{event}")
    allocated = recording.values("usage", "allocated", device)[instant.row]
    return {"event": event, "time": instant.time, "allocated": int(allocated)}


def _sum(amount: IntArray) -> dict[str, int]:
    return {"count": len(amount), "bytes": exact.total(amount)}
