"""A stream of bytes from a browser, made into a file of the cache that is a source like others."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from tb_memory_plugin.errors import QueryError, SourceError
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.keys import Stat
from tb_memory_plugin.store.probing import format_by_name
from tb_memory_plugin.store.roots import Root
from tb_memory_plugin.units import format_bytes

RUN = "(dropped)"
_CHUNK = 1 << 20
_UNFIT = re.compile(r"[^\w.+=@() -]", re.ASCII)
_LONGEST = 120


class Uploads:
    """The files dropped on the page of the server for ``roots``, in a folder of their own."""

    def __init__(self, folder: Path, roots: Iterable[Root], limit: int) -> None:
        way = "\0".join(part for root in roots for part in (root.name, root.address))
        name = hashlib.blake2b(way.encode(errors="surrogateescape"), digest_size=8).hexdigest()
        self._folder = folder / name
        self._limit = limit

    def add(self, name: str, stream: BinaryIO, length: int | None) -> Found:
        """Keep what ``stream`` gives, ``length`` bytes if that is known.

        Raises QueryError for an upload that is too large, empty or cut off, SourceError where it
        cannot be kept.
        """
        label = fit(name)
        if length is not None and length > self._limit:
            raise self._too_large(label)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(suffix=".tmp", dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    digest = self._copied(label, stream, file, length)
                folder = self._folder / digest
                folder.mkdir(exist_ok=True)
                if (folder / label).is_file():  # the same again: what it became stays true
                    os.utime(folder)
                else:
                    Path(temporary).replace(folder / label)
            finally:
                Path(temporary).unlink(missing_ok=True)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            fault = (
                "does not fit on the disk of the cache folder"
                if full
                else (f"cannot be kept in the cache folder ({error.strerror or error})")
            )
            cure = "free some space, or choose another folder with --memory_cache_dir"
            raise SourceError(label, fault, cure) from error
        return _found(folder / label)

    def all(self) -> list[Found]:
        """The files dropped so far, those of earlier servers for the same logdir too."""
        found = []
        try:
            for folder in sorted(self._folder.iterdir()):
                if folder.is_dir():
                    found += [_found(path) for path in sorted(folder.iterdir())[:1]]
        except OSError:
            return found  # nothing was dropped yet, or it was just cleared
        return found

    def _copied(self, label: str, stream: BinaryIO, file: BinaryIO, length: int | None) -> str:
        digest = hashlib.blake2b(label.encode(), digest_size=8)
        count = 0
        while length is None or count < length:
            size = _CHUNK if length is None else min(_CHUNK, length - count)
            try:
                piece = stream.read(size)
            # What a stream raises whose sender is gone is up to the server.
            except Exception as error:
                raise _cut_off(label, count, length) from error
            if not piece:
                break
            count += len(piece)
            if count > self._limit:
                raise self._too_large(label)
            file.write(piece)
            digest.update(piece)
        if length is not None and count < length:
            raise _cut_off(label, count, length)
        if not count:
            raise QueryError(f"{label}: is empty (0 bytes); drop a recording or a snapshot.")
        return digest.hexdigest()

    def _too_large(self, label: str) -> QueryError:
        return QueryError(
            f"{label}: is larger than {format_bytes(self._limit)}, the most that may be dropped; "
            "copy it into the logdir instead."
        )


def _cut_off(label: str, count: int, length: int | None) -> QueryError:
    arrived = f"{count}" if length is None else f"{count} of {length}"
    return QueryError(f"{label}: only {arrived} bytes arrived; drop it again.")


def fit(name: str) -> str:
    """A file name made of a label that came from anywhere: no folders, nothing odd, not hidden."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = _UNFIT.sub("_", last).strip().lstrip(".")
    stem, dot, suffix = plain.partition(".")
    return f"{stem[:_LONGEST]}{dot}{suffix[-_LONGEST:]}" or "recording"


def _found(path: Path) -> Found:
    stat = Stat.of(path.stat())
    format = format_by_name(path.name) or ""
    return Found(
        path.parent.name,
        RUN,
        path.name,
        str(path),
        format,
        stat,
        uploaded=True,
        root=RUN,
        way=(path.name,),
    )
