"""Blocks of a state, those under a pixel merged with their neighbours in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.segment_state import SegmentState
from tb_memory_plugin.recording import arrays


@dataclass(frozen=True)
class Part:
    """What an answer is of: segments in its order, and a part of the line that all make.

    ``place`` is where each segment of the state begins on the line.
    """

    shown: IntArray
    place: IntArray
    begin: int
    end: int


def block_columns(
    state: SegmentState,
    part: Part,
    pixel: int,
    most: int,
    band: IntArray | None = None,
    passing: IntArray | None = None,
) -> tuple[int, dict[str, pa.Array]]:
    """The columns of the blocks in ``part``, and the pixel they are merged by.

    ``pixel`` is doubled until there are no more than ``most`` rows. ``band`` is the place of the
    group of each block; where it is given, so is a column of it, -1 for several. ``passing`` is
    which blocks pass a filter; where it is given, so is a column of how many bytes do.
    """
    shown, place, low, high = part.shown, part.place, part.begin, part.end
    blocks = state.blocks
    row = np.full(len(place), -1, dtype=np.int64)
    row[shown] = np.arange(len(shown))
    at = place[blocks.segment] + blocks.offset
    chosen = np.flatnonzero((row[blocks.segment] >= 0) & (at < high) & (at + blocks.size > low))
    chosen = chosen[np.argsort(row[blocks.segment[chosen]], kind="stable")]
    segment, offset, size = blocks.segment[chosen], blocks.offset[chosen], blocks.size[chosen]
    first = _first_of_runs(segment, offset, size, pixel)
    while len(first) > most and pixel < 1 << 61:
        pixel *= 2
        first = _first_of_runs(segment, offset, size, pixel)
    if not len(first):
        first = np.zeros(0, dtype=np.int64)
        sums = dict.fromkeys(("used", "requested", "pending", "inferred", "passing"), first)
        counts = extent = first
    else:
        stop = np.append(first[1:], len(chosen))
        counts = stop - first
        extent = offset[stop - 1] + size[stop - 1] - offset[first]
        values = {
            "used": size,
            "requested": blocks.requested[chosen],
            "pending": np.where(blocks.pending[chosen], size, 0),
            "inferred": blocks.inferred[chosen].astype(np.int64),
        }
        if passing is not None:
            values["passing"] = np.where(passing[chosen], size, 0)
        sums = {name: np.add.reduceat(value, first) for name, value in values.items()}
    single = np.where(counts == 1, blocks.allocation[chosen][first], -1)
    wide, narrow = pa.int64(), pa.int32()
    columns = {} if band is None else {"band": arrays.column(_bands(band[chosen], first), narrow)}
    if passing is not None:
        columns["passing"] = arrays.column(sums["passing"], wide)
    return pixel, {
        **columns,
        "segment": arrays.column(row[segment[first]], narrow),
        "offset": arrays.column(offset[first], wide),
        "size": arrays.column(extent, wide),
        "count": arrays.column(counts, narrow),
        "allocation": arrays.column(single, narrow),
        "inferred": arrays.column(sums["inferred"], narrow),
        **{name: arrays.column(sums[name], wide) for name in ("used", "requested", "pending")},
    }


def _bands(band: IntArray, first: IntArray) -> IntArray:
    """The band that all blocks of a run are of, -1 where they are of several."""
    if not len(first):
        return first
    least, most = np.minimum.reduceat(band, first), np.maximum.reduceat(band, first)
    found: IntArray = np.where(least == most, least, -1)
    return found


def _first_of_runs(segment: IntArray, offset: IntArray, size: IntArray, pixel: int) -> IntArray:
    """Where runs of blocks begin that are drawn as one: neighbours under a pixel, in the same."""
    if not len(segment):
        return np.zeros(0, dtype=np.int64)
    small, cell = size < pixel, offset // pixel
    same = (segment[1:] == segment[:-1]) & (cell[1:] == cell[:-1]) & small[1:] & small[:-1]
    return np.flatnonzero(np.append(True, ~same))
