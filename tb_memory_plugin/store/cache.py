"""Recordings that were read, kept in files of their own: by key, bounded, oldest use out first.

A recording is ``entries/<key>.tbmem``, what lists say of it ``entries/<key>.json``, written last.
Several servers may use one folder: files appear by renaming and may vanish at any time.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb_memory_plugin.errors import ContainerError
from tb_memory_plugin.recording.recording import Recording, open_recording

logger = logging.getLogger(__name__)

_KEY = re.compile(r"[0-9a-f]{20}")
_FORGOTTEN = 3600.0  # seconds after which what a dead process left half-written is removed
_TOUCH = 60.0


@dataclass(frozen=True)
class Entry:
    """A recording in the cache: its key and what is known of it without opening it."""

    key: str
    path: Path
    about: dict[str, Any]  # "format", "brief", "live", "summary"


class Cache:
    """The folder ``root``, which holds at most about ``limit`` bytes."""

    def __init__(self, root: Path, limit: int) -> None:
        self._limit = limit
        self.root = _usable(root)
        self.entries = self.root / "entries"
        self.uploads = self.root / "uploads"
        self.fetched = self.root / "fetched"

    def lock(self, key: str) -> Path:
        """The lock that whoever makes the entry ``key`` holds."""
        return self.root / "locks" / f"{key}.lock"

    def lookup(self, key: str) -> Entry | None:
        """The entry ``key``, if it is there."""
        if not _KEY.fullmatch(key):
            return None
        path = self.entries / f"{key}.tbmem"
        try:
            about = json.loads((self.entries / f"{key}.json").read_bytes())
        except OSError:
            return None
        except ValueError:
            self.discard(key)
            return None
        return Entry(key, path, about) if path.is_file() and isinstance(about, dict) else None

    def open(self, key: str) -> Recording | None:
        """The recording of entry ``key``, mapped; None if it is not there or is damaged.

        A damaged entry is removed, so that the source is read again.
        """
        if not _KEY.fullmatch(key):
            return None
        path = self.entries / f"{key}.tbmem"
        try:
            found = open_recording(path)
        except OSError:
            return None
        except (ContainerError, KeyError, TypeError, ValueError) as error:
            logger.warning("Reading a source again, its cache entry is damaged: %s", error)
            self.discard(key)
            return None
        self.touch(key)
        return found

    def discard(self, key: str) -> None:
        """Remove the entry ``key``; who has it mapped keeps it."""
        for suffix in (".json", ".tbmem"):
            with contextlib.suppress(OSError):
                (self.entries / f"{key}{suffix}").unlink()

    def touch(self, key: str) -> None:
        """Note that ``key`` is in use."""
        touch(self.entries / f"{key}.json")

    def trim(self, keep: str = "") -> None:
        """Remove what was not used for the longest until the rest fits, but not entry ``keep``."""
        items = sorted(self._items())
        excess = sum(size for _, size, _ in items) - self._limit
        for _, size, path in items:
            if excess <= 0:
                return
            if path.stem == keep:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                self.discard(path.stem)
            excess -= size

    def _items(self) -> Iterator[tuple[float, int, Path]]:
        """Time of the last use, bytes and place of every entry and upload."""
        for path in _children(self.entries):
            with contextlib.suppress(OSError):
                about = path.with_suffix(".json")
                if path.suffix == ".tbmem" and not path.name.startswith("."):
                    used = about if about.exists() else path
                    yield used.stat().st_mtime, path.stat().st_size, path
                elif path.suffix == ".tmp":
                    _forget(path)
        for place in _children(self.uploads):
            for folder in _children(place):
                with contextlib.suppress(OSError):
                    if folder.is_dir():
                        size = sum(file.stat().st_size for file in folder.iterdir())
                        yield folder.stat().st_mtime, size, folder
                    else:
                        _forget(folder)
        for path in _children(self.fetched):
            _forget(path)


def touch(path: Path) -> None:
    """Note the use of a file or folder now, unless that was just done."""
    with contextlib.suppress(OSError):  # removed by another server, or not ours
        if time.time() - path.stat().st_mtime > _TOUCH:
            os.utime(path)


def _forget(path: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _FORGOTTEN:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _usable(root: Path) -> Path:
    """``root``, made if need be; a temporary folder where that is not allowed."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as error:
        other = _temporary()
        logger.warning(
            "The cache folder %s cannot be written (%s); using %s. Choose another with "
            "TB_MEMORY_CACHE, or TensorBoard's --memory_cache_dir.",
            root,
            error.strerror or error,
            other,
        )
        return other
    return root


def _temporary() -> Path:
    """This user's own folder among the temporary ones: the same each time, or they would pile up.

    A new one where that name is taken by somebody else, who could read or change what is in it.
    """
    if hasattr(os, "getuid"):
        shared = Path(tempfile.gettempdir()) / f"tb_memory_plugin-{os.getuid()}"
        with contextlib.suppress(OSError):
            shared.mkdir(mode=0o700, exist_ok=True)
            found = shared.lstat()
            private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
            if private and found.st_uid == os.getuid():
                return shared
    return Path(tempfile.mkdtemp(prefix="tb_memory_plugin-"))
