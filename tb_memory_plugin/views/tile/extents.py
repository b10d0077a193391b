"""How tall a picture is, and where in it lives stand that keep their place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis.alive import addresses_known, peak_row, sums_only
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.positions import Ranges, lanes, ranges
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.views.tile.lives import Lives
from tb_memory_plugin.views.words import hexadecimal

#: Ranges of addresses that are told one by one.
MOST_RANGES = 1_000


def extent(recording: Recording, device: Device, of: Lives, layout: str) -> int:
    """The bytes from the bottom of the picture to its top, at least 1."""
    if layout == "address":
        return max(_ranges(recording, device).extent, 1)
    if layout == "stacked":
        if of.table == "allocations":
            allocated = recording.values("usage", "allocated", device)
            return max(int(allocated[peak_row(recording, device)]), 1)
        return max(int(recording.values("usage", "reserved", device).max(initial=0)), 1)
    key = ("lane_extent", device.index, of.table)

    def work() -> int:
        return int((offsets(recording, device, of, layout) + of.bytes).max(initial=0))

    return max(memo(recording, key, work), 1)


def offsets(recording: Recording, device: Device, of: Lives, layout: str) -> IntArray:
    """Where every life stands, in bytes from the bottom, for layouts ``address`` and ``lane``."""
    if of.table == "allocations":
        return recording.values("positions", layout, device)
    if layout == "address":
        address = recording.values(of.table, "address", device)
        return place_of(recording, device, address)
    key = ("segment_lanes", device.index)
    return memo(recording, key, lambda: lanes(of.bytes, _sequence(of)))


def heights(
    recording: Recording, device: Device, of: Lives, layout: str, rows: IntArray
) -> IntArray:
    """Bytes that the lives ``rows`` are tall: by address their blocks, rounding included."""
    asked = of.bytes[rows]
    if layout != "address" or of.table != "allocations":
        return asked
    found: IntArray = np.maximum(recording.values(of.table, "size", device)[rows], asked)
    return found


def placed(recording: Recording, device: Device) -> bool:
    """Whether the recording says at which addresses the allocations of a device are.

    Of what was alive before the window a sum may be all that is known: it is at no address, and
    the others are at theirs. Where the source has no addresses, those in the tables are made up.
    """
    if not addresses_known(recording):
        return False
    table = recording.table("allocations")
    if not table.column("address").null_count:
        return True
    known = arrays.valid(table, "address")[recording.rows("allocations", device)]
    return bool(known.sum() + len(sums_only(recording, device)) == len(known) and known.any())


def place_of(recording: Recording, device: Device, address: IntArray) -> IntArray:
    """Where addresses that were mapped or allocated once stand in the picture by address."""
    return _ranges(recording, device).at(address)


def segments(recording: Recording, device: Device) -> list[dict[str, Any]]:
    """The ranges in the picture by address; of more than ``MOST_RANGES`` the largest."""
    found = _ranges(recording, device)
    kept = np.sort(np.argsort(-found.size, kind="stable")[:MOST_RANGES])
    rows = zip(
        found.begin[kept].tolist(),
        found.size[kept].tolist(),
        found.offset[kept].tolist(),
        strict=True,
    )
    return [
        {"offset": offset, "size": size, "address": hexadecimal(address)}
        for address, size, offset in rows
    ]


def _ranges(recording: Recording, device: Device) -> Ranges:
    return memo(recording, ("ranges", device.index), lambda: ranges(recording, device))


def _sequence(of: Lives) -> IntArray:
    """Births and deaths in order of time; what ends in an event goes before what begins in it."""
    ends = np.flatnonzero(of.death != AFTER)
    moment = np.concatenate([of.birth * 2 + 1, of.death[ends] * 2])
    life = np.concatenate([np.arange(len(of.birth)), ends])
    ordered: IntArray = life[np.argsort(moment, kind="stable")]
    return ordered
