"""Lines of planes: what they are called, and when their events were on one base for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.xplane_events import Line, Table
from tb_memory_plugin.readers.xplane_words import word
from tb_memory_plugin.recording.arrays import IntArray

_LATEST = 1 << 62  # nanoseconds: no time stamp is as late


def times(lines: Sequence[Line], table: Table, of: IntArray) -> IntArray:
    """When each row of ``table`` began, in nanoseconds of the file; ``of`` is the line of each.

    No other line's base is a line's own. Raises Malformed.
    """
    offset = table.column("offset") // 1000
    if not len(offset):
        return offset
    used = np.flatnonzero(np.bincount(of, minlength=len(lines)))
    base = np.array([line.timestamp_ns for line in lines], dtype=np.int64)
    extremes = [*base[used].tolist(), int(offset.min()), int(offset.max())]
    if max(map(abs, extremes)) >= _LATEST // 2:
        raise Malformed("has time stamps that are none")
    found: IntArray = offset + base[of]
    return found


def ends(table: Table, begin: IntArray) -> IntArray:
    """When each row ended, which began at ``begin``: picoseconds are cut off both its ends."""
    length = np.clip(table.column("duration"), 0, _LATEST // 2)
    found: IntArray = begin + (table.column("offset") % 1000 + length) // 1000
    return found


def called(line: Line) -> str:
    """The name of a line, which is a thread's on a host and a stream's on a device."""
    return word(line.display_name or line.name) or "thread"
