"""A moment as a user names it, made into an event of a device."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import peak_row
from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording

_FORMS = "write it as peak, event:N, time:NANOSECONDS or step:N"
_EDGES = np.iinfo(np.int64)
_FARTHEST = 1 << 62
_MOMENT = re.compile(r"(?:(event|time|step):)?(-?\d{1,19})")


@dataclass(frozen=True)
class Instant:
    """The state of a device after ``event`` (-1: before the first), and its row of usage.

    ``time`` is ns since the recording's origin, None before the first event and where events
    have no time stamps.
    """

    event: int
    row: int
    time: int | None


def resolve(recording: Recording, device: Device, at: str) -> Instant:
    """The instant that ``at`` names.

    ``peak``: the first at which allocated is highest. ``event:N`` or ``N``: after that event,
    -1 for before the first. ``time:NS``: after the last event up to that time. ``step:N``: the
    first at which allocated is highest within that step, what was carried into it included.
    Raises QueryError, with what would be valid.
    """
    if at == "peak":
        return of_row(recording, device, peak_row(recording, device))
    found = _MOMENT.fullmatch(at.strip())
    if not found:
        raise QueryError(f"{at!r} is not a moment; {_FORMS}.")
    kind, number = found.group(1) or "event", int(found.group(2))
    if kind == "event":
        return _of_event(recording, device, number)
    if kind == "time":
        return _of_time(recording, device, number)
    return _of_step(recording, device, number)


def at_any_time(recording: Recording, device: Device, at: str) -> Instant:
    """As :func:`resolve`, but that ``time:NS`` may be before the first event or after the last.

    That is how the moment of another device's event is meant. What has no events has one state,
    that of the end, at any time. Raises QueryError.
    """
    rows = recording.rows("events", device)
    if not at.startswith("time:"):
        return resolve(recording, device, at)
    if rows.start == rows.stop:
        return _of_event(recording, device, -1)
    return _of_event(recording, device, stretch(recording, device, at).event)


@dataclass(frozen=True)
class Stretch:
    """The time that a moment stands for, ns: from ``begin`` up to, not with, ``end``.

    ``event`` is the last before or at it (-1: none); the extremes of 64 bits stand for what was
    before the first event and is after the last. Both ends are None where events have no times.
    """

    event: int
    begin: int | None
    end: int | None


def stretch(recording: Recording, device: Device, at: str) -> Stretch:
    """How long what ``at`` names lasts: for an event until the next one, for ``time:NS`` 1 ns.

    ``at`` is as for :func:`resolve`, but that a time may be any. Raises QueryError.
    """
    times = event_times(recording, device)
    found = _MOMENT.fullmatch(at.strip())
    if times is not None and found and found.group(1) == "time":
        time = min(max(int(found.group(2)), -_FARTHEST), _FARTHEST)
        return Stretch(int(np.searchsorted(times, time, side="right")) - 1, time, time + 1)
    event = resolve(recording, device, at).event
    if times is None:
        return Stretch(event, None, None)
    begin = _EDGES.min if event < 0 else int(times[event])
    end = _EDGES.max if event + 1 == len(times) else int(times[event + 1])
    return Stretch(event, int(begin), max(int(end), int(begin) + 1))


def of_row(recording: Recording, device: Device, row: int) -> Instant:
    """The instant of a row of the device's usage."""
    event = int(recording.values("usage", "event", device)[row])
    return Instant(event, row, event_time(recording, device, event))


def step_at(recording: Recording, device: Device, time: int | None) -> int | None:
    """The number of the step that was running at ``time``, None for none."""
    if time is None:
        return None
    row = int(spans_of_kind(recording, "step", device).at(np.array([time]))[0])
    step = int(recording.values("spans", "step")[row]) if row >= 0 else -1
    return step if step >= 0 else None


def event_time(recording: Recording, device: Device, event: int | None) -> int | None:
    """When ``event`` happened, None for what is before the window or has no time stamp."""
    if event is None or event < 0:
        return None
    rows = recording.rows("events", device)
    time = recording.table("events").column("time")[rows.start + event].as_py()
    return None if time is None else int(time)


def event_times(recording: Recording, device: Device) -> IntArray | None:
    """The times of a device's events, never going back; None where they are not all known.

    A time stamp before that of an earlier event counts as that of the earlier one.
    """
    known = times_in_order(recording, device)
    if known is None:
        return None
    times = recording.values("events", "time", device)
    key = ("ordered_event_times", device.index)
    return times if known else memo(recording, key, lambda: np.maximum.accumulate(times))


def times_in_order(recording: Recording, device: Device) -> bool | None:
    """None where events have no time stamps, else whether these never go back."""
    return memo(recording, ("times", device.index), lambda: _times_in_order(recording, device))


def _times_in_order(recording: Recording, device: Device) -> bool | None:
    rows = recording.rows("events", device)
    column = recording.table("events").column("time").slice(rows.start, rows.stop - rows.start)
    if not len(column) or column.null_count:
        return None
    times = recording.values("events", "time", device)
    return bool((times[1:] >= times[:-1]).all())


def _of_event(recording: Recording, device: Device, number: int) -> Instant:
    rows = recording.rows("events", device)
    last = rows.stop - rows.start - 1
    if not -1 <= number <= last:
        allowed = "only -1, the state of the end" if last < 0 else f"they go from -1 to {last}"
        raise QueryError(f"{device.name} has no event {number}; {allowed}.")
    moved = recording.values("usage", "event", device)
    row = int(np.searchsorted(moved, number, side="right")) - 1
    return Instant(number, row, event_time(recording, device, number))


def _of_time(recording: Recording, device: Device, time: int) -> Instant:
    times = event_times(recording, device)
    if times is None:
        raise QueryError(f"The events of {device.name} have no time stamps; name an event instead.")
    first, last = int(times[0]), int(times[-1])
    if not first <= time <= last:
        raise QueryError(
            f"{time} ns is outside the window of {device.name}, which goes from {first} to "
            f"{last} ns after the recording's origin."
        )
    return _of_event(recording, device, int(np.searchsorted(times, time, side="right")) - 1)


def _of_step(recording: Recording, device: Device, step: int) -> Instant:
    spans = spans_of_kind(recording, "step", device)
    numbers = recording.values("spans", "step")[spans.rows]
    if step not in numbers:
        known = numbers[numbers >= 0]
        allowed = f"they go from {known.min()} to {known.max()}" if len(known) else "it has none"
        raise QueryError(f"The recording has no step {step}; {allowed}.")
    times = event_times(recording, device)
    if times is None:
        raise QueryError(f"The events of {device.name} have no time stamps; name an event instead.")
    chosen = numbers == step
    begin, end = int(spans.begin[chosen].min()), int(spans.end[chosen].max())
    first = int(np.searchsorted(times, begin, side="left"))
    last = int(np.searchsorted(times, end, side="left"))
    if first == last:
        raise QueryError(f"Nothing was recorded on {device.name} during step {step}.")
    moved = recording.values("usage", "event", device)
    low = int(np.searchsorted(moved, first - 1, side="right")) - 1
    high = int(np.searchsorted(moved, last - 1, side="right"))
    allocated = recording.values("usage", "allocated", device)[low:high]
    return of_row(recording, device, low + int(allocated.argmax()))
