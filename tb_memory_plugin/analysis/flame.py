"""Allocations, weighed by stack: what the widths of a flame graph stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times, of_row, resolve, times_in_order
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER, sentinel

#: What stacks can be weighed by, and what that means.
OF = {
    "alive": "bytes alive after one event, the peak or another",
    "highest": "bytes alive at the first moment of the window at which allocated is highest in it",
    "lifetime": "bytes × the time they were alive within the window",
    "allocations": "how many allocations were born in the window",
    "kept": "bytes born in the window and still alive at its end",
}

#: Rows that are weighed at a time: they stay in the processor's cache.
_PART = 1 << 15

#: A column of some rows.
_At = Callable[[IntArray | slice], IntArray]


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

    Only ``alive`` looks at ``at``, only the others at ``window``. ``wanted`` is a mask over the
    device's allocations: others weigh nothing. A life counts in ``lifetime`` if any of it, even
    no time at all, is within the window.
    """
    if of in ("alive", "highest"):
        if of == "alive":
            event = resolve(recording, device, at).event
        else:
            event = highest(recording, device, window)
        rows = _only(alive_rows(recording, device, event), wanted)
        return _by_bytes(recording, device, rows, event)
    if of == "lifetime":
        return _by_lifetime(recording, device, window, wanted)
    if of not in OF:
        raise QueryError(f"There is no {of!r} to weigh stacks by; choose one of {', '.join(OF)}.")
    birth = recording.values("allocations", "birth", device)
    born = slice(*np.searchsorted(birth, (window.first, window.stop)).tolist())
    if of == "kept":
        kept = recording.values("allocations", "death", device)[born] >= window.stop
        return _by_bytes(recording, device, _only(born.start + np.flatnonzero(kept), wanted), None)
    count = np.zeros(_count(recording), dtype=np.int64)
    places_of = _Places(recording, device)
    for part in _slices(born.start, born.stop, wanted):
        count += np.bincount(places_of(part), minlength=len(count))
    return Weights("allocations", count, count, None)


def highest(recording: Recording, device: Device, window: EventWindow) -> int:
    """The first event of the window after which allocated is at its highest in it.

    What was carried into the window is seen in it unless an event is right at its beginning.
    """
    moved = recording.values("usage", "event", device)
    seen = window.first - 1 if window.carried else window.first
    start = int(np.searchsorted(moved, seen, side="right")) - 1
    stop = max(int(np.searchsorted(moved, window.stop - 1, side="right")), start + 1)
    allocated = recording.values("usage", "allocated", device)[start:stop]
    return of_row(recording, device, start + int(allocated.argmax())).event


def _by_bytes(recording: Recording, device: Device, rows: IntArray, event: int | None) -> Weights:
    places = _Places(recording, device)(rows)
    amount = bytes_of(recording, device)[rows]
    value = exact.sum_by(places, amount, _count(recording))
    return Weights("bytes", value, np.bincount(places, minlength=len(value)), event)


def _by_lifetime(
    recording: Recording, device: Device, window: EventWindow, wanted: IntArray | None
) -> Weights:
    amount = bytes_of(recording, device)
    begins, ends = _moments(recording, device)
    places_of = _Places(recording, device)
    sums = exact.Products(_count(recording))
    count = np.zeros(_count(recording), dtype=np.int64)
    first = window.first - 1 if window.carried else window.first
    for rows in _parts(recording, device, first, window.stop, wanted):
        lasted = np.minimum(ends(rows), window.end) - np.maximum(begins(rows), window.begin)
        places = places_of(rows)
        count += np.bincount(places, minlength=len(count))
        sums.add(places, amount[rows], np.maximum(lasted, 0))
    unit = "byte_ns" if window.timed else "byte_events"
    return Weights(unit, sums.totals(), count, None)


def _parts(
    recording: Recording, device: Device, first: int, stop: int, wanted: IntArray | None
) -> Iterator[IntArray | slice]:
    """The rows alive after ``first`` or born later, before ``stop``, so many at a time.

    Slices, which are not copied, where all of a part are.
    """
    older = _only(alive_rows(recording, device, first), wanted)
    for begin in range(0, len(older), _PART):
        yield older[begin : begin + _PART]
    birth = recording.values("allocations", "birth", device)
    # Births are in order, and nothing dies before it is born.
    young, end = np.searchsorted(birth, (first + 1, stop)).tolist()
    yield from _slices(young, end, wanted)


def _slices(begin: int, end: int, wanted: IntArray | None) -> Iterator[IntArray | slice]:
    for start in range(begin, end, _PART):
        part = slice(start, min(start + _PART, end))
        yield part if wanted is None else start + np.flatnonzero(wanted[part])


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

    def born_at(rows: IntArray | slice) -> IntArray:
        events = birth[rows]
        return np.where(events < 0, sentinel("birth_time"), known[np.maximum(events, 0)])

    def died_at(rows: IntArray | slice) -> IntArray:
        events = death[rows]
        return np.where(events > last, AFTER, known[np.minimum(events, last)])

    return born_at, died_at


class _Places:
    """Where in the arrays of ``Weights`` a device's allocations are weighed, by row."""

    def __init__(self, recording: Recording, device: Device) -> None:
        self._same = np.append(recording.values("stack_names", "same"), np.int32(-1))
        self._stack = recording.values("allocations", "birth_stack", device)
        self._birth = recording.values("allocations", "birth", device)

    def __call__(self, rows: IntArray | slice) -> IntArray:
        places: IntArray = self._same[self._stack[rows]]
        unknown = np.flatnonzero(places < 0)
        if len(unknown):
            older = self._birth[rows][unknown] < 0
            places[unknown] = np.where(older, len(self._same) - 1, len(self._same))
        return places


def _count(recording: Recording) -> int:
    return len(recording.table("stacks")) + 2


def _only(rows: IntArray, wanted: IntArray | None) -> IntArray:
    return rows if wanted is None else rows[wanted[rows]]
