"""Allocator events of a Kineto trace, a history a device."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers.kineto_instants import Instants
from tb_memory_plugin.recording.arrays import IntArray

#: c10::DeviceType to what people call such a device.
TYPES = {
    0: "cpu",
    1: "cuda",
    6: "hip",
    9: "xla",
    12: "xpu",
    13: "mps",
    14: "meta",
    15: "hpu",
    18: "ipu",
    19: "mtia",
    20: "privateuseone",
}
TYPES[20] = "privateuseone"


@dataclass(frozen=True)
class History:
    """One device's events, in order of time and then of ``Ev Idx``.

    Attributes:
        rows: where its events stand in the columns of :class:`Histories`.
        made_up: whether addresses are, as the trace has none.
        has_allocated, has_reserved: whether every event says these totals.
        rest: bytes alive before the first event that no event frees.
        breaks: how often the totals move by something else than the event's bytes.
    """

    type: int
    ordinal: int
    rows: slice
    made_up: bool
    has_allocated: bool
    has_reserved: bool
    rest: int
    breaks: int

    @property
    def key(self) -> str:
        """What the device is called in the file: ``type:ordinal``."""
        return f"{self.type}:{self.ordinal}"

    @property
    def name(self) -> str:
        """What people call the device."""
        kind = TYPES.get(self.type, f"device type {self.type}")
        return kind if self.ordinal < 0 else f"{kind}:{self.ordinal}"


@dataclass
class Histories:
    """The histories of all devices, by type and ordinal; columns have one after the other.

    ``bytes`` is what an event adds, negative for a free; ``allocated`` and ``reserved`` are totals
    after it as the allocator counts them.
    """

    devices: list[History]
    track: IntArray
    time: IntArray
    bytes: IntArray
    address: IntArray
    allocated: IntArray
    reserved: IntArray

    def take(self, name: str) -> IntArray:
        """A column, which is not kept here."""
        values: IntArray = getattr(self, name)
        delattr(self, name)
        return values

    @property
    def device(self) -> IntArray:
        """The place in ``devices`` of every event."""
        counts = [one.rows.stop - one.rows.start for one in self.devices]
        return np.repeat(np.arange(len(counts), dtype=np.int16), counts)

    @property
    def event(self) -> IntArray:
        """The ordinal of every event."""
        counts = [one.rows.stop - one.rows.start for one in self.devices]
        return np.concatenate([np.arange(count, dtype=np.int32) for count in counts])


def histories(memory: Instants) -> Histories:
    """The histories of all devices. Takes the columns of ``memory``, which has events."""
    keys = sorted(memory.devices.words)
    place = np.array([keys.index(each) for each in memory.devices.words], dtype=np.int16)
    device = place[memory.take("device")]
    order = _order(device, memory.column("time"), memory.take("index"))
    edges = np.searchsorted(np.sort(device), np.arange(len(keys) + 1)).tolist()
    del device

    def ordered(name: str) -> IntArray:
        values = memory.take(name)
        return values if order is None else values[order]

    moved, allocated = ordered("bytes"), ordered("allocated")
    address = ordered("address").copy()
    found = []
    for code, (kind, ordinal) in sorted(enumerate(memory.devices.words), key=lambda each: each[1]):
        rows = slice(*edges[place[code] : place[code] + 2])
        made_up = code in memory.without["address"]
        if made_up:
            address[rows] = _made_up(moved[rows])
        has_allocated = code not in memory.without["allocated"]
        rest = breaks = 0
        if has_allocated:
            before = int(allocated[rows.start] - moved[rows.start])
            rest = max(before - _freed_later(address[rows], moved[rows]), 0)
            breaks = _breaks(allocated[rows], moved[rows])
        has_reserved = code not in memory.without["reserved"]
        found.append(
            History(kind, ordinal, rows, made_up, has_allocated, has_reserved, rest, breaks)
        )
    return Histories(
        found,
        ordered("track"),
        ordered("time"),
        moved,
        address,
        allocated,
        ordered("reserved"),
    )


def _order(device: IntArray, time: IntArray, index: IntArray) -> IntArray | None:
    """The order by device, time and index; None where it is that of the file already."""
    same_device = device[1:] == device[:-1]
    later = (time[1:] > time[:-1]) | ((time[1:] == time[:-1]) & (index[1:] >= index[:-1]))
    if ((device[1:] > device[:-1]) | (same_device & later)).all():
        return None
    return np.lexsort((index, time, device))


def _breaks(allocated: IntArray, moved: IntArray) -> int:
    return int((allocated[1:] - allocated[:-1] != moved[1:]).sum())


def _freed_later(address: IntArray, moved: IntArray) -> int:
    """Bytes of the blocks that were there before the first event and that an event frees."""
    order = np.argsort(address, kind="stable")
    ordered = address[order]
    first = order[np.append(True, ordered[1:] != ordered[:-1])[: len(order)]]
    freed = moved[first]
    return -int(freed[freed < 0].sum())


def _made_up(moved: IntArray) -> IntArray:
    """Addresses for a trace without any: a free is of the latest allocation of its size."""
    alive: dict[int, list[int]] = defaultdict(list)
    found = []
    for place, size in enumerate(moved.tolist()):
        same = alive[abs(size)]
        if size >= 0 or not same:
            found.append(place + 1)
            if size >= 0:
                same.append(place + 1)
        else:
            found.append(same.pop())
    return np.array(found, dtype=np.uint64)
