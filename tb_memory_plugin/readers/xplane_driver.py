"""Memory that a GPU's driver gave, as CUPTI tells it: a device of its own beside the allocators'.

xla/backends/profiler/gpu/cupti_collector.cc writes what became of an allocation as one event, a
``MemoryResidency`` of a kind, size and address that lasts as long as the allocation does, and one
nanosecond where it was not freed. Calls of the driver's functions are events too, but name no
address: which memory a free is of is not in the file.
"""

from __future__ import annotations

import re

import numpy as np

from tb_memory_plugin.readers import xplane_events as decoded
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.xplane_device import Found
from tb_memory_plugin.readers.xplane_events import FIRST, Line, Table
from tb_memory_plugin.readers.xplane_wire import Plane
from tb_memory_plugin.readers.xplane_words import spelled
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.vocabulary import Vocabulary

_RESIDENCY = re.compile(r"kind:(\w+) num_bytes:(\d{1,20}) addr:(0x[0-9a-fA-F]{1,16}|\d{1,20})")
_SIZE = re.compile(r"num_bytes:(\d{1,18})\b")
_ON_DEVICE = {"device", "device_static", "array", "unknown"}
_NOT_FREED = 1  # nanosecond
_CALLS = ("driver_alloc", "driver_free")


class Driver:
    """What drivers of all devices of a file say of memory.

    ``calls`` is how many allocations were asked of them, their bytes, and how many frees;
    ``bandwidth`` counts counters of the bandwidth of memory, which say nothing of its use.
    """

    def __init__(self) -> None:
        #: By key the ordinal of a device and its capacity, as far as they are known.
        self.devices: dict[str, tuple[int | None, int | None]] = {}
        self.calls = (0, 0, 0)
        self.bandwidth = 0
        self.strange = 0
        self._rows: list[tuple[str, str, int, int, int, int]] = []

    def add(self, device: str, found: Found, plane: Plane) -> None:
        """Take in what the plane of ``device`` (``GPU:0``) holds."""
        self.bandwidth += found.bandwidth
        size = plane.said().get(b"memory_size")
        _, _, number = device.partition(":")
        ordinal = int(number) if number.isdecimal() and len(number) < 10 else None
        for each in found.residencies:
            told = _RESIDENCY.match(each.text)
            if told is None:
                self.strange += 1
                continue
            kind, is_own = told[1], told[1] in _ON_DEVICE
            key = f"{device} driver" if is_own else f"{device} driver, {kind} memory"
            self.devices[key] = (ordinal, size if is_own and type(size) is int else None)
            address = int(told[3], 16) if told[3].startswith("0x") else int(told[3])
            if address >> 64:
                raise Malformed("has an address of more than 64 bits")
            self._rows.append((key, kind, int(told[2]), address, each.begin, each.end))

    def is_driver(self, key: str) -> bool:
        """Whether a device is one that a driver tells of."""
        return key in self.devices

    def about(self, key: str) -> dict[str, int | str]:
        """What is known of such a device, for ``meta["devices"]``."""
        ordinal, capacity = self.devices[key]
        found: dict[str, int | str] = {"type": key.partition(":")[0].lower()}
        if ordinal is not None:
            found["ordinal"] = ordinal
        if capacity is not None:
            found["capacity"] = capacity
        return found

    def add_calls(self, plane: Plane, data: bytearray) -> None:
        """Count the calls of a driver's functions on ``plane`` of ``data``. Raises Malformed."""
        wanted = decoded.wish(_CALLS, plane.stat_names)
        if not len(wanted.stats):
            return
        texts: dict[bytes, int] = {}
        lines = [Line(data, place, wanted.kinds) for place in plane.lines]
        table, _ = decoded.table(lines, wanted, texts)
        known = list(texts)
        made, freed = table.seen("driver_alloc"), table.seen("driver_free")
        codes, counts = np.unique(table.column("driver_alloc")[made], return_counts=True)
        total = 0
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            size = _SIZE.search(spelled(code, known, plane.stat_names))
            total += count * int(size[1]) if size else 0
        before = self.calls
        self.calls = (before[0] + int(made.sum()), before[1] + total, before[2] + int(freed.sum()))

    def events(
        self, words: dict[str, Vocabulary], names: tuple[str, ...]
    ) -> tuple[Table, IntArray, IntArray, IntArray] | None:
        """Allocations and frees as columns ``names``, whether each is a birth, when it was, and -1
        for the thread of each; None where there are none. Raises Malformed.
        """
        if not self._rows:
            return None
        most = max(row[2] for row in self._rows)
        if most >> 60:
            raise Malformed(f"says of an allocation that it has {most} bytes")
        keys, kinds, sizes, addresses, begins, ends = zip(*self._rows, strict=True)
        device = np.array([words["device"].code(key or None) for key in keys], dtype=np.int64)
        region = np.array([words["region"].code(kind or None) for kind in kinds], dtype=np.int64)
        size = np.array(sizes, dtype=np.int64)
        address = np.array(addresses, dtype=np.uint64).view(np.int64)
        begin, end = np.array(begins, dtype=np.int64), np.array(ends, dtype=np.int64)
        freed = np.flatnonzero(end > begin + _NOT_FREED)
        # Frees first: of what is freed and given again at one moment.
        rows = np.concatenate([freed, np.arange(len(size))])
        born = np.arange(len(rows)) >= len(freed)
        table = Table(names, len(rows))
        table.columns[:] = 0
        for name in ("device", "op", "region", "shape"):
            table.column(name)[:] = -1
        filled = {"device": device, "region": region, "size": size, "address": address}
        for name, values in filled.items():
            table.column(name)[:] = values[rows]
            table.column("seen")[:] |= 1 << table.names.index(name) - FIRST
        time = np.where(born, begin[rows], end[rows])
        return table, born, time, np.full(len(rows), -1, dtype=np.int32)
