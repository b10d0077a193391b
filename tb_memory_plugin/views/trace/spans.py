"""Spans as the page takes them: what each is, and where it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


def row_of(recording: Recording, id: str) -> int:
    """The row of ``spans`` that an ``id`` is of. Raises QueryError where there is none."""
    row = int(id) if id.isascii() and id.isdigit() and len(id) < 12 else -1
    if not 0 <= row < recording.table("spans").num_rows:
        raise QueryError(f"There is no span {id!r} in this recording.")
    return row


def spans(recording: Recording, rows: IntArray) -> list[dict[str, Any]]:
    """Rows of the table ``spans`` as objects.

    ``begin`` and ``end`` are where each is drawn, ns since the origin; ``open`` says which of them
    was not seen. ``track`` and ``depth`` say where.
    """
    table = recording.table("spans").select(["name", "kind", "begin", "end", "step"])
    table = table.take(arrays.column(rows, pa.int64()))
    names, kinds = (arrays.all_words(table, name) for name in ("name", "kind"))
    missing = [~arrays.valid(table, name) for name in ("begin", "end")]
    step = table.column("step").to_pylist()
    place = recording.values("span_places", "place")[rows]
    begin, end = (recording.values("span_order", name)[place].tolist() for name in ("begin", "end"))
    lane = np.searchsorted(recording.values("span_lanes", "first"), place, side="right") - 1
    track, depth = (recording.values("span_lanes", name)[lane] for name in ("track", "depth"))
    return [
        {
            "id": str(row),
            "name": names[at] or "",
            "kind": kinds[at],
            "track": str(track[at]),
            "depth": int(depth[at]),
            "begin": begin[at],
            "end": end[at],
            "open": "begin" if missing[0][at] else "end" if missing[1][at] else None,
            "step": step[at],
        }
        for at, row in enumerate(rows.tolist())
    ]


def one(recording: Recording, row: int) -> dict[str, Any] | None:
    """The span of a row, None for row -1."""
    return spans(recording, np.array([row]))[0] if row >= 0 else None
