"""What is free under a point of the picture by address, at one moment, to the byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.segment_state import SegmentState, segment_state
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.tile import extents
from tb_memory_plugin.views.words import hexadecimal


def under(
    recording: Recording, device: Device, *, at: str, place: int, pixel: int = 1
) -> dict[str, Any]:
    """The answer of ``GET hole``: what is free in ``place`` … ``place + pixel`` at ``at``.

    Places are bytes from the bottom of the picture by address. Of several free ranges it is the
    one that has most of the pixel; where there is none, ``block`` is what has most of it. Both are
    told whole, and so is the segment they are in, as in the state of the segments at that event.
    Raises QueryError.
    """
    event = resolve(recording, device, at).event
    state = segment_state(recording, device, event)
    holes, blocks = state.holes, state.blocks
    start = extents.place_of(recording, device, state.segments.address)
    found = _most(start[holes.segment] + holes.offset, holes.size, place, pixel)
    answer: dict[str, Any] = {"event": event, "holes": len(found), "hole": None, "block": None}
    if len(found):
        answer["hole"] = _range(state, start, holes.segment, holes.offset, holes.size, found[0])
        return answer
    found = _most(start[blocks.segment] + blocks.offset, blocks.size, place, pixel)
    if len(found):
        row = found[0]
        answer["block"] = {
            **_range(state, start, blocks.segment, blocks.offset, blocks.size, row),
            "requested": int(blocks.requested[row]),
            "allocation": str(blocks.allocation[row]),
        }
    return answer


def _most(begin: IntArray, size: IntArray, place: int, pixel: int) -> list[int]:
    """The ranges in the pixel, the one that has most of it first."""
    overlap = np.minimum(begin + size, place + pixel) - np.maximum(begin, place)
    inside = np.flatnonzero(overlap > 0)
    order = np.lexsort((begin[inside], -size[inside], -overlap[inside]))
    found: list[int] = inside[order].tolist()
    return found


def _range(
    state: SegmentState,
    start: IntArray,
    segment: IntArray,
    offset: IntArray,
    size: IntArray,
    row: int,
) -> dict[str, Any]:
    number, off = int(segment[row]), int(offset[row])
    segments = state.segments
    address = int(segments.address[number])
    return {
        "address": hexadecimal(address + off),
        "place": int(start[number]) + off,
        "size": int(size[row]),
        "segment": {
            "address": hexadecimal(address),
            "size": int(segments.size[number]),
            "free": int(segments.free[number]),
        },
    }
