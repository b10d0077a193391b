"""Allocations, weighed by stack: what the widths of a flame graph stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame_rows import Rows, rows_of
from tb_memory_plugin.analysis.instants import event_times, times_in_order
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER, sentinel

#: A column of some rows.
_At = Callable[[Rows], IntArray]


@dataclass(frozen=True)
class Weights:
    """What every stack weighs, exactly, and how many allocations that is.

    One element a row of ``stacks``, then two: allocations without a stack that are older than
    the recorded window, and others without one. Stacks that say the same are weighed together,
    under the first of them. ``unit`` is ``bytes``, ``allocations``, ``byte_ns`` or
    ``byte_events``; ``value`` holds Python integers where 64 bits may be too few. ``event`` is
    the moment, where the weights are about one.
    """

    unit: str
    value: IntArray
    count: IntArray
    event: int | None


def weights(
    recording: Recording,
    device: Device,
    of: str,
    window: EventWindow,
    at: str = "peak",
    wanted: IntArray | None = None,
) -> Weights:
    """The stacks of a device weighed by ``of``, a key of ``OF``. Raises QueryError.

    ``at``, ``window`` and ``wanted`` are as ``rows_of`` takes them. A life counts in ``lifetime``
    if any of it, even no time at all, is within the window.
    """
    event, parts = rows_of(recording, device, of, window, at, wanted)
    if of == "lifetime":
        return _by_lifetime(recording, device, window, parts)
    if of != "allocations":
        (rows,) = parts
        return _by_bytes(recording, device, rows, event)
    count = np.zeros(places_count(recording), dtype=np.int64)
    places_of = Places(recording, device)
    for part in parts:
        count += np.bincount(places_of(part), minlength=len(count))
    return Weights("allocations", count, count, None)


def _by_bytes(recording: Recording, device: Device, rows: Rows, event: int | None) -> Weights:
    places = Places(recording, device)(rows)
    amount = bytes_of(recording, device)[rows]
    value = exact.sum_by(places, amount, places_count(recording))
    return Weights("bytes", value, np.bincount(places, minlength=len(value)), event)


def _by_lifetime(
    recording: Recording, device: Device, window: EventWindow, parts: Iterator[Rows]
) -> Weights:
    amount = bytes_of(recording, device)
    begins, ends = _moments(recording, device)
    places_of = Places(recording, device)
    sums = exact.Products(places_count(recording))
    count = np.zeros(places_count(recording), dtype=np.int64)
    for rows in parts:
        lasted = np.minimum(ends(rows), window.end) - np.maximum(begins(rows), window.begin)
        places = places_of(rows)
        count += np.bincount(places, minlength=len(count))
        sums.add(places, amount[rows], np.maximum(lasted, 0))
    unit = "byte_ns" if window.timed else "byte_events"
    return Weights(unit, sums.totals(), count, None)


def _moments(recording: Recording, device: Device) -> tuple[_At, _At]:
    """When rows of allocations were born and died: in ns, or, without time stamps, in events.

    What is before the first event and after the last is before and after every window.
    """
    birth, death = (recording.values("allocations", name, device) for name in ("birth", "death"))
    times = event_times(recording, device)
    if times is None:
        return birth.__getitem__, death.__getitem__
    if times_in_order(recording, device):
        born, died = (
            recording.values("allocations", name, device) for name in ("birth_time", "death_time")
        )
        return born.__getitem__, died.__getitem__
    known, last = times, len(times) - 1

    def born_at(rows: Rows) -> IntArray:
        events = birth[rows]
        return np.where(events < 0, sentinel("birth_time"), known[np.maximum(events, 0)])

    def died_at(rows: Rows) -> IntArray:
        events = death[rows]
        return np.where(events > last, AFTER, known[np.minimum(events, last)])

    return born_at, died_at


class Places:
    """Where in the arrays of ``Weights`` a device's allocations are weighed, by row."""

    def __init__(self, recording: Recording, device: Device) -> None:
        self._same = np.append(recording.values("stack_names", "same"), np.int32(-1))
        self._stack = recording.values("allocations", "birth_stack", device)
        self._birth = recording.values("allocations", "birth", device)

    def __call__(self, rows: Rows) -> IntArray:
        places: IntArray = self._same[self._stack[rows]]
        unknown = np.flatnonzero(places < 0)
        if len(unknown):
            older = self._birth[rows][unknown] < 0
            places[unknown] = np.where(older, len(self._same) - 1, len(self._same))
        return places


def places_count(recording: Recording) -> int:
    """How many elements the arrays of ``Weights`` have."""
    return len(recording.table("stacks")) + 2
