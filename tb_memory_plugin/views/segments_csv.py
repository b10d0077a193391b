"""The allocator's state, or the list of events, made into CSV, whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tb_memory_plugin.analysis.event_list import event_list
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import events
from tb_memory_plugin.views.csv import pieces
from tb_memory_plugin.views.segments_whole import whole

#: Events that one file may hold: more of them are for a table of columns, not for a spreadsheet.
MOST_EVENTS = 200_000
_EVENT_COLUMNS = (
    "event",
    "time",
    "action",
    "address",
    "size",
    "stream",
    "pool",
    "label",
    "allocation",
    "compile_context",
    "user_metadata",
)
_STATE_COLUMNS = (
    "pool",
    "segment",
    "segment_size",
    "offset",
    "size",
    "state",
    "requested",
    "rounding_inferred",
    "allocation",
)


def state(recording: Recording, device: Device, at: str) -> Iterator[str]:
    """Every block and every hole of every segment, in order, a piece of text at a time.

    Raises QueryError before the first piece.
    """
    found = whole(recording, device, at)
    labels = {pool["key"]: pool["label"] for pool in found["pools"]}

    def rows(segment: dict[str, Any]) -> list[dict[str, Any]]:
        of = {
            "pool": labels[segment["key"]],
            "segment": segment["address"],
            "segment_size": segment["size"],
        }
        none = dict.fromkeys(("requested", "rounding_inferred", "allocation"))
        holes = [{**of, **none, **hole, "state": "free"} for hole in segment["holes"]]
        parts = [{**of, **block} for block in segment["blocks"]] + holes
        return sorted(parts, key=lambda part: int(part["offset"]))

    return pieces(_STATE_COLUMNS, map(rows, found["segments"]))


def listed(recording: Recording, device: Device, filter: str) -> Iterator[str]:
    """The events that pass ``filter``. Raises QueryError, for too many of them too."""
    found = event_list(recording, device, filter)
    if found.count > MOST_EVENTS:
        raise QueryError(
            f"{found.count} events pass, more than the {MOST_EVENTS} that one file may hold; "
            "narrow the filter down, or take all tables with tb-memory export."
        )
    parts = (
        events.rows(recording, device, found.ordinals(begin, events.MOST))
        for begin in range(0, found.count, events.MOST)
    )
    return pieces(_EVENT_COLUMNS, parts)
