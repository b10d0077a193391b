"""``tb-memory export``: every table of a recording as a Parquet file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin import __version__
from tb_memory_plugin.api import load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.folders import filled
from tb_memory_plugin.cli.writing import reason
from tb_memory_plugin.errors import QueryError, SourceError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.plan_schema import BufferKind, HeapKind
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import (
    SCHEMA_VERSION,
    SCHEMAS,
    Action,
    BlockState,
    Category,
)
from tb_memory_plugin.units import format_bytes

_META = "meta.json"
#: Columns of codes, which are words in the files.
_WORDS: dict[tuple[str, str], dict[int, str]] = {
    ("events", "action"): {int(code): code.name.lower() for code in Action},
    ("blocks", "state"): {int(code): code.name.lower() for code in BlockState},
    ("labels", "category"): {int(code): code.label for code in Category},
    ("allocations", "category"): {int(code): code.label for code in Category},
    **{
        (table, "kind"): {int(code): code.name.lower() for code in HeapKind}
        for table in ("heap", "plan_events")
    },
    ("buffer_allocations", "kind"): {int(code): code.label for code in BufferKind},
    ("frame_kinds", "kind"): dict(
        enumerate(("own", "library", "autograd node", "op", "other", "plumbing"))
    ),
}


def run(arguments: argparse.Namespace) -> int:
    """Write all tables of ``arguments.path`` to ``arguments.output``. Raises MemoryPluginError."""
    folder = Path(arguments.output)
    targets = [folder / f"{name}.parquet" for name in SCHEMAS] + [folder / _META]
    there = [target.name for target in targets if target.exists()]
    if there and not arguments.force:
        raise QueryError(
            f"{folder} holds {there[0]} already; choose another folder, or --force to replace it."
        )
    recording = load(arguments.path).recording
    try:
        with filled(folder) as fresh:
            _write(recording, fresh)
    except OSError as error:
        fault = f"cannot be written ({reason(error)})"
        remedy = "check the folder's permissions and space"
        raise SourceError(str(folder), fault, remedy) from error
    files = {target.name: target.stat().st_size for target in targets}
    if arguments.json:
        text.say_json({"folder": str(folder), "files": files})
        return 0
    rows = [[name, format_bytes(size)] for name, size in files.items()]
    for line in text.table(["file", "size"], rows, right=(1,)):
        text.say(line)
    return 0


def _write(recording: Recording, folder: Path) -> None:
    import pyarrow.parquet as parquet

    for name in SCHEMAS:
        table = _readable(name, recording.table(name))
        parquet.write_table(table, folder / f"{name}.parquet", compression="zstd")
    document = {
        "exporter": f"tb_memory_plugin {__version__}",
        "schema": SCHEMA_VERSION,
        "tables": {name: len(recording.table(name)) for name in SCHEMAS},
        "meta": dict(recording.meta),
    }
    (folder / _META).write_text(json.dumps(document, indent=2), encoding="utf-8")


def _readable(name: str, table: pa.Table) -> pa.Table:
    """A table with its row numbers, which other tables name, and with words for codes."""
    for (of, column), words in _WORDS.items():
        if of == name:
            place = table.schema.get_field_index(column)
            table = table.set_column(place, column, _spelled(table, column, words))
    rows = arrays.column(np.arange(len(table)), pa.int64())
    return table.add_column(0, "row", rows)


def _spelled(table: pa.Table, column: str, words: dict[int, str]) -> Any:
    codes: Sequence[int] = list(words)
    place = np.full(256, -1, dtype=np.int32)
    place[codes] = np.arange(len(codes))
    values = arrays.values(table, column).astype(np.int64)
    known = arrays.valid(table, column)
    return arrays.text(np.where(known, place[values & 0xFF], -1), list(words.values()))
