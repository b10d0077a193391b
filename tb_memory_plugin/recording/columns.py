"""Types of columns, and how the schema of a table is written down."""

from __future__ import annotations

import pyarrow as pa

I8, I16, I32, I64, U64 = pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint64()
TEXT = pa.dictionary(pa.int32(), pa.string())
BOOL = pa.bool_()


def schema(**columns: pa.DataType) -> pa.Schema:
    """The schema of a table with ``columns``, in that order."""
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])
