"""Every life of a window or at a moment, made into a page of rows, or into CSV, whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.alive import sums_only
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.life_list import LifeList, life_list, sorted_rows
from tb_memory_plugin.analysis.plan_recording import KEY
from tb_memory_plugin.analysis.windows import EventWindow, window
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import csv
from tb_memory_plugin.views.words import allocation_rows, lines

LIMIT = 100
MOST = 1_000
_COLUMNS = (*csv.ALLOCATION_COLUMNS, "duration")


def page(
    recording: Recording,
    device: Device,
    *,
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    at: str | None = None,
    filter: str = "",
    minimum: int | None = None,
    maximum: int | None = None,
    sort: str = "-bytes",
    offset: int = 0,
    limit: int = LIMIT,
) -> dict[str, Any]:
    """The answer of ``GET lives``: ``limit`` lives of the window ``begin`` … ``end`` of ``axis``.

    In it are all that were not freed before it and not born after it; where there is a moment
    ``at`` they are those alive then, whatever the window. Raises QueryError.
    """
    seen = window(recording, device, axis, begin, end)
    event = None if at is None else resolve(recording, device, at).event
    listed = life_list(recording, device, seen, filter, minimum, maximum, event)
    offset = max(offset, 0)
    rows = sorted_rows(recording, device, listed, sort, offset, max(0, min(limit, MOST)))
    return {
        "device": device.key,
        "window": about(seen),
        "at": event,
        "total_count": listed.count,
        "total_bytes": listed.bytes,
        "sums": _sums(recording, device, listed),
        "offset": offset,
        "rows": _rows(recording, rows + recording.rows("allocations", device).start, device),
    }


def whole(
    recording: Recording,
    device: Device,
    *,
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    at: str | None = None,
    filter: str = "",
    minimum: int | None = None,
    maximum: int | None = None,
    sort: str = "-bytes",
) -> Iterator[str]:
    """All that :func:`page` would list as CSV, a piece of text at a time; times in ns.

    Raises QueryError before the first piece.
    """
    seen = window(recording, device, axis, begin, end)
    event = None if at is None else resolve(recording, device, at).event
    listed = life_list(recording, device, seen, filter, minimum, maximum, event)
    rows = sorted_rows(recording, device, listed, sort)
    return csv.some(recording, device, rows, partial(_rows, device=device), _COLUMNS)


def about(seen: EventWindow) -> dict[str, int]:
    """A window as answers say it: its events, and where it begins and ends in ns (or events)."""
    return {"first": seen.first, "stop": seen.stop, "begin": seen.begin, "end": seen.end}


def _sums(recording: Recording, device: Device, listed: LifeList) -> int:
    return int(np.count_nonzero(listed.passing[sums_only(recording, device)]))


def _rows(recording: Recording, rows: IntArray, device: Device) -> list[dict[str, Any]]:
    first = recording.rows("allocations", device).start
    sums = {place + first for place in sums_only(recording, device).tolist()}
    found = allocation_rows(recording, rows)
    if device.key.startswith(KEY):
        for row, line in zip(found, lines(recording, rows), strict=True):
            row["where"] = line
    for row, place in zip(found, rows.tolist(), strict=True):
        begun, ended = row["birth_time"], row["death_time"]
        row["duration"] = None if begun is None or ended is None else ended - begun
        row["sum"] = place in sums
    return found
