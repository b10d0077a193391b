"""A source as it lies there now, made into the key its recording is kept under."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from tb_memory_plugin import __version__
from tb_memory_plugin.analysis import ANALYSIS_VERSION
from tb_memory_plugin.readers.opening import HEAD, regular_file
from tb_memory_plugin.recording.schema import SCHEMA_VERSION


@dataclass(frozen=True)
class Stat:
    """What tells one content of a file from another without reading it."""

    size: int
    modified_ns: int

    @staticmethod
    def of(found: os.stat_result) -> Stat:
        return Stat(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True)
class Keyed:
    """A file's key, and the state it was in when the key was made."""

    key: str
    stat: Stat


def key_of(path: Path, address: str | None = None) -> Keyed:
    """The key of a local file. Raises SourceError unless it is one that can be read.

    ``address`` is where it is from, if not from ``path``. The key tells address, size, time of
    modification, both ends of the content, and the versions of all that made the recording.
    """
    digest = hashlib.blake2b(digest_size=10)
    with regular_file(path, path.name) as file:
        found = os.fstat(file.fileno())
        head = file.read(HEAD)
        file.seek(max(0, found.st_size - HEAD))
        tail = file.read(HEAD)
    stat = Stat.of(found)
    versions = [__version__, SCHEMA_VERSION, ANALYSIS_VERSION]
    where = os.path.realpath(path) if address is None else address
    # A fetched copy has the time it was fetched at; its address then tells the versions apart.
    about = [where, stat.size, stat.modified_ns if address is None else 0, *versions]
    digest.update(json.dumps(about).encode())
    digest.update(hashlib.blake2b(head).digest())
    digest.update(hashlib.blake2b(tail).digest())
    return Keyed(digest.hexdigest(), stat)
