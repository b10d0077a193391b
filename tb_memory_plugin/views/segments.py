"""The allocator's state at an instant, made into what fits a screen: large blocks, merged small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import Instant, resolve, step_at
from tb_memory_plugin.analysis.places import Place
from tb_memory_plugin.analysis.segment_state import Segments, SegmentState, segment_state
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import ipc
from tb_memory_plugin.views.segments_blocks import block_columns

#: Segments and blocks that an answer may have.
MOST_SEGMENTS = 4_000
MOST_BLOCKS = 10_000
FORMULAS = {"reserved": "1 − allocated ÷ reserved", "free_list": "1 − largest free ÷ free"}


def window(
    recording: Recording,
    device: Device,
    *,
    at: str = "peak",
    pixel: int = 1,
    begin: int | None = None,
    end: int | None = None,
) -> bytes:
    """The two Arrow IPC streams of ``GET segments`` (docs/architecture.md has their columns).

    ``begin`` … ``end`` is the part wanted of the line that all segments make, one after the
    other; blocks under ``pixel`` bytes that begin in the same pixel of their segment are one.
    Raises QueryError.
    """
    instant = resolve(recording, device, at)
    state = segment_state(recording, device, instant.event)
    segments = state.segments
    place = np.cumsum(segments.size) - segments.size
    low, high = begin or 0, state.mapped if end is None else end
    inside = np.flatnonzero((place < high) & (place + segments.size > low))
    shown = inside
    if len(inside) > MOST_SEGMENTS:
        largest = np.argsort(-segments.size[inside], kind="stable")[:MOST_SEGMENTS]
        shown = inside[np.sort(largest)]
    groups, group = groups_of(recording, state)
    pixel, blocks = block_columns(state, shown, place, low, high, pixel, MOST_BLOCKS)
    about = {
        **described(recording, device, state, instant),
        "pools": groups,
        "kinds": arrays.words(recording.table("segment_lives"), "kind"),
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


def groups_of(recording: Recording, state: SegmentState) -> tuple[list[dict[str, Any]], IntArray]:
    """Sums of every pool and stream, in order, and which of these each segment is in."""
    segments = state.segments
    count = len(segments.size)
    if not count:
        return [], np.zeros(0, dtype=np.int64)
    new = (np.diff(segments.pool) != 0) | (segments.stream[1:] != segments.stream[:-1])
    first = np.append(0, np.flatnonzero(new) + 1)
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, count)))
    sums = {
        "reserved": np.add.reduceat(segments.size, first),
        "used": np.add.reduceat(segments.used, first),
        "requested": np.add.reduceat(segments.requested, first),
        "pending": np.add.reduceat(segments.pending, first),
        "free": np.add.reduceat(segments.free, first),
        "largest_free": np.maximum.reduceat(segments.largest_free, first),
        "segments": np.diff(np.append(first, count)),
        "blocks": np.add.reduceat(segments.blocks, first),
    }
    found = []
    for number, row in enumerate(first.tolist()):
        place = place_of(recording, segments, row)
        numbers = {name: int(values[number]) for name, values in sums.items()}
        found.append({"key": place.key, "label": place.label, **numbers})
    return found, group


def place_of(recording: Recording, segments: Segments, row: int) -> Place:
    """The pool and the stream of a segment."""
    pool = int(segments.pool[row])
    known = tuple(map(int, recording.meta["pools"][pool])) if pool >= 0 else None
    return Place((known[0], known[1]) if known else None, int(segments.stream[row]))


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


def _largest_offsets(state: SegmentState) -> IntArray:
    """Where in every segment its (first) largest free range begins; -1 in one that is full."""
    holes = state.holes
    found = np.full(len(state.segments.size), -1, dtype=np.int64)
    largest = holes.size == state.segments.largest_free[holes.segment]
    found[holes.segment[largest][::-1]] = holes.offset[largest][::-1]
    return found
