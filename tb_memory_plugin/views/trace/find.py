"""The next span of a name, and how many there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis.trace.finding import found
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.trace.spans import one, row_of

WAYS = ("next", "previous", "first", "last")


def find(
    recording: Recording, *, text: str, kind: str, exactly: bool, way: str, after: str
) -> dict[str, Any]:
    """The answer of ``GET trace.find``: the span found, its place among all (from 0), and how many.

    From the span ``after``, found itself or not, the next or previous in order of time; at either
    end it goes on at the other. ``kind`` empty is any. Raises QueryError.
    """
    if way not in WAYS:
        raise QueryError(f"There is no way {way!r}; choose one of {', '.join(WAYS)}.")
    if not text:
        raise QueryError("Name what is to be found.")
    rows = found(recording, text, kind=kind or None, exactly=exactly)
    place = _place(recording, rows, way, after)
    span = None if place is None else one(recording, int(rows[place]))
    return {"count": len(rows), "place": place, "span": span}


def _place(recording: Recording, rows: np.ndarray[Any, Any], way: str, after: str) -> int | None:
    if not len(rows):
        return None
    if way in ("first", "last") or not after:
        return len(rows) - 1 if way in ("last", "previous") else 0
    begin = recording.values("spans", "begin")
    row = row_of(recording, after)
    begins = begin[rows]
    low, high = (int(np.searchsorted(begins, begin[row], side)) for side in ("left", "right"))
    # Of those that begin together rows are in order.
    at = low + int(np.searchsorted(rows[low:high], row))
    is_found = at < high and int(rows[at]) == row
    if way == "next":
        return (at + 1 if is_found else at) % len(rows)
    return (at - 1) % len(rows)
