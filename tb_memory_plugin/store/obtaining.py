"""A source wherever it is, made into a version that can be looked at."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.store.cache import Cache
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.importing import imported
from tb_memory_plugin.store.source import Ready
from tb_memory_plugin.store.storage import RemoteStorage, is_remote, storage_of

Report = Callable[[float, str], None]


def obtained(cache: Cache, found: Found, limits: Limits, report: Report) -> Ready:
    """``found``, read or taken from the cache; a remote file is fetched first.

    Raises SourceError, StorageError.
    """
    if not is_remote(found.address):
        keyed, entry = imported(cache, Path(found.address), limits, report)
        return Ready(entry, keyed.stat)
    folder = cache.fetched / f"{found.id}.{found.stat.modified_ns:x}.{id(found):x}"
    path = folder / Path(found.name).name
    address = f"{found.address}\0{found.stat.size}\0{found.stat.modified_ns}"
    try:
        _fetch(found, path, report)
        _, entry = imported(cache, path, limits, report, address)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Ready(entry, found.stat)


def _fetch(found: Found, path: Path, report: Report) -> None:
    storage = storage_of(found.address)
    if not isinstance(storage, RemoteStorage):
        raise TypeError(found.address)
    try:
        storage.fetch(found.address, path, report)
    except OSError as error:
        raise SourceError(
            found.name,
            f"cannot be fetched ({error.strerror or error})",
            "check the connection and the permissions, and try again",
        ) from error
