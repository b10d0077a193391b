"""Tables that are not wanted for a while, kept in a file meanwhile, so that they take no memory."""

from __future__ import annotations

import contextlib
import mmap
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import pyarrow as pa

#: Smaller tables are left where they are.
_LEAST = 16 << 20

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)


@contextlib.contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Inside the block tables are set aside in nameless files of ``folder``."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def set_aside(table: pa.Table) -> pa.Table:
    """The same table, mapped from a file if it is large; itself where files are not wanted.

    Where a file cannot be written, memory has to do.
    """
    folder = _folder.get()
    if folder is None or table.nbytes < _LEAST:
        return table
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            with pa.ipc.new_stream(pa.PythonFile(file, mode="w"), table.schema) as writer:
                writer.write_table(table.combine_chunks())
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError:
        return table
    return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()
