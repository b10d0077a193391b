"""A window of an axis, made into the events it holds and the time it lasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording

_AXES = ("time", "event")
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
    if axis not in _AXES:
        raise QueryError(f"There is no axis {axis!r}; choose time or event.")
    rows = recording.rows("events", device)
    count = rows.stop - rows.start
    times = event_times(recording, device)
    timed = axis == "time"
    if timed and times is None:
        raise QueryError(f"The events of {device.name} have no time stamps; look at them by event.")
    origin = int(times[0]) if times is not None and timed else 0
    whole = int(times[-1]) + 1 if times is not None and timed else max(count, 1)
    low, high = origin if begin is None else begin, whole if end is None else end
    if not -_FARTHEST < low < high < _FARTHEST:
        raise QueryError(f"A window needs a beginning before its end, not {low} … {high}.")
    low, high = min(max(low, origin), whole), max(min(high, whole), origin)
    if times is None:
        first, stop = min(low, count), min(high, count)
        return EventWindow(first, stop, low <= 0 or first == count, first, stop, timed=False)
    if timed:
        first, stop = (int(np.searchsorted(times, edge)) for edge in (low, high))
        carried = low <= origin or first == count or int(times[first]) > low
        return EventWindow(first, stop, carried, low, high, timed=True)
    past = int(times[-1]) + 1
    first, stop = min(low, count), min(high, count)
    begins, ends = (int(times[event]) if event < count else past for event in (first, stop))
    return EventWindow(first, stop, low <= 0 or first == count, begins, ends, timed=True)
