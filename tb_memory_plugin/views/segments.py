"""The allocator's state at an instant, made into what fits a screen: large blocks, merged small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import exact, filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.instants import Instant, at_any_time, step_at
from tb_memory_plugin.analysis.ranking import TOP, describe, ranking
from tb_memory_plugin.analysis.segment_state import SegmentState, segment_state
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import ipc
from tb_memory_plugin.views.segments_blocks import Part, block_columns
from tb_memory_plugin.views.segments_groups import groups_of, largest_groups

#: Segments, blocks, and pools and streams that an answer may have: under 1 MB together.
MOST_SEGMENTS = 4_000
MOST_BLOCKS = 10_000
MOST_GROUPS = 200
FORMULAS = {"reserved": "1 − allocated ÷ reserved", "free_list": "1 − largest free ÷ free"}


def window(
    recording: Recording,
    device: Device,
    *,
    at: str = "peak",
    pixel: int = 1,
    begin: int | None = None,
    end: int | None = None,
    by: str = "",
    pattern: str = "",
    top: int = TOP,
    filter: str = "",
) -> bytes:
    """The two Arrow IPC streams of ``GET segments`` (docs/architecture.md has their columns).

    ``begin`` … ``end`` is the part wanted of the line that all segments make, one after the
    other; blocks under ``pixel`` bytes that begin in the same pixel of their segment are one.
    With ``by`` blocks have the band of their group among the ``top`` of ``usage``, with
    ``filter`` how much of them passes it. ``at`` is as ``at_any_time`` takes it. Raises QueryError.
    """
    instant = at_any_time(recording, device, at)
    state = segment_state(recording, device, instant.event)
    segments = state.segments
    groups, group = largest_groups(*groups_of(recording, state), MOST_GROUPS)
    place = _places(segments.size, group)
    low, high = begin or 0, state.mapped if end is None else end
    inside = np.flatnonzero((place < high) & (place + segments.size > low))
    shown = inside
    if len(inside) > MOST_SEGMENTS:
        largest = np.argsort(-segments.size[inside], kind="stable")[:MOST_SEGMENTS]
        shown = inside[largest]
    shown = shown[np.argsort(place[shown])]
    band = _bands(recording, device, state, by, pattern, top) if by else None
    passing = _passing(recording, device, state, filter)
    part = Part(shown, place, low, high)
    pixel, blocks = block_columns(state, part, pixel, MOST_BLOCKS, band, passing)
    about = {
        **described(recording, device, state, instant),
        "pools": groups,
        "kinds": arrays.words(recording.table("segment_lives"), "kind"),
        **({"by": by, "groups": describe(recording, device, by, pattern, top)} if by else {}),
        **({} if passing is None else {"passing": _sums(state, passing)}),
        "pixel": pixel,
        "begin": low,
        "end": high,
        "hidden": {
            "segments": len(inside) - len(shown),
            "bytes": exact.total(segments.size[inside]) - exact.total(segments.size[shown]),
        },
    }
    rows = _segment_columns(state, shown, place, group)
    return ipc.joined([ipc.stream(rows, "state", about), ipc.stream(blocks)])


def _bands(
    recording: Recording, device: Device, state: SegmentState, by: str, pattern: str, top: int
) -> IntArray:
    """Of every block the place of its group among those that ``ranking`` shows."""
    row = state.blocks.allocation - recording.rows("allocations", device).start
    band = ranking(recording, device, by, pattern, top).band
    found: IntArray = band[group_ids(recording, device, by, pattern).ids[row]]
    return found


def _passing(
    recording: Recording, device: Device, state: SegmentState, filter: str
) -> IntArray | None:
    """Of every block whether the allocation in it passes; None where all do."""
    wanted = filters.mask(recording, device, filter)
    if wanted is None:
        return None
    found: IntArray = wanted[state.blocks.allocation - recording.rows("allocations", device).start]
    return found


def _sums(state: SegmentState, passing: IntArray) -> dict[str, int]:
    """How many blocks pass, what was asked for in them, and what they take."""
    blocks = state.blocks
    return {
        "blocks": int(passing.sum()),
        "requested": exact.total(blocks.requested[passing]),
        "used": exact.total(blocks.size[passing]),
    }


def described(
    recording: Recording, device: Device, state: SegmentState, instant: Instant
) -> dict[str, Any]:
    """The state in numbers, as the route and the command line give it."""
    segments = state.segments
    return {
        "device": device.key,
        "event": state.event,
        "time": instant.time,
        "step": step_at(recording, device, instant.time),
        "basis": recording.meta["basis"],
        "allocated": state.allocated,
        "reserved": state.reserved,
        "mapped": state.mapped,
        "used": exact.total(segments.used),
        "requested": exact.total(segments.requested),
        "pending": exact.total(segments.pending),
        "free": state.free,
        "largest_free": state.largest_free,
        "count": len(segments.size),
        "blocks": len(state.blocks.size),
        "fragmentation": {
            name: {"value": value, "formula": FORMULAS[name]}
            for name, value in state.fragmentation.items()
        },
        "outside": {"count": state.outside, "bytes": state.outside_bytes},
        "problems": list(state.problems),
    }


def _segment_columns(
    state: SegmentState, shown: IntArray, place: IntArray, group: IntArray
) -> dict[str, pa.Array]:
    segments = state.segments
    wide, narrow = pa.int64(), pa.int32()
    largest = _largest_offsets(state)
    columns = {
        "address": arrays.column(segments.address[shown], pa.uint64()),
        "size": arrays.column(segments.size[shown], wide),
        "place": arrays.column(place[shown], wide),
        "group": arrays.column(group[shown], narrow),
        "kind": arrays.column(segments.kind[shown], pa.int8()),
        "expandable": arrays.column(segments.expandable[shown], pa.uint8()),
        "birth": arrays.column(segments.birth[shown], wide),
        "ranges": arrays.column(segments.ranges[shown], narrow),
        "blocks": arrays.column(segments.blocks[shown], narrow),
        "holes": arrays.column(segments.holes[shown], narrow),
        "largest_offset": arrays.column(largest[shown], wide),
    }
    for name in ("used", "requested", "pending", "largest_free"):
        columns[name] = arrays.column(getattr(segments, name)[shown], wide)
    return columns


def _places(size: IntArray, group: IntArray) -> IntArray:
    """Where every segment begins on the line of all of them, which goes group by group."""
    order = np.argsort(group, kind="stable")
    place = np.empty_like(size)
    place[order] = np.cumsum(size[order]) - size[order]
    return place


def _largest_offsets(state: SegmentState) -> IntArray:
    """Where in every segment its (first) largest free range begins; -1 in one that is full."""
    holes = state.holes
    found = np.full(len(state.segments.size), -1, dtype=np.int64)
    largest = holes.size == state.segments.largest_free[holes.segment]
    found[holes.segment[largest][::-1]] = holes.offset[largest][::-1]
    return found
