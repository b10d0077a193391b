"""Entries of the cache, made into open recordings; the ones last used stay open."""

from __future__ import annotations

import threading
from collections import OrderedDict

from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.cache import Cache

#: Open recordings are mapped: they cost addresses and what was worked out for them, no copies.
MOST_OPEN = 32


class Openings:
    """Recordings by key, least recently used closed first (once nobody holds them)."""

    def __init__(self, cache: Cache, most: int = MOST_OPEN) -> None:
        self._cache = cache
        self._most = most
        self._open: OrderedDict[str, Recording] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: str) -> Recording | None:
        """The recording of entry ``key``; None if the cache has it no more."""
        with self._guard:
            found = self._open.get(key)
            if found is None:
                found = self._cache.open(key)
                if found is None:
                    return None
                self._open[key] = found
                if len(self._open) > self._most:
                    self._open.popitem(last=False)
            else:
                self._cache.touch(key)
            self._open.move_to_end(key)
            return found
