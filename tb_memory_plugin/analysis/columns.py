"""Columns of one device with their nulls, and tables made by joining those of all devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.schema import SCHEMAS, sentinel

#: Values, and which of them are null. Of text columns the values are codes.
Column = tuple[IntArray, IntArray]
#: A column, or what makes it: so that not all columns of a table are in memory twice.
Made = Column | Callable[[], Column]


def known(values: IntArray) -> Column:
    """A column without nulls."""
    return values, np.zeros(len(values), dtype=bool)


def coded(values: IntArray, missing: int = -1) -> Column:
    """A column that is null where ``missing`` stands."""
    return values, values == missing


def either(first: IntArray, second: IntArray) -> IntArray:
    """``first``, or ``second`` where that is -1."""
    return np.where(first >= 0, first, second)


def picked(column: IntArray, rows: IntArray, missing: int = -1) -> IntArray:
    """``column[rows]``, and ``missing``, which the column's type must hold, where a row is -1."""
    if not len(column):
        return np.full(len(rows), missing, dtype=column.dtype)
    return np.where(rows >= 0, column[rows], column.dtype.type(missing))


def ordinals(values: IntArray) -> IntArray:
    """Ordinals of ends of lives as rows: -1 where the life did not end."""
    return np.where(values == sentinel("death"), -1, values)


def joined(
    name: str,
    parts: Sequence[Mapping[str, Made]],
    words: Mapping[str, list[str]],
) -> pa.Table:
    """The table ``name``, the rows of each device after those of the one before.

    ``words`` gives the dictionaries of the text columns. Columns that no part has are null.
    """
    schema = SCHEMAS[name]
    columns: dict[str, Any] = {}
    counts: list[int] = []
    for column in parts[0] if parts else ():
        made = [_made(part[column]) for part in parts]
        counts = [len(values) for values, _ in made]
        values, missing = (_concatenated([each[place] for each in made]) for place in (0, 1))
        del made
        kind = schema.field(column).type
        if pa.types.is_dictionary(kind):
            columns[column] = arrays.text(np.where(missing, -1, values), words[column])
        elif pa.types.is_boolean(kind):
            columns[column] = arrays.masked_booleans(values, missing)
        else:
            columns[column] = arrays.column(values, kind, missing, column)
    if parts:
        columns["device"] = np.repeat(np.arange(len(parts), dtype=np.int16), counts)
    return builder.table(name, columns)


def _made(column: Made) -> Column:
    return column() if callable(column) else column


def _concatenated(parts: Sequence[IntArray]) -> IntArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
