"""A window, made into the most that every pool and stream held and used in each of its bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import reserved_known, segments_known
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.places import Place, places
from tb_memory_plugin.analysis.stretches import most
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.views import band_peaks, bands, grid, ipc, usage

#: When mapped ranges come and go, which, and by how many bytes.
Moves = tuple[IntArray, IntArray, IntArray]

#: Places with columns of their own; what is smaller is summed up in the last.
MOST = 32
REST_KEY = "…rest"


def window(
    recording: Recording,
    device: Device,
    *,
    axis: str,
    begin: int | None = None,
    end: int | None = None,
    width: int,
) -> bytes:
    """The Arrow IPC stream of ``GET pools``: the bins and instants of ``usage`` for this window.

    Columns ``begin``, ``end``, ``event``, ``time``, then ``r0`` … and ``a0`` …: the most bytes that
    were reserved for each place, and allocated in it, after anything seen in the bin. Each has its
    own moment: what one place holds most at is seldom where another does. Raises QueryError.
    """
    of = grid.axis(recording, device, axis)
    groups, reserving, _ = _grouped(recording, device)
    count = len(groups)
    widest = usage.LARGEST_ANSWER // (8 * (4 + 2 * count)) // 2 - 1
    found = grid.bins(of, begin, end, min(width, widest))
    rows = usage.highest(recording, device, found)
    event = recording.values("usage", "event", device)[rows]
    kind = pa.int64()
    columns = {
        "begin": arrays.column(found.begin, kind),
        "end": arrays.column(found.begin + found.width, kind),
        "event": arrays.column(event, kind),
        "time": usage.times(recording, device, rows),
    }
    moves = _moves(recording, device)
    reserved = _most_reserved(recording, device, moves, reserving, count, found)
    held, tops = memo(recording, ("pool_bands", device.index), lambda: _held(recording, device))
    allocated = band_peaks.highest(recording, device, held, tops, found)
    for place in range(count):
        columns[f"r{place}"] = arrays.column(reserved[:, place], kind)
        columns[f"a{place}"] = arrays.column(allocated[:, place], kind)
    about = {
        "axis": axis,
        "begin": of.begin if begin is None else begin,
        "end": of.end if end is None else end,
        "bin": found.width,
        "groups": groups,
        "problems": _problems(recording, device, moves, rows, event),
    }
    return ipc.stream(columns, "window", about)


def _held(recording: Recording, device: Device) -> tuple[bands.Bands, IntArray]:
    """The bytes of every place at any row, and their :func:`band_peaks.tops`."""
    groups, _, band = _grouped(recording, device)
    held = bands.of_bands(recording, device, band, len(groups))
    return held, band_peaks.tops(recording, device, held)


def _grouped(
    recording: Recording, device: Device
) -> tuple[list[dict[str, Any]], IntArray, IntArray]:
    """The groups drawn, and the group of every segment life and of every allocation."""
    key = ("pool_groups", device.index)
    found, (segments, allocations) = memo(
        recording, key, lambda: places(recording, device, "segment_lives", "allocations")
    )
    key = ("pool_peaks", device.index)
    peaks = memo(recording, key, lambda: _peaks(recording, device, segments, len(found)))
    order = np.argsort([-peak for peak in peaks], kind="stable")
    alone = order[:MOST] if len(order) <= MOST else order[: MOST - 1]
    band = np.full(len(found), len(alone), dtype=np.uint8)
    shown = np.sort(alone)
    band[shown] = np.arange(len(shown))
    groups = [_described(found[number], peaks[number]) for number in shown.tolist()]
    if len(shown) < len(found):
        rest = {"pool": None, "stream": None, "reserved_peak": None}
        groups.append({"key": REST_KEY, "label": "smaller ones", **rest})
    return groups, band[segments], band[allocations]


def _described(place: Place, peak: int) -> dict[str, Any]:
    return {
        "key": place.key,
        "label": place.label,
        "pool": None if place.pool is None else list(place.pool),
        "stream": None if place.stream is None else f"{place.stream:#x}",
        "reserved_peak": peak,
    }


def _moves(recording: Recording, device: Device) -> Moves:
    """When mapped ranges come and go (-1: before the window), which, and by how many bytes."""
    birth = recording.values("segment_lives", "birth", device)
    death = recording.values("segment_lives", "death", device)
    size = recording.values("segment_lives", "size", device)
    gone = np.flatnonzero(death < AFTER)
    row = np.concatenate([np.arange(len(birth)), gone])
    event = np.concatenate([birth, death[gone]])
    delta = np.concatenate([size, -size[gone]])
    order = np.argsort(event, kind="stable")
    return event[order], row[order], delta[order]


def _peaks(recording: Recording, device: Device, group: IntArray, count: int) -> list[int]:
    """The most bytes that the mapped ranges of each group take together after any event."""
    event, row, delta = _moves(recording, device)
    of = group[row].astype(np.int64)
    order = np.argsort(of, kind="stable")
    event, of, delta = event[order], of[order], delta[order]
    first = np.searchsorted(of, np.arange(count))
    sums = np.cumsum(delta)
    before = np.append(0, sums)[first]
    # After all that one event does.
    last = np.append((event[1:] != event[:-1]) | (of[1:] != of[:-1]), True)[: len(of)]
    peaks = np.zeros(count, dtype=np.int64)
    np.maximum.at(peaks, of[last], sums[last] - before[of[last]])
    found: list[int] = peaks.tolist()
    return found


def _most_reserved(
    recording: Recording,
    device: Device,
    moves: Moves,
    group: IntArray,
    count: int,
    found: grid.Bins,
) -> IntArray:
    """The most bytes mapped for each group (a column) after any event seen in each bin."""
    event, row, delta = moves
    moved = recording.values("usage", "event", device)
    first, last = moved[found.start], moved[found.stop - 1]
    of = group[row]
    highest = np.zeros((len(first), count), dtype=np.int64)
    for place in range(count):
        own = of == place
        when = event[own]
        # After all that one event does.
        final = np.append(when[1:] != when[:-1], True)[: len(when)]
        highest[:, place] = most(
            np.append(0, exact.running(0, delta[own])[1:][final]),
            np.searchsorted(when[final], first, side="right"),
            np.searchsorted(when[final], last, side="right"),
        )
    return highest


def _problems(
    recording: Recording, device: Device, moves: Moves, rows: IntArray, event: IntArray
) -> list[str]:
    """Whether what is mapped after each ``event`` is what the ``rows`` of usage say."""
    if not (reserved_known(recording, device) and segments_known(recording, device)):
        return []
    told = recording.values("usage", "reserved", device)[rows]
    when, _, delta = moves
    mapped = exact.running(0, delta)[np.searchsorted(when, event, side="right")]
    other = int((mapped != told).sum())
    if not other:
        return []
    return [
        f"In {other} of {len(rows)} bins the pools do not add up to what is reserved: the history "
        "maps or unmaps what it should not."
    ]
