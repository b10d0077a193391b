"""The bytes of a file, whole and inflated, for formats that are decoded in one go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import limits, opening
from tb_memory_plugin.readers.glance import Progress

_PIECE = 1 << 20


@contextmanager
def whole(path: Path, most: int, progress: Callable[[float], None]) -> Iterator[bytes]:
    """The bytes of ``path`` as :func:`held`, which cannot be given back before the block ends."""
    with held(path, most, progress) as data:
        yield bytes(data)


@contextmanager
def reading(path: Path, most: int, report: Progress, part: float) -> Iterator[bytearray]:
    """The bytes of ``path`` as :func:`held`, of which many small things are made in the block.

    Reading is the first ``part`` of the work, as ``report`` is told.
    """
    with (
        limits.without_collector(),
        held(path, most, lambda done: report(part * done, "reading")) as data,
    ):
        yield data


@contextmanager
def held(path: Path, most: int, progress: Callable[[float], None]) -> Iterator[bytearray]:
    """The bytes of ``path``, at most ``most``; memory inside the block is limited by their number.

    Whoever is done with them clears them: what is made of them needs the memory. ``progress(part)``
    is called as they are read. Raises SourceError for files that cannot be read or are written to
    meanwhile, for what is larger, and for a MemoryError inside the block; and Malformed for
    damaged gzip data.
    """
    name = path.name
    with opening.regular_file(path, name) as file:
        before = os.fstat(file.fileno())
        try:
            with limits.memory_ceiling(before.st_size) as grant:
                pieces = bytearray()

                def seen(part: float, count: int) -> None:
                    grant(count)
                    progress(part)

                stream = opening.Stream(file, most, seen)
                while piece := stream.read(_PIECE):
                    pieces += piece
                    if len(pieces) > most:
                        raise _too_large(name, most)
                opening.check_unchanged(name, before, os.fstat(file.fileno()))
                yield pieces
        except MemoryError:
            raise opening.out_of_memory(name) from None


def _too_large(name: str, most: int) -> SourceError:
    return SourceError(
        name,
        f"is larger than {most >> 20} MiB, the most that a file of its kind can need",
        "look whether it is what its name says",
    )
