"""A local file, made into its entry in the cache: looked up, or read once by whoever is first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.store import children, locks
from tb_memory_plugin.store.cache import Cache, Entry
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.keys import Keyed, key_of

Report = Callable[[float, str], None]

#: A file that is replaced while it is read, as a live recording is, is read anew so many times.
_ATTEMPTS = 3


def imported(
    cache: Cache, path: Path, limits: Limits, report: Report, address: str | None = None
) -> tuple[Keyed, Entry]:
    """The entry of ``path`` and the key it has. Raises SourceError.

    ``address`` is where the file is from, if not from ``path``. A file that changes while it is
    read is read again; what the cache gets is always of the content that its key tells.
    """
    for attempt in range(_ATTEMPTS):
        keyed = key_of(path, address)
        try:
            entry = _entry(cache, keyed, path, limits, report)
            unchanged = key_of(path, address) == keyed
        except SourceError:
            if attempt + 1 < _ATTEMPTS and _replaced(path, address, keyed):
                continue
            raise
        if unchanged:
            cache.trim(keep=keyed.key)
            return keyed, entry
        cache.discard(keyed.key)  # it may be of either content
    raise SourceError(
        path.name,
        "changed while it was read",
        "open it again when the job has written all of it",
    )


def _entry(cache: Cache, keyed: Keyed, path: Path, limits: Limits, report: Report) -> Entry:
    def make() -> None:
        children.read(path, keyed.key, cache.entries, limits, report)

    return made(cache, keyed.key, path.name, make, report)


def made(cache: Cache, key: str, name: str, make: Callable[[], None], report: Report) -> Entry:
    """The entry ``key``: looked up, or what ``make`` makes unless somebody else just does.

    Raises SourceError.
    """

    def waiting() -> None:
        report(0.0, "waiting for another program that reads it")

    found = cache.lookup(key)
    if found is not None:
        return found
    try:
        with locks.held(cache.lock(key), waiting):
            found = cache.lookup(key)  # whoever held the lock may have made it
            if found is None:
                make()
                found = cache.lookup(key)
    except OSError as error:
        fault = f"cannot be read: the cache folder cannot be used ({error.strerror or error})"
        cure = "choose another folder with --memory_cache_dir or TB_MEMORY_CACHE"
        raise SourceError(name, fault, cure) from error
    if found is None:
        raise SourceError(name, "was read, but is gone from the cache folder", "open it again")
    return found


def _replaced(path: Path, address: str | None, keyed: Keyed) -> bool:
    """Whether a failure may be due to the file being another one by now, a whole one."""
    try:
        return key_of(path, address) != keyed
    except SourceError:
        return False
