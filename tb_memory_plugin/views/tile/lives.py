"""What a picture is made of: allocations or segments, as lives with bytes and a colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact, filters
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import argument, group_ids
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.places import places
from tb_memory_plugin.analysis.ranking import describe, ranking
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER

ONLY = ("all", "alive", "freed", "never")
OF = ("allocations", "segments")
_MOST_BANDS = 255


@dataclass(frozen=True)
class Lives:
    """Lives of one device in order of birth; ordinals as in the tables.

    ``band`` is the place of each in ``groups``; ``kept`` and ``hit`` are masks, None for all.
    ``hits`` is number and bytes of those that are found, None where nothing is looked for.
    ``start`` is the row of the table that the first is.
    """

    table: str
    start: int
    birth: IntArray
    death: IntArray
    bytes: IntArray
    band: IntArray
    groups: list[dict[str, Any]]
    kept: IntArray | None
    hit: IntArray | None
    hits: dict[str, int] | None


def lives(
    recording: Recording,
    device: Device,
    *,
    of: str = "allocations",
    by: str,
    pattern: str = "",
    top: int,
    only: str = "all",
    at: str = "peak",
    minimum: int = 0,
    filter: str = "",
    find: str = "",
) -> Lives:
    """The lives a picture is asked of. Raises QueryError."""
    if of not in OF:
        raise QueryError(f"There is no picture of {of!r}; choose {' or '.join(OF)}.")
    if only not in ONLY:
        raise QueryError(f"Cannot show only {only!r}; choose one of {', '.join(ONLY)}.")
    table = "allocations" if of == "allocations" else "segment_lives"
    birth, death = (recording.values(table, name, device) for name in ("birth", "death"))
    if of == "segments":
        size = recording.values(table, "size", device)
        band, groups = _by_place(recording, device)
        hit = None
    else:
        size = bytes_of(recording, device)
        groups = describe(recording, device, by, pattern, top)
        band = _band(recording, device, by, pattern, top)
        hit = filters.mask(recording, device, find)
    event = resolve(recording, device, at).event if only == "alive" else None
    passing = filters.mask(recording, device, filter) if of == "allocations" else None
    narrowed = ("tile_kept", device.index, of, only, event, max(minimum, 0), filter)

    def narrow() -> IntArray | None:
        return _both(_kept(birth, death, size, only, event, minimum), passing)

    is_narrowed = only != "all" or minimum > 0
    kept = memo(recording, narrowed, narrow) if is_narrowed else passing
    found = ("tile_hits", narrowed, find)
    hits = None if hit is None else memo(recording, found, lambda: _hits(size, hit, kept))
    start = recording.rows(table, device).start
    return Lives(table, start, birth, death, size, band, groups, kept, hit, hits)


def _band(recording: Recording, device: Device, by: str, pattern: str, top: int) -> IntArray:
    key = ("tile_band", device.index, by, argument(by, pattern), top)

    def work() -> IntArray:
        groups = group_ids(recording, device, by, pattern)
        ranked = ranking(recording, device, by, pattern, top)
        found: IntArray = np.minimum(ranked.band, _MOST_BANDS).astype(np.uint8)[groups.ids]
        return found

    return memo(recording, key, work)


def _by_place(recording: Recording, device: Device) -> tuple[IntArray, list[dict[str, Any]]]:
    found, (band,) = places(recording, device, "segment_lives")
    groups = [{"key": place.key, "label": place.label} for place in found[:_MOST_BANDS]]
    return np.minimum(band, _MOST_BANDS).astype(np.uint8), groups


def _kept(
    birth: IntArray, death: IntArray, size: IntArray, only: str, event: int | None, minimum: int
) -> IntArray | None:
    kept = None if minimum <= 0 else size >= minimum
    if only == "all":
        return kept
    if event is not None:
        chosen = (birth <= event) & (death > event)
    else:
        chosen = (death == AFTER) == (only == "never")
    return _both(kept, chosen)


def _hits(size: IntArray, hit: IntArray, kept: IntArray | None) -> dict[str, int]:
    """Number and bytes of the kept lives that are found."""
    rows = np.flatnonzero(hit if kept is None else hit & kept)
    return {"count": len(rows), "bytes": exact.total(size[rows])}


def _both(one: IntArray | None, other: IntArray | None) -> IntArray | None:
    """What two masks let pass, None for all."""
    if one is None or other is None:
        return other if one is None else one
    found: IntArray = one & other
    return found
