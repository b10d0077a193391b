"""Rows of the tables of a compiler's plan, collected module after module."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.schema import RECORDED

#: Tables of a plan.
TABLES = ("modules", "instructions", "buffer_allocations", "buffers", "heap")
#: Integers of which -1 stands for none.
_OPTIONAL = {
    *("stack", "position", "instruction", "allocation", "unpadded", "bytes", "parameter"),
    *("shares", "scoped_bytes"),
}


class Rows:
    """Rows of one table, column by column; -1 stands for none in a column that may have none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.columns: dict[str, list[Any]] = {column: [] for column in RECORDED[name].names}
        self._first = next(iter(self.columns.values()))
        self._appends = [column.append for column in self.columns.values()]

    def __len__(self) -> int:
        return len(self._first)

    def add(self, **values: Any) -> int:
        """Add a row, its values in the order of the schema; its number."""
        row = len(self._first)
        if not row and [*values] != [*self.columns]:
            raise TypeError(f"columns of table {self.name} in another order: {[*values]}")
        for append, value in zip(self._appends, values.values(), strict=True):
            append(value)
        return row

    def cut(self, length: int) -> None:
        """Take back all rows from ``length`` on."""
        for column in self.columns.values():
            del column[length:]

    def table(self) -> pa.Table:
        """The table of all rows."""
        schema = RECORDED[self.name]
        return builder.table(
            self.name,
            {
                name: _column(name, schema.field(name).type, self.columns[name])
                for name in schema.names
            },
        )


def _column(name: str, kind: pa.DataType, values: list[Any]) -> Any:
    if not pa.types.is_integer(kind):
        return pa.array(values, kind) if pa.types.is_list(kind) else values
    whole = np.array(values, dtype=np.dtype(str(kind)))
    return (whole, whole < 0) if name in _OPTIONAL else whole
