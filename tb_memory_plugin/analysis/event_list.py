"""The events that pass a filter, made into a list that can be entered anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import event_filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Device, Recording

#: Events of a block of bits; how many pass before it is kept.
_BLOCK = 4096


@dataclass(frozen=True)
class EventList:
    """Which of ``events`` pass, a bit each (None: all), and how many before every block."""

    events: int
    count: int  # that pass
    bits: IntArray | None
    before: IntArray

    def ordinals(self, offset: int, limit: int) -> IntArray:
        """The ordinals of ``limit`` rows of the list from ``offset`` on, as far as it goes."""
        stop = min(offset + limit, self.count)
        if offset >= stop:
            return np.zeros(0, dtype=np.int64)
        if self.bits is None:
            return np.arange(offset, stop)
        first, last = np.searchsorted(self.before, [offset, stop - 1], side="right") - 1
        part = self.bits[first * _BLOCK // 8 : (last + 1) * _BLOCK // 8]
        passing = np.flatnonzero(np.unpackbits(part, bitorder="little")) + first * _BLOCK
        skipped = offset - int(self.before[first])
        found: IntArray = passing[skipped : skipped + stop - offset]
        return found

    def row(self, ordinal: int) -> int:
        """How many events before ``ordinal`` pass: the row it has, or would have, in the list."""
        ordinal = min(max(ordinal, 0), self.events)
        if self.bits is None:
            return ordinal
        if ordinal == self.events:
            return self.count
        block = ordinal // _BLOCK
        part = self.bits[block * _BLOCK // 8 : ordinal // 8 + 1]
        inside = np.unpackbits(part, bitorder="little")[: ordinal - block * _BLOCK]
        return int(self.before[block]) + int(inside.sum())


def event_list(recording: Recording, device: Device, text: str = "") -> EventList:
    """The events of a device that pass the filter ``text``. Raises QueryError."""
    key = ("event_list", device.index, text.strip())
    return memo(recording, key, lambda: _listed(recording, device, text))


def _listed(recording: Recording, device: Device, text: str) -> EventList:
    rows = recording.rows("events", device)
    events = rows.stop - rows.start
    passing = event_filters.mask(recording, device, text)
    if passing is None:
        return EventList(events, events, None, np.zeros(0, dtype=np.int64))
    blocks = np.arange(0, events, _BLOCK)
    counts = np.add.reduceat(passing, blocks, dtype=np.int64) if events else blocks
    bits = np.packbits(passing, bitorder="little")
    return EventList(events, int(counts.sum()), bits, np.cumsum(counts) - counts)
