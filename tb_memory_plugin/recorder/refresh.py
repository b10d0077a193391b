"""When to write a growing recording again, so that writing stays a small share of the time."""

from __future__ import annotations

import time
from dataclasses import dataclass

#: Of the time since the last writing, at most one part in so many is spent on the next.
SHARE = 20


@dataclass
class Refresh:
    """A file written whole every time takes longer every time, so it is written more rarely.

    The wait is ``seconds``, or ``SHARE`` times what the last writing took: a run of n events is
    written O(log n) times once writing takes longer than ``seconds / SHARE``.
    """

    seconds: float
    _last: float = 0.0
    _took: float = 0.0

    def due(self) -> bool:
        """Whether it is time; at once for the first time."""
        wait = max(self.seconds, SHARE * self._took) if self._last else 0.0
        return time.monotonic() - self._last >= wait

    def wrote(self, began: float) -> None:
        """Note a writing that began at ``began`` (``time.monotonic()``) and is done."""
        self._last = time.monotonic()
        self._took = self._last - began
