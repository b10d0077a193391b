"""One file that holds several byte buffers and a JSON document, written whole or not at all.

Layout: ``MAGIC``, then the buffers, each starting at a multiple of 64 bytes, then the directory
(JSON: version, document, name, offset, length of every buffer, and CRC-32 of those that were given
as bytes), then a footer of offset, length and CRC-32 of the directory and ``MAGIC`` again. The
footer is last, so a file that was cut off is recognised by its end.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import tempfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tb_memory_plugin.errors import ContainerError

MAGIC = b"TBMEM\x00\x00\x01"
CONTAINER_VERSION = 1
_ALIGNMENT = 64
_LONGEST_DIRECTORY = 64 << 20  # it names tables and says what a recording is, it holds no data
_FOOTER = struct.Struct("<QQI8s")

Content = bytes | memoryview | Callable[[BinaryIO], None]


def write(path: Path, document: Mapping[str, Any], buffers: Mapping[str, Content]) -> None:
    """Write ``document`` and ``buffers`` to ``path``: a temporary file beside it, then a rename.

    A buffer is its bytes, or what writes them to the end of the file it is given. Raises OSError;
    ``path`` then holds what it held before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC)
            entries = []
            checksums = {}
            for name, data in buffers.items():
                file.write(b"\0" * (-file.tell() % _ALIGNMENT))
                begin = file.tell()
                if callable(data):
                    data(file)
                else:
                    file.write(data)
                    checksums[name] = zlib.crc32(data)
                entries.append([name, begin, file.tell() - begin])
            content = {
                "version": CONTAINER_VERSION,
                "document": document,
                "buffers": entries,
                "checksums": checksums,
            }
            directory = json.dumps(content).encode()
            offset = file.tell()
            file.write(directory)
            file.write(_FOOTER.pack(offset, len(directory), zlib.crc32(directory), MAGIC))
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def open_mapped(path: Path, *, check: bool = False) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """The document and buffers of ``path``, memory-mapped (the mapping lives as long as they do).

    ``check`` reads all of the file and compares the checksums that are in it. Raises
    ContainerError for anything but a whole file of a known version, OSError otherwise.
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < len(MAGIC) + _FOOTER.size:
            raise ContainerError(f"{path.name}: too short to be a recording; record it again.")
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return parse(view, path.name, check=check)


def parse(
    view: memoryview, name: str, *, check: bool = False
) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """Like :func:`open_mapped` for bytes already at hand; ``name`` is for error messages."""
    if len(view) < len(MAGIC) + _FOOTER.size or bytes(view[: len(MAGIC)]) != MAGIC:
        raise ContainerError(f"{name}: not a recording of this package, or cut off.")
    offset, length, checksum, magic = _FOOTER.unpack(view[-_FOOTER.size :])
    if length > _LONGEST_DIRECTORY:
        raise ContainerError(f"{name}: the recording's directory is damaged; copy it again.")
    if magic != MAGIC or offset + length + _FOOTER.size != len(view):
        raise ContainerError(f"{name}: the end of the recording is missing; copy it again whole.")
    directory = bytes(view[offset : offset + length])
    if zlib.crc32(directory) != checksum:
        raise ContainerError(f"{name}: the recording's directory is damaged; copy it again.")
    content = json.loads(directory)
    if content["version"] > CONTAINER_VERSION:
        raise ContainerError(
            f"{name}: written by a newer version of tb_memory_plugin; upgrade to read it."
        )
    buffers = {}
    for entry, start, size in content["buffers"]:
        if start < 0 or size < 0 or start + size > offset:
            raise ContainerError(f"{name}: the recording's directory is damaged; copy it again.")
        buffers[entry] = view[start : start + size]
    # Files that travel have checksums; files of the cache, and those of earlier versions, none.
    for entry, known in content.get("checksums", {}).items() if check else ():
        if zlib.crc32(buffers[entry]) != known:
            raise ContainerError(f"{name}: its table {entry} is damaged; copy it again.")
    return content["document"], buffers
