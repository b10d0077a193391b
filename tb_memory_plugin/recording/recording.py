"""A recording in memory or mapped from its file: named tables and a document of facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from tb_memory_plugin.errors import ContainerError
from tb_memory_plugin.recording import arrays, aside, container
from tb_memory_plugin.recording.schema import RECORDED, SCHEMA_VERSION, SCHEMAS


@dataclass(frozen=True)
class Device:
    """One memory that fills up, as ``meta["devices"]`` describes it."""

    index: int  # place in meta["devices"], the value of the tables' device column
    key: str  # how the source names it: "0", "CUDA:0"
    name: str  # how people name it: "cuda:0"
    capacity: int | None = None  # bytes, where the source says


@dataclass(frozen=True)
class Recording:
    """The tables of a recording (see ``schema``) and its ``meta`` (see docs/architecture.md)."""

    meta: Mapping[str, Any]
    tables: Mapping[str, pa.Table] = field(repr=False)

    def table(self, name: str) -> pa.Table:
        """The table ``name``; without rows where the recording has none."""
        found = self.tables.get(name)
        # Not Schema.empty_table(), which imports pandas.
        return pa.Table.from_batches([], SCHEMAS[name]) if found is None else found

    def values(self, table: str, column: str, device: Device | None = None) -> arrays.IntArray:
        """An integer column (codes, for text) as numpy, of one device where given.

        No copy; nulls read as ``schema.sentinel(column)``.
        """
        whole = arrays.values(self.table(table), column)
        return whole if device is None else whole[self.rows(table, device)]

    def rows(self, table: str, device: Device) -> slice:
        """Where the rows of ``device`` lie in a device-grouped table."""
        bounds = self._bounds(table)
        return slice(int(bounds[device.index]), int(bounds[device.index + 1]))

    def _bounds(self, table: str) -> arrays.IntArray:
        found: arrays.IntArray | None = self._device_bounds.get(table)
        if found is None:
            column = arrays.values(self.table(table), "device")
            # Of its own type, or numpy makes a wider copy of the whole column first.
            edges = np.arange(len(self.devices) + 1, dtype=column.dtype)
            found = np.searchsorted(column, edges)
            self._device_bounds[table] = found
        return found

    @cached_property
    def _device_bounds(self) -> dict[str, arrays.IntArray]:
        return {}

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """The devices, in the order of the tables."""
        return tuple(
            Device(index, entry["key"], entry["name"], entry.get("capacity"))
            for index, entry in enumerate(self.meta["devices"])
        )

    def device(self, key: str) -> Device:
        """The device with ``key``. Raises KeyError."""
        for device in self.devices:
            if device.key == key:
                return device
        raise KeyError(key)

    def beside(self, name: str, make: Callable[[], Recording]) -> Recording:
        """Another recording, which ``make`` makes of the tables of this one: made once."""
        found = self._beside.get(name)
        if found is None:
            found = self._beside.setdefault(name, make())
        return found

    @cached_property
    def _beside(self) -> dict[str, Recording]:
        return {}

    def with_tables(self, tables: Mapping[str, pa.Table]) -> Recording:
        """This recording with ``tables`` added or replaced."""
        return Recording(self.meta, {**self.tables, **tables})

    def only_recorded(self) -> Recording:
        """This recording without its derived tables."""
        return Recording(self.meta, {n: t for n, t in self.tables.items() if n in RECORDED})


def save(recording: Recording, path: Path, *, compress: bool = False) -> None:
    """Write ``recording`` to ``path`` in one file, atomically.

    ``compress`` (zstd, each buffer) makes small files with checksums, that travel well
    and cannot be mapped.
    """
    document = {"schema": SCHEMA_VERSION, "meta": dict(recording.meta)}
    buffers = {name: _content(table, compress) for name, table in recording.tables.items()}
    container.write(path, document, buffers)


def open_recording(path: Path, *, check: bool = False) -> Recording:
    """The recording in ``path``, memory-mapped. Raises ContainerError, OSError.

    ``check`` reads the whole file and refuses it where it is not what was written.
    """
    return _from_buffers(*container.open_mapped(path, check=check), path.name)


def _content(table: pa.Table, compress: bool) -> container.Content:
    whole = table.combine_chunks()
    if compress:
        sink = pa.BufferOutputStream()
        _write(sink, whole, pa.ipc.IpcWriteOptions(compression="zstd"))
        return memoryview(sink.getvalue())

    def write(file: BinaryIO) -> None:
        # Straight into the file: a buffer between would be as large as the table.
        if not aside.copy(table, file):
            _write(pa.PythonFile(file, mode="w"), whole, pa.ipc.IpcWriteOptions())

    return write


def _write(sink: pa.NativeFile, table: pa.Table, options: pa.ipc.IpcWriteOptions) -> None:
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)


def _from_buffers(
    document: Mapping[str, Any], buffers: Mapping[str, memoryview], name: str
) -> Recording:
    if document.get("schema", 0) > SCHEMA_VERSION:
        raise ContainerError(
            f"{name}: written by a newer version of tb_memory_plugin; upgrade to read it."
        )
    tables = {}
    for table, data in buffers.items():
        try:
            tables[table] = pa.ipc.open_stream(pa.py_buffer(data)).read_all()
        except (pa.ArrowInvalid, OSError) as error:
            raise ContainerError(f"{name}: its table {table} is damaged; copy it again.") from error
    return Recording(document["meta"], tables)
