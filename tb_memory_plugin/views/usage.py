"""A window of a device's curve, made into one row a bin: the instant where it is highest.

By ``groups`` that is where allocated is highest. By ``allocator``, which divides memory into the
stack, heap and free bytes that the allocator itself reports, it is where stack + heap is highest.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import reported
from tb_memory_plugin.analysis.alive import reserved_known
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.ranking import TOP, describe, ranking
from tb_memory_plugin.analysis.stretches import most
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import bands, grid, ipc, peaks

#: Bytes an answer may have, and groups drawn by themselves.
LARGEST_ANSWER = 1 << 20
MOST_TOP = 40
_PLAIN_COLUMNS = 11

#: What memory can be divided into.
AREAS = ("groups", "allocator")


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
    areas: str = "groups",
) -> bytes:
    """The Arrow IPC stream of ``GET usage`` (docs/architecture.md has its columns).

    ``begin`` … ``end`` in units of the axis (all of it where None), ``width`` in pixels. Raises
    QueryError for what cannot be asked.
    """
    told = _told(recording, device, areas)
    top = max(1, min(top, MOST_TOP))
    of = grid.axis(recording, device, axis)
    ranked = ranking(recording, device, by, pattern, top)
    most = LARGEST_ANSWER // (8 * (_PLAIN_COLUMNS + ranked.bands)) // 2 - 1
    found = grid.bins(of, begin, end, min(width, most))
    if areas == "allocator":
        rows = highest_reported(recording, device, found)
        groups = [{"key": area, "label": area} for area in told]
    else:
        rows = highest(recording, device, found)
        groups = describe(recording, device, by, pattern, top)
    columns = _columns(recording, device, found, rows)
    columns |= _reports(recording, device, rows)
    if areas == "groups":
        banded = bands.bands(recording, device, by, pattern, top)
        sums = bands.at_rows(recording, device, banded, rows)
        for place in range(ranked.bands):
            columns[f"g{place}"] = arrays.column(sums[:, place], pa.int64())
    about = {
        "axis": axis,
        "begin": of.begin if begin is None else begin,
        "end": of.end if end is None else end,
        "bin": found.width,
        "by": by if areas == "groups" else "area",
        "groups": groups,
        "has_reserved": reserved_known(recording, device),
        "areas": list(told),
        "has_fragmentation": reported.fragmentation_known(recording, device),
    }
    return ipc.stream(columns, "window", about)


def _told(recording: Recording, device: Device, areas: str) -> tuple[str, ...]:
    """The areas that are told apart. Raises QueryError where they are asked for in vain."""
    if areas not in AREAS:
        raise QueryError(f"There are no areas {areas!r}; choose one of {', '.join(AREAS)}.")
    told = reported.areas(recording, device)
    if areas == "allocator" and not told:
        raise QueryError(
            f"The source does not say what of {device.name} is stack, heap and free; "
            "XPlanes of GPUs and TPUs do."
        )
    return told


def highest(recording: Recording, device: Device, found: grid.Bins) -> IntArray:
    """The row of usage that every bin shows: the first of its highest allocated."""
    allocated = recording.values("usage", "allocated", device)
    prepared = memo(recording, ("peaks", device.index), lambda: peaks.peaks(allocated))
    return peaks.highest(allocated, prepared, found.start, found.stop)


def highest_reported(recording: Recording, device: Device, found: grid.Bins) -> IntArray:
    """The row of usage at which every bin's stack + heap is highest; the first of equals."""
    levels = reported.levels(recording, device)
    key = ("reported_peaks", device.index)
    return peaks.highest(
        levels, memo(recording, key, lambda: peaks.peaks(levels)), found.start, found.stop
    )


def _reports(recording: Recording, device: Device, rows: IntArray) -> dict[str, pa.ChunkedArray]:
    """What the allocator reports at rows of usage, of what it ever does."""
    at = reported.rows_at(recording, device, recording.values("usage", "event", device)[rows])
    names = {area: reported.COLUMNS[area] for area in reported.areas(recording, device)}
    if reported.fragmentation_known(recording, device):
        names["fragmentation"] = "fragmentation"
    return {name: reported.taken(recording, device, column, at) for name, column in names.items()}


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
    first = np.searchsorted(rows, found.start, side="right") - 1
    last = np.searchsorted(rows, found.stop, side="left") - 1
    return most(values, first, last)


def _reserved_steps(recording: Recording, device: Device) -> tuple[IntArray, IntArray]:
    reserved = recording.values("usage", "reserved", device)
    rows = np.append(0, np.flatnonzero(reserved[1:] != reserved[:-1]) + 1)
    return rows, reserved[rows]
