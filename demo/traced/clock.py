"""The clock of a trace, which is not that of the snapshot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """Shows ``behind`` ns less, when the profiler starts, and then loses ``slower`` millionths."""

    behind: int = 2_345_678_901
    slower: int = 25

    def at(self, time: int, start: int) -> int:
        """What it shows at ``time``; both in ns."""
        return time - self.behind - (time - start) * self.slower // 1_000_000
