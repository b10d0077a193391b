"""A window of a device's curve, made into one row a bin: the instant where it is highest."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.alive import reserved_known
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.ranking import TOP, describe, ranking
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import bands, grid, ipc, peaks

#: Bytes an answer may have, and groups drawn by themselves.
LARGEST_ANSWER = 1 << 20
MOST_TOP = 40
_PLAIN_COLUMNS = 7


def window(
    recording: Recording,
    device: Device,
    *,
    axis: str,
    begin: int | None = None,
    end: int | None = None,
    width: int,
    by: str,
    pattern: str = "",
    top: int = TOP,
) -> bytes:
    """The Arrow IPC stream of ``GET usage`` (docs/architecture.md has its columns).

    ``begin`` … ``end`` in units of the axis (all of it where None), ``width`` in pixels. Raises
    QueryError for what cannot be asked.
    """
    top = max(1, min(top, MOST_TOP))
    of = grid.axis(recording, device, axis)
    ranked = ranking(recording, device, by, pattern, top)
    most = LARGEST_ANSWER // (8 * (_PLAIN_COLUMNS + ranked.bands)) // 2 - 1
    found = grid.bins(of, begin, end, min(width, most))
    rows = highest(recording, device, found)
    columns = _columns(recording, device, found, rows)
    banded = bands.bands(recording, device, by, pattern, top)
    sums = bands.at_rows(recording, device, banded, rows)
    for place in range(ranked.bands):
        columns[f"g{place}"] = arrays.column(sums[:, place], pa.int64())
    about = {
        "axis": axis,
        "begin": of.begin if begin is None else begin,
        "end": of.end if end is None else end,
        "bin": found.width,
        "by": by,
        "groups": describe(recording, device, by, pattern, top),
        "has_reserved": reserved_known(recording, device),
    }
    return ipc.stream(columns, "window", about)


def highest(recording: Recording, device: Device, found: grid.Bins) -> IntArray:
    """The row of usage that every bin shows: the first of its highest allocated."""
    allocated = recording.values("usage", "allocated", device)
    prepared = memo(recording, ("peaks", device.index), lambda: peaks.peaks(allocated))
    return peaks.highest(allocated, prepared, found.start, found.stop)


def _columns(
    recording: Recording, device: Device, found: grid.Bins, rows: IntArray
) -> dict[str, pa.Array]:
    kind = pa.int64()
    picked = {
        name: recording.values("usage", name, device)[rows]
        for name in ("event", "allocated", "reserved")
    }
    unknown = np.full(len(rows), not reserved_known(recording, device))
    return {
        "begin": arrays.column(found.begin, kind),
        "end": arrays.column(found.begin + found.width, kind),
        "event": arrays.column(picked["event"], kind),
        "time": times(recording, device, rows),
        "allocated": arrays.column(picked["allocated"], kind),
        "reserved": arrays.column(picked["reserved"], kind, unknown, "reserved"),
        "reserved_max": arrays.column(
            _reserved_max(recording, device, found), kind, unknown, "reserved"
        ),
    }


def times(recording: Recording, device: Device, rows: IntArray) -> pa.Array:
    """When the instants of rows of usage were; null before the first event and without times."""
    untimed = recording.values("usage", "event", device)[rows] < 0
    if event_times(recording, device) is None:
        start = recording.rows("usage", device).start
        untimed = ~arrays.valid(recording.table("usage"), "time")[rows + start]
    time = recording.values("usage", "time", device)[rows]
    return arrays.column(time, pa.int64(), untimed, "time")


def _reserved_max(recording: Recording, device: Device, found: grid.Bins) -> IntArray:
    """The highest reserved in every bin, from the few rows where it changes."""
    rows, values = memo(
        recording, ("reserved_steps", device.index), lambda: _reserved_steps(recording, device)
    )
    if not len(found.start):
        return found.start
    first = np.searchsorted(rows, found.start, side="right") - 1
    last = np.searchsorted(rows, found.stop, side="left")
    pairs = np.stack([first, last], axis=1).ravel()
    highest: IntArray = np.maximum.reduceat(np.append(values, values[-1]), pairs)[::2]
    return highest


def _reserved_steps(recording: Recording, device: Device) -> tuple[IntArray, IntArray]:
    reserved = recording.values("usage", "reserved", device)
    rows = np.append(0, np.flatnonzero(reserved[1:] != reserved[:-1]) + 1)
    return rows, reserved[rows]
