"""A window of an axis, made into the events it holds and the time it lasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording

AXES = ("time", "event")
_FARTHEST = 1 << 62


@dataclass(frozen=True)
class EventWindow:
    """The events ``first`` … ``stop`` - 1 of a device, and the time from ``begin`` to ``end``.

    Time is in ns since the recording's origin, or, where events have no time stamps (``timed``
    is False), in events. ``carried``: the state before event ``first`` is seen in it too.
    """

    first: int
    stop: int
    carried: bool
    begin: int
    end: int
    timed: bool


def window(
    recording: Recording,
    device: Device,
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
) -> EventWindow:
    """The window from ``begin`` up to, not with, ``end`` in units of ``axis``; None: all of it.

    An axis of time ends a nanosecond after the last event, so that its state is in it. Raises
    QueryError for a window that is none and for an axis that the device does not have.
    """
    origin, whole = extent(recording, device, axis)
    low, high = checked(origin if begin is None else begin, whole if end is None else end)
    low, high = min(max(low, origin), whole), max(min(high, whole), origin)
    rows = recording.rows("events", device)
    count = rows.stop - rows.start
    times = event_times(recording, device)
    if times is None:
        first, stop = min(low, count), min(high, count)
        return EventWindow(first, stop, low <= 0 or first == count, first, stop, timed=False)
    if axis == "time":
        first, stop = (int(np.searchsorted(times, edge)) for edge in (low, high))
        carried = low <= origin or first == count or int(times[first]) > low
        return EventWindow(first, stop, carried, low, high, timed=True)
    past = int(times[-1]) + 1
    first, stop = min(low, count), min(high, count)
    begins, ends = (int(times[event]) if event < count else past for event in (first, stop))
    return EventWindow(first, stop, low <= 0 or first == count, begins, ends, timed=True)


def extent(recording: Recording, device: Device, axis: str) -> tuple[int, int]:
    """Where an axis has values, from its first up to, not with, its end.

    Ordinals from 0, or nanoseconds from the first event to one after the last. Raises QueryError
    for an axis that the device does not have.
    """
    if axis not in AXES:
        raise QueryError(f"There is no axis {axis!r}; choose time or event.")
    if axis == "event":
        rows = recording.rows("events", device)
        return 0, max(rows.stop - rows.start, 1)
    times = event_times(recording, device)
    if times is None:
        raise QueryError(f"The events of {device.name} have no time stamps; look at them by event.")
    return int(times[0]), int(times[-1]) + 1


def checked(begin: int, end: int) -> tuple[int, int]:
    """``begin`` and ``end`` of a window. Raises QueryError where they are none."""
    if not -_FARTHEST < begin < end < _FARTHEST:
        raise QueryError(f"A window needs a beginning before its end, not {begin} … {end}.")
    return begin, end
