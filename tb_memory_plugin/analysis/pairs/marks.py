"""Marks of one recording that the other does not have, as its own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairs.clock import Clock
from tb_memory_plugin.analysis.pairs.texts import moved, texts
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.recording import Recording

#: ns by which both may be apart in when they mark the same.
_APART = 10_000_000


def joined(
    ours: Recording, theirs: Recording, devices: IntArray, clock: Clock, later: int = 0
) -> pa.Table:
    """Marks of ours and, by our clock and after which of our events, what only theirs has.

    What they have by ``clock`` comes ``later`` ns later.
    """
    own, other = ours.table("marks"), theirs.table("marks")
    if not other.num_rows:
        return own
    device = moved(devices, arrays.values(other, "device"))
    timed = arrays.valid(other, "time")
    time = clock.at(arrays.values(other, "time"))
    kinds, words = (arrays.words(table, "kind") for table in (own, other))
    marked: dict[tuple[str, int], IntArray] = {}
    new = timed & ((device >= 0) | (arrays.values(other, "device") < 0))
    for place in np.flatnonzero(new).tolist():
        kind = words[arrays.values(other, "kind")[place]] if words else ""
        key = (kind, int(device[place]))
        if key not in marked:
            marked[key] = _times(ours, kinds, *key)
        new[place] = not (np.abs(marked[key] - time[place]) <= _APART).any()
    rows = np.flatnonzero(new)
    time = time + later
    event = np.full(len(rows), -1, dtype=np.int64)
    for each in ours.devices:
        here = device[rows] == each.index
        times = np.maximum.accumulate(ours.values("events", "time", each))
        event[here] = np.searchsorted(times, time[rows[here]], side="right") - 1
    columns: dict[str, object] = {
        "device": _both(own, "device", device[rows]),
        "event": _both(own, "event", event, device[rows] < 0),
        "time": _both(own, "time", time[rows], np.zeros(len(rows), dtype=bool)),
    }
    for name in ("kind", "text", "values"):
        parts = ((own, slice(None)), (other, rows))
        columns[name] = texts(
            *((arrays.words(table, name), arrays.values(table, name)[at]) for table, at in parts)
        )
    return builder.table("marks", columns)


def _times(ours: Recording, kinds: list[str], kind: str, device: int) -> IntArray:
    table = ours.table("marks")
    code = kinds.index(kind) if kind in kinds else -2
    same = arrays.values(table, "kind") == code
    same &= (arrays.values(table, "device") == device) | (device < 0)
    found: IntArray = arrays.values(table, "time")[same & arrays.valid(table, "time")]
    return found


def _both(
    own: pa.Table, name: str, more: IntArray, missing: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    mask = more < 0 if missing is None else missing
    values = np.concatenate([arrays.values(own, name), more])
    return values, np.concatenate([~arrays.valid(own, name), mask])
