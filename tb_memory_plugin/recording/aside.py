"""Tables that are not wanted for a while, kept in a file meanwhile, so that they take no memory."""

from __future__ import annotations

import contextlib
import mmap
import shutil
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple

import pyarrow as pa

#: Smaller tables are left where they are.
_LEAST = 16 << 20
_PIECE = 1 << 20


class _Kept(NamedTuple):
    """A table that was set aside, and where."""

    table: pa.Table
    file: IO[bytes]
    mapped: mmap.mmap


class _Aside(NamedTuple):
    folder: Path
    tables: list[_Kept]


_aside: ContextVar[_Aside | None] = ContextVar("aside", default=None)


@contextlib.contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Inside the block tables are set aside in nameless files of ``folder``."""
    aside = _Aside(folder, [])
    token = _aside.set(aside)
    try:
        yield
    finally:
        _aside.reset(token)
        for kept in aside.tables:
            kept.file.close()


def set_aside(table: pa.Table, least: int | None = None) -> pa.Table:
    """The same table, mapped from a file if it is large; itself where files are not wanted.

    Large is ``least`` bytes and more, or as many as is usual. Where a file cannot be written,
    memory has to do.
    """
    aside = _aside.get()
    if aside is None or table.nbytes < (_LEAST if least is None else least):
        return table
    try:
        file = tempfile.TemporaryFile(dir=aside.folder)  # noqa: SIM115
        with pa.ipc.new_stream(pa.PythonFile(file, mode="w"), table.schema) as writer:
            writer.write_table(table.combine_chunks())
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError:
        return table
    found = pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()
    aside.tables.append(_Kept(found, file, mapped))
    return found


def copy(table: pa.Table, file: BinaryIO) -> bool:
    """Whether ``table`` was set aside; its stream is then at the end of ``file``."""
    aside = _aside.get()
    for kept in () if aside is None else aside.tables:
        if kept.table is table:
            kept.file.seek(0)
            shutil.copyfileobj(kept.file, file, _PIECE)
            return True
    return False


def let_go() -> None:
    """Have no part of the tables set aside in memory; what is looked at comes back."""
    aside = _aside.get()
    for kept in () if aside is None else aside.tables:
        if hasattr(mmap, "MADV_DONTNEED"):
            kept.mapped.madvise(mmap.MADV_DONTNEED)
