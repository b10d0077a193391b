"""What allocations keep beyond what was asked for, as numbers to sort by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.leading import UNKNOWN
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording


def padding_keys(recording: Recording, device: Device, column: str) -> Callable[[slice], IntArray]:
    """What is kept beyond what was asked for, in bytes or (in millionths) as how many times it."""
    rows = recording.rows("allocations", device)
    table = recording.table("allocations")
    valid = arrays.valid(table, "size")[rows] & arrays.valid(table, "requested")[rows]
    size, asked = (recording.values("allocations", name, device) for name in ("size", "requested"))

    def keys(part: slice) -> IntArray:
        if column == "padding":
            return np.where(valid[part], size[part] - asked[part], UNKNOWN)
        known = valid[part] & (asked[part] > 0)
        found = np.divide(size[part], asked[part], out=np.zeros(len(known)), where=known)
        return np.where(known, np.minimum(found * 1e6, UNKNOWN >> 1).astype(np.int64), UNKNOWN)

    return keys
