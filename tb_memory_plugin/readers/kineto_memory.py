"""Allocator events of a Kineto trace, a history a device."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers.checked import UINT64_MAX, Malformed
from tb_memory_plugin.readers.kineto_columns import Instants, nanoseconds
from tb_memory_plugin.recording.arrays import IntArray

#: c10::DeviceType to what people call such a device.
TYPES = {0: "cpu", 1: "cuda", 6: "hip", 12: "xpu", 13: "mps", 17: "meta", 19: "mtia"}
TYPES[20] = "privateuseone"
_INT64 = (1 << 63) - 1


@dataclass(frozen=True)
class History:
    """One device's events, in order of time and then of ``Ev Idx``.

    Attributes:
        rows: of each event its place among those of the file.
        bytes: what it adds, negative for a free.
        address: where; made up where the trace has none (``made_up``).
        allocated, reserved: totals after it as the allocator counts them; None where the trace has
            none.
        rest: bytes alive before the first event that no event frees.
        breaks: how often the totals move by something else than the event's bytes.
    """

    type: int
    ordinal: int
    rows: IntArray
    time: IntArray
    bytes: IntArray
    address: IntArray
    made_up: bool
    allocated: IntArray | None
    reserved: IntArray | None
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


def histories(memory: Instants) -> list[History]:
    """The histories of all devices, by type and ordinal. Raises Malformed."""
    types = _integers(memory.column("device_type"), "Device Type")
    ordinals = _integers(memory.column("device"), "Device Id")
    of: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(types.tolist(), ordinals.tolist(), strict=True)):
        of[key].append(row)
    if len(of) > np.iinfo(np.int16).max:
        raise Malformed(f"has {len(of)} devices")
    time = nanoseconds(memory.time)
    index = np.array([-1 if each is None else each for each in memory.column("index")])
    columns = {name: memory.column(name) for name in ("bytes", "address", "allocated", "reserved")}
    return [_history(key, np.array(rows), time, index, columns) for key, rows in sorted(of.items())]


def _history(
    key: tuple[int, int],
    rows: IntArray,
    time: IntArray,
    index: IntArray,
    columns: dict[str, list[int | None]],
) -> History:
    rows = rows[np.lexsort((index[rows], time[rows]))]
    places = rows.tolist()
    moved = _integers([columns["bytes"][row] for row in places], "Bytes")
    allocated = _totals([columns["allocated"][row] for row in places], "Total Allocated")
    reserved = _totals([columns["reserved"][row] for row in places], "Total Reserved")
    known = [columns["address"][row] for row in places]
    made_up = any(each is None for each in known)
    address = _made_up(moved) if made_up else _addresses(known)
    rest = breaks = 0
    if allocated is not None:
        rest = int(allocated[0] - moved[0]) - _freed_later(address, moved)
        breaks = int((np.diff(allocated) != moved[1:]).sum())
    return History(
        *key, rows, time[rows], moved, address, made_up, allocated, reserved, max(rest, 0), breaks
    )


def _freed_later(address: IntArray, moved: IntArray) -> int:
    """Bytes of the blocks that were there before the first event and that an event frees."""
    _, first = np.unique(address, return_index=True)
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


def _addresses(values: list[int | None]) -> IntArray:
    if not all(type(each) is int and 0 <= each <= UINT64_MAX for each in values):
        raise Malformed("has a [memory] event whose Addr is no address of 64 bits")
    return np.array(values, dtype=np.uint64)


def _totals(values: list[int | None], what: str) -> IntArray | None:
    return None if any(each is None for each in values) else _integers(values, what)


def _integers(values: list[int | None], what: str) -> IntArray:
    if not all(type(each) is int and -_INT64 <= each <= _INT64 for each in values):
        raise Malformed(f"has a [memory] event whose {what} is out of range")
    return np.array(values, dtype=np.int64)
