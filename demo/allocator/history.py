"""The entries an allocator leaves behind, as ``device_traces`` of a snapshot has them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any

from .blocks import DEFAULT_POOL, Frames, PoolId

Entry = dict[str, Any]


class History:
    """What one device's allocator did, oldest first.

    Args:
        clock: microseconds since 1970 of what happens now; by default they count from 0.
        limit: keep this many of the last entries; None: all.
    """

    def __init__(self, clock: Callable[[], int] | None = None, limit: int | None = None) -> None:
        self.entries: deque[Entry] = deque(maxlen=limit)
        self.user_metadata = ""
        self.compile_context = "N/A"
        self._clock: Callable[[], int] = clock or itertools.count().__next__

    def add(
        self,
        action: str,
        address: int,
        size: int,
        stream: int,
        pool: PoolId = DEFAULT_POOL,
        frames: Frames | None = None,
    ) -> None:
        """One entry. For ``oom`` the address is the bytes that the driver has free."""
        # PyTorch makes the text and the pair anew for every entry, which its pickles show.
        entry: Entry = {
            "action": action,
            "device_free" if action == "oom" else "addr": address,
            "size": size,
            "stream": stream,
            "time_us": self._clock(),
            "compile_context": self.compile_context.encode().decode(),
            "user_metadata": self.user_metadata,
            "pool_id": (pool[0], pool[1]),
        }
        if frames is not None:
            entry["frames"] = frames
        self.entries.append(entry)
