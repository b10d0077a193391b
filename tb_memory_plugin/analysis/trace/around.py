"""In which span every event of memory happened."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.nesting import innermost
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.aside import set_aside
from tb_memory_plugin.recording.recording import Device, Recording

#: Kinds of what runs on a device by itself: nothing is allocated in it.
ON_DEVICES = {"kernel", "copy", "hlo_module"}


def says_threads(recording: Recording) -> bool:
    """Whether events say in which span of their own thread they happened."""
    return bool((recording.values("events", "span") >= 0).any())


def around(recording: Recording, device: Device | None = None) -> IntArray:
    """Of every event (of one device) the row of the innermost span around it, -1 for none.

    Of its own thread where events say theirs, else of any at that time.
    """
    derived = recording.table("event_spans").num_rows
    return recording.values("event_spans" if derived else "events", "span", device)


def event_spans(recording: Recording) -> dict[str, pa.Table]:
    """The table ``event_spans``, where events do not say their spans and there are any."""
    table = recording.table("spans")
    if not table.num_rows or says_threads(recording):
        return {}
    kinds = arrays.words(table, "kind")
    on_host = np.array([kind not in ON_DEVICES for kind in kinds], dtype=bool)
    shown = np.append(on_host, False)[recording.values("spans", "kind")]
    begin, end, of = (recording.values("spans", name) for name in ("begin", "end", "device"))
    timed = arrays.valid(recording.table("events"), "time")
    found = np.full(len(timed), -1, dtype=np.int32)
    for device in recording.devices:
        rows = np.flatnonzero(shown & ((of == device.index) | (of < 0)))
        events = recording.rows("events", device)
        own = events.start + np.flatnonzero(timed[events])
        at = innermost(begin[rows], end[rows], recording.values("events", "time")[own])
        found[own[at >= 0]] = rows[at[at >= 0]]
    devices = recording.values("events", "device")
    columns = {"device": devices, "span": (found, found < 0)}
    return {"event_spans": set_aside(builder.table("event_spans", columns))}
