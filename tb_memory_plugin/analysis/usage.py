"""Lives and segment events, made into the curve of allocated and reserved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.device_tables import DeviceTables
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.lives import Lives
from tb_memory_plugin.analysis.segments import reserved_deltas, reserved_start, segment_events
from tb_memory_plugin.recording.schema import AFTER, MOST_MEMORY
from tb_memory_plugin.units import format_bytes


@dataclass(frozen=True)
class Usage:
    """Columns of the table ``usage`` for one device; ``allocation`` counts within the device."""

    event: IntArray
    allocated: IntArray
    reserved: IntArray | None
    allocation: IntArray


def usage(tables: DeviceTables, lives: Lives) -> Usage:
    """The curve of one device: a row before the first event, then one a birth, death or segment.

    Where an address is allocated again without having been freed, the death comes as a row of
    its own before the birth, of the same event: every row moves one allocation.
    ``reserved`` is None where it is not known: nothing says what is mapped at the end, or the
    history contradicts itself. Raises SourceError where values are more than any memory holds.
    """
    count = tables.events
    # Two slots an event, so that the death an allocation implies stands before its birth.
    slot = np.full(2 * count, -1, dtype=np.int32)
    deaths = np.flatnonzero(lives.death < AFTER)
    births = np.flatnonzero(lives.birth >= 0)
    slot[2 * lives.death[deaths]] = deaths
    slot[2 * lives.birth[births] + 1] = births
    segments = segment_events(tables)
    slot[2 * segments] = len(lives.birth)
    filled = np.flatnonzero(slot >= 0)
    allocation = slot[filled].astype(np.int64)
    of_segment = allocation == len(lives.birth)
    allocation[of_segment] = -1
    event = filled >> 1
    moved = np.where(of_segment, 0, lives.bytes[allocation] if len(lives.bytes) else 0)
    moved = np.where(filled & 1, moved, -moved)
    deltas = reserved_deltas(tables)
    mapped = np.where(of_segment, deltas[event], 0)
    before = exact.total(lives.bytes[lives.birth < 0])
    start = reserved_start(tables, deltas)
    try:
        allocated = exact.running(before, moved)
        reserved = None if start is None else exact.running(start, mapped)
        if not len(segments):
            reserved = _reported(tables, event) if reserved is None else reserved
    except OverflowError:
        raise tables.refuse("the allocations add up to more than 64 bits can count") from None
    for sums, words in ((allocated, "the allocations add"), (reserved, "the segments add")):
        if sums is not None and int(sums.max()) >= MOST_MEMORY:
            raise tables.refuse(f"{words} up to {format_bytes(int(sums.max()))}")
    _note_oddities(tables, allocated, reserved)
    if reserved is not None and int(reserved.min()) < 0:
        reserved = None
    return Usage(
        event=np.concatenate([[-1], event]),
        allocated=allocated,
        reserved=reserved,
        allocation=np.concatenate([[-1], allocation]),
    )


def _reported(tables: DeviceTables, event: IntArray) -> IntArray | None:
    """What the source says is reserved, before the first event and after each of ``event``."""
    at, reserved = tables.column("reported", "event"), tables.column("reported", "reserved")
    if not (reserved > 0).any():
        return None  # nothing is said, or the allocator (a CPU's) holds nothing back
    place = np.searchsorted(at, np.concatenate([[-1], event]), side="right") - 1
    found: IntArray = reserved[np.maximum(place, 0)].astype(np.int64)
    return found


def _note_oddities(tables: DeviceTables, allocated: IntArray, reserved: IntArray | None) -> None:
    """Notes what no allocator does: the file is damaged, or whoever wrote it left things out."""
    if reserved is not None and int(reserved.min()) < 0:
        short = format_bytes(-int(reserved.min()))
        tables.problem(
            f"the history contradicts itself: what it maps and unmaps leaves {short} less than "
            "nothing, so that reserved is not known"
        )
    elif reserved is not None and (allocated > reserved).any():
        tables.problem(
            "more is allocated than reserved: segments are missing from the file, and neither "
            "reserved nor fragmentation is to be trusted"
        )
    times = tables.column("events", "time")
    if tables.has_times and (times[1:] < times[:-1]).any():
        tables.problem(
            "time stamps go back; on the time axis such an event stands where the one before it "
            "does, on the event axis all are in order"
        )
