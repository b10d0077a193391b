"""Addresses of folders and files, local or remote, made into listings, states and local copies."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from tb_memory_plugin.errors import MemoryPluginError
from tb_memory_plugin.store.keys import Stat

_REMOTE = re.compile(r"[a-zA-Z][0-9a-zA-Z+.]*://")
_CHUNK = 4 << 20


@dataclass(frozen=True)
class Item:
    """What a listing says of an entry; ``stat`` where that costs nothing."""

    name: str
    address: str
    is_folder: bool
    stat: Stat | None = None


class StorageError(MemoryPluginError):
    """A file system that cannot be used; says what to do."""


class Storage(Protocol):
    """A file system, read only. All raise OSError or StorageError."""

    #: Whether asking costs a trip over a network.
    remote: bool

    def items(self, folder: str) -> Iterator[Item]:
        """What lies in a folder, in no order."""

    def stat(self, address: str) -> Stat:
        """The state of a file."""

    def identity(self, folder: str) -> tuple[int, int] | None:
        """What tells a folder from all others, None where there are no links."""

    def join(self, folder: str, *names: str) -> str:
        """The address of something in a folder."""


class LocalStorage:
    """This machine's file system."""

    remote = False

    def items(self, folder: str) -> Iterator[Item]:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    is_folder = entry.is_dir()
                except OSError:  # a link in a circle
                    is_folder = False
                yield Item(entry.name, entry.path, is_folder)

    def stat(self, address: str) -> Stat:
        return Stat.of(Path(address).stat())

    def identity(self, folder: str) -> tuple[int, int] | None:
        found = Path(folder).stat()
        return found.st_dev, found.st_ino

    def join(self, folder: str, *names: str) -> str:
        return str(Path(folder, *names))


class RemoteStorage:
    """A file system of fsspec: object stores, mostly. Never asked to walk."""

    remote = True

    def __init__(self, address: str) -> None:
        scheme = address.split("://", 1)[0]
        try:
            from fsspec import core, get_filesystem_class

            get_filesystem_class(scheme)
        except (ImportError, ValueError) as error:
            raise StorageError(
                f"{address}: remote logdirs of this kind need fsspec and its {scheme} package "
                f"({error}); install them where TensorBoard runs."
            ) from error
        with _in_words(address):
            self._files: Any = core.url_to_fs(address)[0]

    def items(self, folder: str) -> Iterator[Item]:
        scheme = folder.split("://", 1)[0]
        with _in_words(folder):
            self._files.invalidate_cache()
            listed = self._files.ls(folder, detail=True)
            own = str(self._files._strip_protocol(folder)).rstrip("/")
        for found in listed:
            whole = str(found["name"]).rstrip("/")
            name = whole.rsplit("/", 1)[-1]
            if not name or whole == own:  # object stores list the marker of the folder itself
                continue
            address = self._files.unstrip_protocol(found["name"])
            is_folder = found.get("type") == "directory"
            yield Item(
                name,
                address if "://" in address else f"{scheme}://{address}",
                is_folder,
                None if is_folder else self._stat(found),
            )

    def stat(self, address: str) -> Stat:
        with _in_words(address):
            return self._stat(self._files.info(address))

    def identity(self, folder: str) -> tuple[int, int] | None:  # noqa: ARG002
        return None

    def join(self, folder: str, *names: str) -> str:
        return "/".join([folder.rstrip("/"), *names])

    def fetch(self, address: str, target: Path, report: Callable[[float, str], None]) -> None:
        """Copy a file to ``target``, a piece at a time. Raises OSError, StorageError."""
        size = max(1, self.stat(address).size)
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            _in_words(address),
            closing(self._files.open(address, "rb")) as source,
            open(target, "wb") as file,
        ):
            while piece := source.read(_CHUNK):
                file.write(piece)
                report(file.tell() / size, "fetching")

    def _stat(self, found: dict[str, Any]) -> Stat:
        return Stat(int(found.get("size") or 0), _modified_ns(found))


@contextmanager
def _in_words(address: str) -> Iterator[None]:
    """Turns what a file system of fsspec raises of its own into a StorageError."""
    try:
        yield
    except OSError:
        raise
    # Every object store has errors of its own: for the network, for who may do what.
    except Exception as error:
        said = " ".join(str(error).split())[:200] or "without a word"
        raise StorageError(
            f"{address}: its file system failed ({type(error).__name__}: {said}); check the "
            "address, the connection and the permissions."
        ) from error


def is_remote(address: str) -> bool:
    """Whether an address needs fsspec."""
    return _REMOTE.match(address) is not None and not address.startswith("file://")


def storage_of(address: str) -> Storage:
    """The file system that an address is in. Raises StorageError."""
    return RemoteStorage(address) if is_remote(address) else LocalStorage()


def _modified_ns(found: dict[str, Any]) -> int:
    """Time of modification, under the name the file system has for it; else of its content tag."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = found.get(name)
        if isinstance(value, datetime):
            return int(value.timestamp() * 1e9)
        if isinstance(value, (int, float)):
            return int(value * 1e9)
    return 0
