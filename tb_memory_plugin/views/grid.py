"""A window of an axis, made into bins on a power-of-two grid and the rows of usage in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import windows
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times, times_in_order
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording

_COARSEST = 61


@dataclass(frozen=True)
class Axis:
    """Where the rows of a device's usage stand, the first (before the window) left out.

    ``begin`` … ``end`` (one past the last) is where the axis has values: ordinals from 0, or
    nanoseconds from the first event to the last. ``positions`` never go back. Up to ``known``,
    where that is further, the recording says what the program did, and the last value holds.
    """

    name: str
    positions: IntArray
    begin: int
    end: int
    known: int


@dataclass(frozen=True)
class Bins:
    """Consecutive bins that have a value, and the rows of usage that are seen in each.

    Bin k goes from ``begin[k]`` to ``begin[k] + width``; its rows are ``start[k]`` …
    ``stop[k] - 1``, at least one: what was carried into the bin is seen in it too, unless the
    first thing in it happens right at its beginning.
    """

    width: int
    begin: IntArray
    start: IntArray
    stop: IntArray


def axis(recording: Recording, device: Device, name: str) -> Axis:
    """The axis ``name`` of a device. Raises QueryError for one it does not have."""
    begin, end = windows.extent(recording, device, name)
    times = event_times(recording, device) if name == "time" else None
    if times is None:
        positions = recording.values("usage", "event", device)[1:]
        return Axis(name, positions, begin, end, end)
    ends = recording.values("span_tracks", "end")
    known = int(ends.max(initial=end))
    return Axis(name, _usage_times(recording, device, times), begin, end, known)


def bins(of: Axis, begin: int | None, end: int | None, width: int) -> Bins:
    """The bins of the window ``begin`` … ``end`` (whole axis where None), for ``width`` pixels.

    At least ``width`` and less than 2 · ``width`` + 2, of a power of two of axis units, as long
    as a unit is not wider than a pixel. Raises QueryError for a window that is none.
    """
    begin, end = windows.checked(
        of.begin if begin is None else begin, of.end if end is None else end
    )
    if width < 1:
        raise QueryError(f"A window needs a width of at least one pixel, not {width}.")
    size = 1 << max(((end - begin) // width).bit_length() - 1, 0)
    first = max(begin // size, of.begin // size)
    last = min(-(-end // size), -(-of.known // size))
    edges = np.arange(first, max(last, first) + 1, dtype=np.int64) * size
    return _filled(of, edges, size)


def at_level(of: Axis, level: int, first: int, last: int) -> Bins:
    """Of the bins ``first`` … ``last`` - 1 of 2^``level`` units each those that have a value.

    Bin 0 begins where the axis has its 0. Raises QueryError for a level that there is not.
    """
    if not 0 <= level <= _COARSEST:
        raise QueryError(f"There is no level {level}; it is 0 … {_COARSEST}.")
    size = 1 << level
    first, last = max(first, of.begin // size), min(last, -(-of.known // size))
    edges = np.arange(first, max(last, first) + 1, dtype=np.int64) * size
    return _filled(of, edges, size)


def _filled(of: Axis, edges: IntArray, size: int) -> Bins:
    rows = np.searchsorted(of.positions, edges) + 1  # row 0 is the state before the window
    start, stop, begins = rows[:-1], rows[1:], edges[:-1]
    carried = begins <= of.begin
    if len(of.positions):
        following = of.positions[np.minimum(start - 1, len(of.positions) - 1)]
        carried |= following > begins
    carried |= start == stop
    return Bins(size, begins, np.where(carried, start - 1, start), stop)


def _usage_times(recording: Recording, device: Device, times: IntArray) -> IntArray:
    """The ``times`` of the events that the rows of usage are of, mapped where they may be."""
    if times_in_order(recording, device):
        return recording.values("usage", "time", device)[1:]
    event = recording.values("usage", "event", device)[1:]
    return memo(recording, ("ordered_times", device.index), lambda: times[event])
