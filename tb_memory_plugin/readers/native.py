"""Recordings this package's recorder wrote (``*.tbmem``), checked and without derived tables."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from tb_memory_plugin.errors import ContainerError, SourceError
from tb_memory_plugin.readers import earlier, opening
from tb_memory_plugin.readers.native_meta import meta_fault
from tb_memory_plugin.recording import builder, container
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.recording import Recording, open_recording
from tb_memory_plugin.recording.schema import RECORDED

FORMAT = "native"
SUFFIX = ".tbmem"

T = TypeVar("T")

_REMEDY = "copy the file again, whole, or record it again"
#: Columns that are rows of another table.
_ROWS = {
    "stack": "stacks",
    "forward_stack": "stacks",
    "segment": "segments",
    "parent": "spans",
    "span": "spans",
    "source": "spans",
    "target": "spans",
}
_GROUPED = ("events", "labels", "blocks", "segments")


def matches(name: str, head: bytes) -> bool:
    """Whether a file of this name and first bytes is one of ours, readable or not."""
    return name.endswith(SUFFIX) or head.startswith(container.MAGIC)


def probe(path: Path) -> dict[str, Any]:
    """``meta`` of the recording and ``bytes`` of the file. Raises SourceError."""
    with opening.regular_file(path, path.name) as file:
        size = os.fstat(file.fileno()).st_size
        # The directory only: tables are not unpacked, nor trusted, outside of a child process.
        meta = _or_sentence(path, lambda: container.open_mapped(path)[0]["meta"])
    if not isinstance(meta, dict):
        raise SourceError(path.name, "holds no valid directory", _REMEDY)
    return {"meta": meta, "bytes": size}


def read(path: Path, progress: Callable[[float, str], None] | None = None) -> Recording:
    """The recorded tables in ``path``. Raises SourceError."""
    if progress is not None:
        progress(0.0, "reading")
    with opening.regular_file(path, path.name):
        recording = _or_sentence(path, lambda: _opened(path))
    fault = _fault(recording)
    if fault is not None:
        raise SourceError(path.name, fault, _REMEDY)
    return builder.recording({**recording.meta, "source": path.name}, recording.tables)


def _opened(path: Path) -> Recording:
    recorded = open_recording(path, check=True).only_recorded()
    tables = recorded.tables.items()
    return recorded.with_tables({name: earlier.carried_on(name, table) for name, table in tables})


def _or_sentence(path: Path, work: Callable[[], T]) -> T:
    try:
        return work()
    except ContainerError as error:
        sentence = str(error).removeprefix(f"{path.name}: ").rstrip(".")
        fault, _, remedy = sentence.partition("; ")
        raise SourceError(path.name, fault, remedy or _REMEDY) from error
    # The directory's checksum holds, but what it says is not what this package writes.
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, struct.error) as error:
        raise SourceError(path.name, "holds no valid directory", _REMEDY) from error
    except (pa.ArrowException, MemoryError, OSError) as error:
        raise SourceError(path.name, "holds a damaged table", _REMEDY) from error


def _fault(recording: Recording) -> str | None:
    """What makes the tables unfit for analysis, None if nothing does."""
    fault = meta_fault(recording.meta)
    if fault is not None:
        return fault
    devices = recording.meta["devices"]
    for name, table in recording.tables.items():
        if table.schema != RECORDED[name]:
            return f"has a table {name} with other columns than this version's"
        try:
            table.validate(full=True)
        except (pa.ArrowException, ValueError):
            return f"has a damaged table {name}"
    for name in _GROUPED:
        column = recording.values(name, "device")
        if len(column) and (column.min() < 0 or column.max() >= len(devices)):
            return f"has rows of no device in its table {name}"
        if (np.diff(column) < 0).any():
            return f"has rows out of order in its table {name}"
    for name in ("spans", "marks"):
        if _strays(recording.values(name, "device"), len(devices), none=-1):
            return f"has rows of no device in its table {name}"
    return _stray_row(recording) or _circle(recording)


def _stray_row(recording: Recording) -> str | None:
    for name, table in recording.tables.items():
        for column, target in _ROWS.items():
            if column in table.schema.names:
                rows = recording.values(name, column)
                if _strays(rows, recording.table(target).num_rows, none=-1):
                    return f"refers from {name} to rows that {target} does not have"
        if "pool" in table.schema.names:
            rows = recording.values(name, "pool")
            if _strays(rows, len(recording.meta.get("pools", [])), none=-1):
                return f"refers from {name} to pools that it does not name"
    frames = recording.table("stacks").column("frames").combine_chunks().flatten()
    known = recording.table("frames").num_rows
    if frames.null_count or _strays(frames.to_numpy(zero_copy_only=False), known, none=0):
        return "refers from stacks to rows that frames does not have"
    return None


def _circle(recording: Recording) -> str | None:
    parent = recording.values("spans", "parent")
    reached = np.append(parent, np.int32(-1))
    for _ in range(len(parent).bit_length()):  # twice as far each time
        reached = reached[reached]
    return "has spans that are inside of each other" if (reached >= 0).any() else None


def _strays(rows: IntArray, count: int, *, none: int) -> bool:
    return bool(len(rows)) and bool(rows.min() < none or rows.max() >= count)
