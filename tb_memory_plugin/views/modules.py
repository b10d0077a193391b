"""Runs of HLO modules in a window or at a moment, made into a page of rows, or into CSV, whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import Stretch, stretch
from tb_memory_plugin.analysis.module_runs import (
    ModuleRuns,
    chosen,
    in_order,
    module_runs,
    program_of,
)
from tb_memory_plugin.analysis.windows import EventWindow, window
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import csv
from tb_memory_plugin.views.lives import about

LIMIT = 100
MOST = 1_000
COLUMNS = (
    "id",
    "program",
    "name",
    "on",
    "begin",
    "end",
    "duration",
    "begin_event",
    "end_event",
    "before",
    "peak",
)
_EDGES = np.iinfo(np.int64)
_ROWS_AT_ONCE = 5000

_NO_MODULES = (
    "The source does not say when HLO modules ran: XPlanes of TPUs and GPUs do, where devices "
    "were traced."
)
_NO_TIMES = "Events have no time stamps, so modules cannot be told by window."


def page(
    recording: Recording,
    device: Device,
    *,
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    at: str | None = None,
    find: str = "",
    sort: str = "begin",
    offset: int = 0,
    limit: int = LIMIT,
) -> dict[str, Any]:
    """The answer of ``GET modules``: ``limit`` runs of HLO modules on the device.

    Those of all devices where none is known to be of this one. Where there is a moment ``at``
    they are those that run then (after an event until the next one), else those of the window.
    ``find`` is a word or ``/expression/`` in their names, programs' ids or devices. Raises
    QueryError.
    """
    runs, seen, moment, rows = _asked(recording, device, axis, begin, end, at, find, sort)
    offset = max(offset, 0)
    shown = rows[offset : offset + max(0, min(limit, MOST))]
    return {
        "device": device.key,
        "window": about(seen),
        "at": None if moment is None else moment.event,
        "notes": _notes(runs, seen),
        "all": len(runs.row),
        "found": len(rows),
        "modules": len({*runs.name[rows].tolist()}),
        "devices": len({*runs.on[rows].tolist()}),
        "offset": offset,
        "rows": _rows(runs, shown),
    }


def whole(
    recording: Recording,
    device: Device,
    *,
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    at: str | None = None,
    find: str = "",
    sort: str = "begin",
) -> Iterator[str]:
    """All rows of :func:`page` as CSV, a piece of text at a time; times in ns.

    Raises QueryError before the first piece.
    """
    runs, _, _, rows = _asked(recording, device, axis, begin, end, at, find, sort)
    parts = (
        _rows(runs, rows[first : first + _ROWS_AT_ONCE])
        for first in range(0, len(rows), _ROWS_AT_ONCE)
    )
    return csv.pieces(COLUMNS, parts)


def _asked(
    recording: Recording,
    device: Device,
    axis: str,
    begin: int | None,
    end: int | None,
    at: str | None,
    find: str,
    sort: str,
) -> tuple[ModuleRuns, EventWindow, Stretch | None, IntArray]:
    seen = window(recording, device, axis, begin, end)
    everything = begin is None and end is None
    runs = module_runs(recording, device)
    moment = None if at is None else stretch(recording, device, at)
    rows = chosen(runs, None if everything else seen, moment, find)
    return runs, seen, moment, in_order(runs, rows, sort)


def _rows(runs: ModuleRuns, places: IntArray) -> list[dict[str, Any]]:
    return [_row(runs, place) for place in places.tolist()]


def _row(runs: ModuleRuns, place: int) -> dict[str, Any]:
    name, program = program_of(runs.names[runs.name[place]])
    begin, end = _seen(runs.begin[place]), _seen(runs.end[place])
    return {
        "id": str(runs.row[place]),
        # As text: numbers of a page end at 2⁵³.
        "program": None if program is None else str(program),
        "name": name,
        "on": runs.places[runs.on[place]],
        "begin": begin,
        "end": end,
        "duration": None if begin is None or end is None else end - begin,
        "begin_event": _known(runs.first[place]),
        "end_event": _known(runs.stop[place]),
        "before": _known(runs.before[place]),
        "peak": _known(runs.peak[place]),
    }


def _seen(time: np.int64) -> int | None:
    """When a run began or ended, None where that was not seen."""
    return None if time in (_EDGES.min, _EDGES.max) else int(time)


def _known(value: np.int64) -> int | None:
    return None if value < 0 else int(value)


def _notes(runs: ModuleRuns, seen: EventWindow) -> list[str]:
    """What is not told, and why."""
    if not len(runs.row):
        return [_NO_MODULES]
    return [] if seen.timed else [_NO_TIMES]
