"""What XLA's and TensorFlow's allocators report after events: stack, heap, free, fragmentation.

A report stands until the next one. Before the first there is none, and nothing is made up.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

#: What memory is divided into, from the bottom of the picture, and the column that says it.
COLUMNS = {"stack": "stack", "heap": "allocated", "free": "free"}
#: How the allocators work out the fragmentation they report.
FREE_LIST = "1 − largest free chunk ÷ free bytes"


def areas(recording: Recording, device: Device) -> tuple[str, ...]:
    """Which of ``stack``, ``heap`` and ``free`` are told apart on a device; none where it is one.

    An allocator without a limit, as on a CPU, says that nothing is free all the time: it does not
    know.
    """
    return memo(recording, ("areas", device.index), lambda: _areas(recording, device))


def fragmentation_known(recording: Recording, device: Device) -> bool:
    """Whether any report of a device says how fragmented its free list is."""
    key = ("reported_fragmentation", device.index)
    return memo(recording, key, lambda: _fragmentation_known(recording, device))


def rows_at(recording: Recording, device: Device, events: IntArray) -> IntArray:
    """For each of ``events`` the device's report that stands after it, -1 for none."""
    at = recording.values("reported", "event", device)
    found: IntArray = np.searchsorted(at, events, side="right") - 1
    return found


def stack_and_heap(recording: Recording, device: Device) -> IntArray:
    """Stack + heap of every report; one without a stack counts as one with an empty stack."""
    heap = recording.values("reported", "allocated", device)
    stack = recording.values("reported", "stack", device)
    found: IntArray = heap + np.maximum(stack, 0)
    return found


def levels(recording: Recording, device: Device) -> IntArray:
    """Stack + heap at every row of the device's usage, -1 where there is no report yet."""
    return memo(recording, ("reported_levels", device.index), lambda: _levels(recording, device))


def taken(recording: Recording, device: Device, column: str, reports: IntArray) -> pa.ChunkedArray:
    """A column of ``reported`` in rows of :func:`rows_at`; null where nothing is said."""
    rows = reports + recording.rows("reported", device).start
    places = arrays.column(rows, pa.int64(), reports < 0)
    return recording.table("reported").column(column).take(places)


def _areas(recording: Recording, device: Device) -> tuple[str, ...]:
    has_stack = bool((recording.values("reported", "stack", device) >= 0).any())
    has_free = bool((recording.values("reported", "free", device) > 0).any())
    if not has_stack and not has_free:
        return ()
    found = {"stack": has_stack, "heap": True, "free": has_free}
    return tuple(name for name in COLUMNS if found[name])


def _fragmentation_known(recording: Recording, device: Device) -> bool:
    rows = recording.rows("reported", device)
    column = recording.table("reported").column("fragmentation")
    count = rows.stop - rows.start
    return bool(column.slice(rows.start, count).null_count < count)


def _levels(recording: Recording, device: Device) -> IntArray:
    reports = rows_at(recording, device, recording.values("usage", "event", device))
    found: IntArray = np.append(stack_and_heap(recording, device), -1)[reports]
    return found
