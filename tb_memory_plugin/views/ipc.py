"""Columns, made into the bytes of Arrow IPC streams."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa


def stream(columns: Mapping[str, pa.Array], name: str = "", about: Any = None) -> bytes:
    """One Arrow IPC stream; ``about`` is kept in its schema's metadata, as JSON, under ``name``."""
    table = pa.table(dict(columns))
    if name:
        table = table.replace_schema_metadata({name: json.dumps(about, allow_nan=False)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def joined(streams: Sequence[bytes]) -> bytes:
    """Several streams in one answer, each after its length as a little-endian uint32."""
    return b"".join(len(each).to_bytes(4, "little") + each for each in streams)
