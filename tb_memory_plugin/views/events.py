"""Any part of the list of all events of a device, made into rows of words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.event_allocations import allocations_of
from tb_memory_plugin.analysis.event_list import event_list
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import frame_labels, named_by
from tb_memory_plugin.analysis.places import pool_label, stream_label
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.views.words import hexadecimal

LIMIT = 100
MOST = 1_000
#: Characters of a program's own text that an answer for the page holds.
LONGEST = 300
_ACTIONS = {int(action): action.name.lower() for action in Action}
_COLUMNS = ("time", "action", "address", "size", "stream", "pool", "compile_context")


def page(
    recording: Recording,
    device: Device,
    *,
    filter: str = "",
    offset: int = 0,
    limit: int = LIMIT,
    near: int | None = None,
    longest: int | None = None,
) -> dict[str, Any]:
    """The answer of ``GET events``: rows ``offset`` … of those events that pass ``filter``.

    ``near`` asks beside it for the row of an event in that list: how many before it pass, and
    whether it passes itself. Texts of the program's own are cut to ``longest`` characters. Raises
    QueryError.
    """
    listed = event_list(recording, device, filter)
    ordinals = listed.ordinals(max(offset, 0), max(0, min(limit, MOST)))
    answer: dict[str, Any] = {
        "device": device.key,
        "events": listed.events,
        "count": listed.count,
        "offset": offset,
        "rows": [_cut(row, longest) for row in rows(recording, device, ordinals)],
    }
    if near is not None:
        row = listed.row(near)
        at = listed.ordinals(row, 1).tolist()
        answer["near"] = {"event": near, "row": row, "passes": at == [near]}
    return answer


def rows(recording: Recording, device: Device, ordinals: IntArray) -> list[dict[str, Any]]:
    """Events of a device in words, by their ordinals."""
    start = recording.rows("events", device).start
    places = arrays.column(ordinals + start, pa.int64())
    table = recording.table("events").select([*_COLUMNS, "user_metadata"]).take(places)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    allocation = allocations_of(recording, device, ordinals).tolist()
    label = _labels(recording, recording.values("events", "stack", device)[ordinals])
    pools = recording.meta["pools"]
    return [
        {
            "event": event,
            "time": columns["time"][place],
            "action": _ACTIONS.get(columns["action"][place], "unknown"),
            "address": hexadecimal(columns["address"][place]),
            "size": columns["size"][place],
            "stream": _stream(columns["stream"][place]),
            "pool": _pool(pools, columns["pool"][place]),
            "label": label[place],
            "allocation": None if allocation[place] < 0 else str(allocation[place]),
            "compile_context": columns["compile_context"][place],
            "user_metadata": columns["user_metadata"][place],
        }
        for place, event in enumerate(ordinals.tolist())
    ]


def _cut(row: dict[str, Any], longest: int | None) -> dict[str, Any]:
    for name in ("compile_context", "user_metadata"):
        if longest is not None and len(row[name] or "") > longest:
            row[name] = f"{row[name][:longest]}…"
    return row


def _labels(recording: Recording, stacks: IntArray) -> list[str | None]:
    """How each stack is called, None where an event has none."""
    frames = np.append(named_by(recording), -1)[stacks].tolist()
    labels = frame_labels(recording, set(frames))
    return [labels.get(frame) for frame in frames]


def _stream(stream: int | None) -> str | None:
    return None if stream is None else stream_label(stream)


def _pool(pools: Any, pool: int | None) -> str | None:
    return None if pool is None else pool_label((pools[pool][0], pools[pool][1]))
