"""The allocator's state, or the list of events, made into CSV, whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.event_list import event_list
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.segment_state import SegmentState, segment_state
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import events
from tb_memory_plugin.views.csv import pieces
from tb_memory_plugin.views.segments_groups import groups_of
from tb_memory_plugin.views.words import hexadecimal

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
_NOTHING: dict[str, Any] = {
    "state": "free",
    **dict.fromkeys(("requested", "rounding_inferred", "allocation")),
}
#: Blocks and holes that are made into text together.
_AT_ONCE = 5000


def state(recording: Recording, device: Device, at: str) -> Iterator[str]:
    """Every block and every hole of every segment, in order, a piece of text at a time.

    Raises QueryError before the first piece.
    """
    found = segment_state(recording, device, resolve(recording, device, at).event)
    blocks, holes = found.blocks, found.holes
    segment = np.concatenate([blocks.segment, holes.segment])
    order = np.lexsort((np.concatenate([blocks.offset, holes.offset]), segment))
    groups, group = groups_of(recording, found)
    labels = [each["label"] for each in groups]
    parts = (
        _parts(found, labels, group, order[begin : begin + _AT_ONCE])
        for begin in range(0, len(order), _AT_ONCE)
    )
    return pieces(_STATE_COLUMNS, parts)


def _parts(
    state: SegmentState, labels: list[str], group: IntArray, which: IntArray
) -> list[dict[str, Any]]:
    """Rows of the blocks ``which``, and of the holes, which are numbered after them."""
    segments, blocks, holes = state.segments, state.blocks, state.holes
    rows = []
    for place in which.tolist():
        number = place - len(blocks.size)
        of, at = (blocks, place) if number < 0 else (holes, number)
        segment = int(of.segment[at])
        row = {
            "pool": labels[group[segment]],
            "segment": hexadecimal(int(segments.address[segment])),
            "segment_size": int(segments.size[segment]),
            "offset": int(of.offset[at]),
            "size": int(of.size[at]),
            **_NOTHING,
        }
        if number < 0:
            row["state"] = "pending" if blocks.pending[at] else "allocated"
            row["requested"] = int(blocks.requested[at])
            row["rounding_inferred"] = bool(blocks.inferred[at])
            row["allocation"] = str(blocks.allocation[at])
        rows.append(row)
    return rows


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
