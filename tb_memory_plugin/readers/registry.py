"""The formats that can be read. Adding one is a module of this package and a line here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tb_memory_plugin.readers import (
    hlo,
    jax_pprof,
    kineto_trace,
    memory_timeline,
    native,
    nsys,
    torch_snapshot,
    xplane,
)
from tb_memory_plugin.recording.recording import Recording


class Reader(Protocol):
    """What a reader's module offers."""

    #: Name of the format, as ``meta["format"]`` has it.
    FORMAT: str

    def matches(self, name: str, head: bytes) -> bool:
        """Whether a file of this name and first bytes is of the format. No I/O."""

    def probe(self, path: Path) -> dict[str, Any]:
        """What can be told cheaply of a file. Raises SourceError."""

    def read(self, path: Path, progress: Callable[[float, str], None] | None = None) -> Recording:
        """The recorded tables of a file; called in a child process only. Raises SourceError."""


#: Asked in this order; the first that matches reads the file.
READERS: tuple[Reader, ...] = (
    native,
    torch_snapshot,
    jax_pprof,
    kineto_trace,
    memory_timeline,
    hlo,
    xplane,
    nsys,
)


def reader_of(name: str, head: bytes) -> Reader | None:
    """The reader of a file by its name and first bytes; None if it is of no known format."""
    return next((reader for reader in READERS if reader.matches(name, head)), None)
