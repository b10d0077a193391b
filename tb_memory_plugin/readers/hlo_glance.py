"""Whether a file of an HLO module holds its plan, told without reading the module."""

from __future__ import annotations

import io
from pathlib import Path

from tb_memory_plugin.readers import opening

#: The field of ``HloProto`` that is the buffer assignment, and the wire type of messages.
_ASSIGNMENT, _MESSAGE = 3, 2
_MOST_FIELDS = 16
_LONGEST = 10  # bytes of a varint


def holds_plan(path: Path) -> bool | None:
    """Whether a module's file has a buffer assignment; None where that cannot be told cheaply.

    It cannot of compressed files, nor of what is no module. Raises SourceError where the file
    cannot be read.
    """
    with opening.regular_file(path, path.name) as file:
        size = file.seek(0, io.SEEK_END)
        place = 0
        for _ in range(_MOST_FIELDS):
            if place == size:
                return False
            file.seek(place)
            head = file.read(2 * _LONGEST)
            if place == 0 and head.startswith(opening.GZIP_MAGIC):
                return None
            tag, begin = _varint(head, 0)
            length, end = _varint(head, begin)
            if end < 0 or tag & 7 != _MESSAGE or place + end + length > size:
                return None
            if tag >> 3 == _ASSIGNMENT and length:
                return True
            place += end + length
    return None


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number that begins at ``place``, and where it ends; -1 where it, or ``place``, does not."""
    found = 0
    for at, byte in enumerate(data[place : place + _LONGEST] if place >= 0 else b""):
        found |= (byte & 127) << (7 * at)
        if byte < 128:
            return found, place + at + 1
    return 0, -1
