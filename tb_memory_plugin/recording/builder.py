"""Columns as readers find them, made into the tables of a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import SCHEMAS, BlockState


def table(name: str, columns: Mapping[str, Any]) -> pa.Table:
    """The table ``name`` from its ``columns``; columns not given are null.

    A column is an Arrow array of the schema's type, anything ``pa.array`` makes one of, or, for
    integer columns, a numpy array or a pair (numpy array, mask of the nulls). Raises ValueError
    for unknown columns and for unequal lengths.
    """
    schema = SCHEMAS[name]
    unknown = set(columns) - set(schema.names)
    if unknown:
        raise ValueError(f"table {name} has no columns {sorted(unknown)}")
    made = {
        column: _column(schema.field(column).type, data, column) for column, data in columns.items()
    }
    lengths = {len(array) for array in made.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns of table {name} have lengths {sorted(lengths)}")
    length = lengths.pop() if lengths else 0
    return pa.table(
        [
            made[field.name] if field.name in made else arrays.nulls(length, field.type, field.name)
            for field in schema
        ],
        schema=schema,
    )


def summed_blocks(rest: Sequence[int]) -> pa.Table:
    """The table ``blocks`` where only sums are known: what stays alive of each device, as one."""
    places = [place for place, alive in enumerate(rest) if alive]
    return table(
        "blocks",
        {
            "device": np.array(places, dtype=np.int16),
            "size": np.array([rest[place] for place in places], dtype=np.int64),
            "state": np.full(len(places), int(BlockState.ACTIVE), dtype=np.uint8),
        },
    )


def _column(kind: pa.DataType, data: Any, name: str) -> pa.Array:
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        array = data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data
        return array if array.type == kind else array.cast(kind)
    if isinstance(data, tuple) and len(data) == 2 and pa.types.is_integer(kind):
        return arrays.column(data[0], kind, data[1], name)
    if pa.types.is_dictionary(kind):
        return arrays.encoded_text(data)
    if pa.types.is_boolean(kind) and not hasattr(data, "dtype"):
        return arrays.booleans(data)
    if pa.types.is_integer(kind) and hasattr(data, "dtype"):
        return arrays.column(data, kind, None, name)
    if pa.types.is_integer(kind):
        missing = [value is None for value in data]
        return arrays.column([value or 0 for value in data], kind, missing, name)
    return pa.array(data, kind)


def recording(meta: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Recording:
    """A recording of ``tables`` with the keys every ``meta`` has, at their defaults.

    ``meta`` must give ``format``, ``basis`` and ``devices`` (dicts of ``key``, ``name`` and,
    where known, ``type``, ``ordinal``, ``capacity``). Raises KeyError if one is missing.
    """
    defaults: dict[str, Any] = {
        "time_origin_ns": None,  # int; None: no time stamps, no time axis
        "clock": None,  # "unix"
        "source": None,  # the file's name
        "host": None,
        "rank": None,
        "pid": None,
        "pools": [],  # [[int, int], …]
        "allocator_settings": None,
        "versions": {},
        "missing": [],  # dicts of "what", "why", "remedy": what is not in it and why
        "problems": [],  # sentences: what is odd about the source
        "has_history": True,  # False: end state only
    }
    for key in ("format", "basis", "devices"):
        if key not in meta:
            raise KeyError(key)
    return Recording({**defaults, **meta}, dict(tables))
