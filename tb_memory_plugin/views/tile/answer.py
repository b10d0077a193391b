"""The tables of a tile, made into one answer (docs/architecture.md has the format)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.views import ipc
from tb_memory_plugin.views.tile.gaps import Changes
from tb_memory_plugin.views.tile.lives import Lives
from tb_memory_plugin.views.tile.mapped import Mapped
from tb_memory_plugin.views.tile.merged import Merged
from tb_memory_plugin.views.tile.seen import Seen

_U8, _U16, _I32, _I64 = pa.uint8(), pa.uint16(), pa.int32(), pa.int64()


@dataclass(frozen=True)
class Columns:
    """One element a bin that has a value; ``time`` is an Arrow array, null without time stamps."""

    begin: IntArray
    event: IntArray
    time: pa.Array
    total: IntArray
    count: IntArray
    base: IntArray


@dataclass(frozen=True)
class Picture:
    """What a layout made of the lives.

    ``offset`` is that of every row, ``merged_offset`` that of every cell, None for those on top.
    ``hidden`` lives, ``hidden_bytes`` together, are too many to be drawn by themselves.
    """

    rows: Seen
    offset: IntArray
    base: IntArray
    gaps: Changes
    merged: Merged
    merged_offset: IntArray | None
    hidden: int
    hidden_bytes: int


def content(of: Lives, columns: Columns, picture: Picture, about: dict[str, Any]) -> bytes:
    """The four streams of ``GET tile``."""
    rows, gaps, merged = picture.rows, picture.gaps, picture.merged
    at = picture.merged_offset
    parts = [
        ipc.stream(
            {
                "begin": arrays.column(columns.begin, _I64),
                "event": arrays.column(columns.event, _I64),
                "time": columns.time,
                "total": arrays.column(columns.total, _I64),
                "count": arrays.column(columns.count, _I64),
                "base": arrays.column(columns.base, _I64),
            },
            "tile",
            about,
        ),
        ipc.stream(
            {
                "allocation": arrays.column(rows.row + of.start, _I32),
                "first": arrays.column(rows.first, _U16),
                "last": arrays.column(rows.last, _U16),
                "bytes": arrays.column(of.bytes[rows.row], _I64),
                "band": arrays.column(of.band[rows.row], _U8),
                "hit": arrays.column(hit(of, rows.row), _U8),
                "offset": arrays.column(picture.offset, _I64),
                **_lasting(of, rows.row),
            }
        ),
        ipc.stream(
            {
                "slot": arrays.column(gaps.slot, _I32),
                "part": arrays.column(gaps.part, _I32),
                "band": arrays.column(gaps.band, _U8),
                "hit": arrays.column(gaps.hit, _U8),
                "mixed": arrays.column(gaps.mixed, _U8),
                "column": arrays.column(gaps.column, _U16),
                "bytes": arrays.column(gaps.bytes, _I64),
                "count": arrays.column(gaps.count, _I32),
            }
        ),
        ipc.stream(
            {
                "column": arrays.column(merged.column, _U16),
                "band": arrays.column(merged.band, _U8),
                "bytes": arrays.column(merged.bytes, _I64),
                "count": arrays.column(merged.count, _I32),
                "allocation": arrays.column(
                    np.where(merged.one < 0, -1, merged.one + of.start), _I32
                ),
                "hit": arrays.column(merged.hit, _U8),
                **({} if at is None else _placed(merged, at)),
            }
        ),
    ]
    return ipc.joined(parts)


def hidden(picture: Picture, ranges: Mapped | None) -> dict[str, int]:
    """What was too much for one answer."""
    return {
        "rows": picture.hidden,
        "bytes": picture.hidden_bytes,
        "left": picture.merged.left,
        "left_bytes": picture.merged.left_bytes,
        "ranges": ranges.left if ranges else 0,
        "range_bytes": ranges.left_bytes if ranges else 0,
    }


def _lasting(of: Lives, row: IntArray) -> dict[str, pa.Array]:
    """Which of the lives ``row`` are there from before the first event to the end, if any is."""
    found = (of.birth[row] < 0) & (of.death[row] == AFTER)
    return {"lasting": arrays.column(found, _U8)} if found.any() else {}


def _placed(merged: Merged, offset: IntArray) -> dict[str, pa.Array]:
    return {
        "offset": arrays.column(offset, _I64),
        "last": arrays.column(merged.last, _U16),
        "tall": arrays.column(merged.tall, _U16),
    }


def hit(of: Lives, row: IntArray) -> IntArray:
    """Which of the lives ``row`` are found; all where nothing is looked for."""
    return np.ones(len(row), dtype=bool) if of.hit is None else of.hit[row]
