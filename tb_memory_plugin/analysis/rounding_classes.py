"""What part of allocations nobody asked for: what an allocator rounds up, what tiles pad."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

#: Where classes begin, in thousandths of the size.
_FROM = (1, 10, 100, 250, 500, 900)
NAMES = (
    "none",
    "under 1 %",
    "1 % and more",
    "10 % and more",
    "25 % and more",
    "half and more",
    "90 % and more",
)


def roundings(recording: Recording, device: Device) -> tuple[IntArray, tuple[str, ...]]:
    """For every allocation of a device its class, and what the classes are called.

    -1 where the size, or what was asked for, is not known.
    """
    table, rows = recording.table("allocations"), recording.rows("allocations", device)
    size, asked = (recording.values("allocations", name, device) for name in ("size", "requested"))
    known = arrays.valid(table, "size")[rows] & arrays.valid(table, "requested")[rows]
    more = np.maximum(size - asked, 0)
    # By whole numbers: sizes are below 2⁶⁰, a thousand times that is not.
    part = more // np.maximum(size // 1000, 1)
    small = size < 1_000_000
    part[small] = more[small] * 1000 // np.maximum(size[small], 1)
    found = np.searchsorted(np.array(_FROM), part, side="right").astype(np.int32)
    found[(more > 0) & (found == 0)] = 1
    found[~known] = -1
    return found, NAMES
