"""A file on disk to a stream of its bytes, inflated, counted, and bounded while it is read."""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers.checked import Malformed

GZIP_MAGIC = b"\x1f\x8b"
HEAD = 65_536
_BUFFER = 1 << 20
_GZIP_WINDOW = 31  # zlib's number for a gzip header and checksum
# Towers of tuples in a pickle (TUPLE1, or None and TUPLE2; MEMOIZE): no snapshot has them, neither
# as numbers nor as text. Others than these plain ones end the process, which the store reports.
_TOWERS = tuple(nest * 256 for nest in (b"\x85", b"\x85\x94", b"N\x86", b"N\x86\x94"))


@contextmanager
def regular_file(path: Path, name: str) -> Iterator[io.FileIO]:
    """``path`` opened for reading. Raises SourceError unless it is a file with bytes in it.

    An error of the operating system inside the block is a SourceError too.
    """
    name = name or str(path)  # a folder's may be empty
    if "\0" in str(path):
        raise SourceError(name, "is not the name of a file", "leave out the null character")
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(name, "is a folder", "name the recording's own file in it")
        if not stat.S_ISREG(mode):
            raise SourceError(name, "is not a regular file", "put the recording's own file there")
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise SourceError(
                    name,
                    "is empty (0 bytes): the job that wrote it ended or ran out of disk",
                    "record it again",
                )
            yield file
    except FileNotFoundError as error:
        raise SourceError(
            name, "is not there (or is a link to nothing)", "put the file back or remove the link"
        ) from error
    except PermissionError as error:
        raise SourceError(
            name, "may not be read by this user", "give read permission to the file and its folder"
        ) from error
    except OSError as error:
        raise SourceError(
            name, f"cannot be read ({error.strerror or error})", "check the disk and try again"
        ) from error


class Stream(io.RawIOBase):
    """The bytes of ``file``, inflated if it is gzip.

    Raises Malformed when there are more than ``limit`` inflated bytes, and when the bytes can
    only be a tower of nested tuples (hashing one overruns the C stack). ``seen(fraction, bytes)``
    is called as bytes pass: the part of the file consumed, and how many came out so far.
    """

    def __init__(self, file: io.FileIO, limit: int, seen: Callable[[float, int], None]) -> None:
        self._size = max(1, os.fstat(file.fileno()).st_size)
        head = file.read(len(GZIP_MAGIC))
        file.seek(0)
        self.compressed = head == GZIP_MAGIC
        self._raw: Any = _Inflater(file) if self.compressed else file
        self._file = file
        self._limit = limit
        self._seen = seen
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._raw.readinto(buffer)
        self.count += count
        if self.compressed and self.count > self._limit:
            raise Malformed(
                f"unpacks to more than {self._limit >> 20} MiB, the most that may be unpacked here"
            )
        chunk = bytes(memoryview(buffer)[:count])
        if any(tower in chunk for tower in _TOWERS):
            raise Malformed("is nested too deeply")
        self._seen(min(1.0, self._file.tell() / self._size), self.count)
        return count


class _Inflater:
    """``readinto`` over the members of a gzip file."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._inflate: Any = zlib.decompressobj(_GZIP_WINDOW)
        self._waiting = b""
        self._at_end = False

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        while not self._at_end:
            waiting = self._waiting or self._file.read(_BUFFER) or b""
            try:
                data = self._inflate.decompress(waiting, len(view))
            except zlib.error as error:
                raise Malformed(f"is damaged: its gzip data is not valid ({error})") from None
            self._waiting = self._inflate.unconsumed_tail
            if self._inflate.eof:
                self._next_member()
            elif not waiting and not data:
                raise Malformed("ends in the middle: it was cut off or is still being written")
            if data:
                view[: len(data)] = data
                return len(data)
        return 0

    def _next_member(self) -> None:
        rest = (self._inflate.unused_data or self._file.read(_BUFFER) or b"").lstrip(b"\0")
        self._waiting = rest
        self._at_end = not rest.startswith(GZIP_MAGIC)
        self._inflate = zlib.decompressobj(_GZIP_WINDOW)


def inflated_head(head: bytes) -> bytes:
    """The first bytes of a file from its ``head``, inflated if it is gzip; empty if damaged."""
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return zlib.decompressobj(_GZIP_WINDOW).decompress(head, HEAD)
    except zlib.error:
        return b""


def check_unchanged(name: str, before: os.stat_result, after: os.stat_result) -> None:
    """Raises SourceError where a file was written to between two looks at it."""
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise SourceError(
            name, "changed while it was read", "open it again when the job has written all of it"
        )


def out_of_memory(name: str) -> SourceError:
    """The error for a file that asks for more memory than it may take."""
    return SourceError(
        name,
        "asks for more memory than a file of its size can need, or than there is",
        "read it on a machine with more memory; if it is small, it is damaged or hostile",
    )
