"""Recorded tables as an earlier version wrote them, to tables with the columns of this one."""

from __future__ import annotations

import pyarrow as pa

from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.schema import RECORDED

#: What every version has written; a table without them is not one of ours.
_ALWAYS = frozenset(
    [
        "device",
        "action",
        "address",
        "size",
        "requested",
        "event",
        "segment",
        "state",
        "kind",
        "function",
        "file",
        "line",
        "frames",
        "begin",
        "end",
        "source",
        "target",
    ]
)


def carried_on(name: str, table: pa.Table) -> pa.Table:
    """``table`` with nulls for columns that came later, and integers as wide as they now are.

    Left as it is where that is not all that tells it from the recorded table ``name``. Raises
    ArrowException for a damaged table.
    """
    schema = RECORDED[name]
    kinds = {field.name: field.type for field in table.schema}
    added = set(schema.names) - set(kinds)
    if table.schema == schema or len(kinds) != table.num_columns or added & _ALWAYS:
        return table
    table.validate(full=True)
    columns = {}
    for column, kind in kinds.items():
        if column not in schema.names:
            return table
        if kind == schema.field(column).type:
            columns[column] = table.column(column)
        elif _widened(kind, schema.field(column).type):
            missing = ~arrays.valid(table, column)
            columns[column] = (arrays.values(table, column), missing)
        else:
            return table
    return builder.table(name, columns)


def _widened(old: pa.DataType, new: pa.DataType) -> bool:
    for signed in (pa.types.is_signed_integer, pa.types.is_unsigned_integer):
        if signed(old) and signed(new):
            return bool(old.bit_width < new.bit_width)
    return False
