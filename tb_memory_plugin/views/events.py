"""Any part of the list of all events of a device, made into rows of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.alive import addresses_known
from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.event_allocations import allocations_of
from tb_memory_plugin.analysis.event_list import event_list
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import frame_labels, named_by
from tb_memory_plugin.analysis.places import pool_label, stream_label
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.views.words import allocation_rows, hexadecimal

LIMIT = 100
MOST = 1_000
#: Rows of an answer for the page that also says all that is known about each.
MOST_ABOUT = 200
#: Characters of a program's own text that an answer for the page holds.
LONGEST = 300
_ACTIONS = {int(action): action.name.lower() for action in Action}
_ABOUT = (
    "requested",
    "size",
    "name",
    "category",
    "op",
    "module",
    "region",
    "dtype",
    "shape",
)
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
    details: bool = False,
) -> dict[str, Any]:
    """The answer of ``GET events``: rows ``offset`` … of those events that pass ``filter``.

    ``near`` asks beside it for the row of an event in that list: how many before it pass, and
    whether it passes itself. Texts of the program's own are cut to ``longest`` characters. With
    ``details`` every row has ``about`` too, see :func:`about`. Raises QueryError.
    """
    listed = event_list(recording, device, filter)
    ordinals = listed.ordinals(max(offset, 0), max(0, min(limit, MOST)))
    found = rows(recording, device, ordinals)
    if details:
        for one, told in zip(found, about(recording, device, found), strict=True):
            one["about"] = told
    answer: dict[str, Any] = {
        "device": device.key,
        "events": listed.events,
        "count": listed.count,
        "offset": offset,
        "rows": [_cut(row, longest) for row in found],
    }
    if near is not None:
        row = listed.row(near)
        at = listed.ordinals(row, 1).tolist()
        answer["near"] = {"event": near, "row": row, "passes": at == [near]}
    return answer


def about(
    recording: Recording, device: Device, of: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What is known about each of some :func:`rows`: of its allocation, and of the moment.

    ``requested`` and ``size`` bytes, ``name``, ``category``, ``op``, ``module``, ``region``,
    ``dtype`` and ``shape`` of the allocation that it is about, ``step``: the one that was running,
    or that the event says it is of, or, of a birth, the allocation's; ``allocated`` and
    ``reserved`` on the device after it.
    """
    events = np.array([row["event"] for row in of], dtype=np.int64)
    ids = [int(row["allocation"]) for row in of if row["allocation"] is not None]
    known = dict(zip(ids, allocation_rows(recording, np.array(ids, dtype=np.int64)), strict=True))
    moved = recording.values("usage", "event", device)
    places = np.searchsorted(moved, events, side="right") - 1
    steps = _steps(recording, device, of)
    start = recording.rows("usage", device).start
    taken = arrays.column(places + start, pa.int64())
    usage = recording.table("usage").select(["allocated", "reserved"]).take(taken).to_pydict()
    return [
        {
            **{name: one.get(name) for name in _ABOUT},
            "step": one.get("step") if running is None and row["action"] == "alloc" else running,
            "allocated": usage["allocated"][place],
            "reserved": usage["reserved"][place],
        }
        for place, (row, running) in enumerate(zip(of, steps, strict=True))
        for one in [{} if row["allocation"] is None else known[int(row["allocation"])]]
    ]


def _steps(
    recording: Recording, device: Device, of: Sequence[Mapping[str, Any]]
) -> list[int | None]:
    """The number of the step that was running at each of some events, or that it says it is of."""
    times = np.array([-1 if row["time"] is None else row["time"] for row in of], dtype=np.int64)
    spans = spans_of_kind(recording, "step", device).at(times)
    running = np.append(recording.values("spans", "step"), -1)[spans]
    untimed = np.array([row["time"] is None for row in of], dtype=bool)
    events = np.array([row["event"] for row in of], dtype=np.int64)
    said = recording.values("events", "step", device)[events]
    numbers = np.where(untimed | (running < 0), said, running)
    return [None if number < 0 else number for number in numbers.tolist()]


def rows(recording: Recording, device: Device, ordinals: IntArray) -> list[dict[str, Any]]:
    """Events of a device in words, by their ordinals."""
    start = recording.rows("events", device).start
    places = arrays.column(ordinals + start, pa.int64())
    table = recording.table("events").select([*_COLUMNS, "user_metadata"]).take(places)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    allocation = allocations_of(recording, device, ordinals).tolist()
    label = _labels(recording, recording.values("events", "stack", device)[ordinals])
    ops = _operators(recording, allocation)
    pools, placed = recording.meta["pools"], addresses_known(recording)
    return [
        {
            "event": event,
            "time": columns["time"][place],
            "action": _ACTIONS.get(columns["action"][place], "unknown"),
            "address": hexadecimal(columns["address"][place]) if placed else None,
            "size": columns["size"][place],
            "stream": _stream(columns["stream"][place]),
            "pool": _pool(pools, columns["pool"][place]),
            "label": label[place] or ops[place],
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


def _operators(recording: Recording, allocations: Sequence[int]) -> list[str | None]:
    """The operators of allocations, -1 for none: what events without a stack are called by."""
    codes = recording.values("allocations", "op")
    known = np.array(allocations, dtype=np.int64)
    rows = np.maximum(known, 0)
    if not len(codes):
        return [None] * len(rows)
    words = arrays.words_of(recording.table("allocations"), "op", rows)
    return [word if at >= 0 else None for word, at in zip(words, known.tolist(), strict=True)]


def _stream(stream: int | None) -> str | None:
    return None if stream is None else stream_label(stream)


def _pool(pools: Any, pool: int | None) -> str | None:
    return None if pool is None else pool_label((pools[pool][0], pools[pool][1]))
