"""What an allocator says of itself after every event, boiled down to its peak."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording


def allocator_said(recording: Recording, device: Device) -> dict[str, Any] | None:
    """The moment of most stack + heap, as XLA's and TensorFlow's allocators report them.

    ``peak`` (stack + heap) and ``event``, the first event after which it is reached; ``stack``,
    ``heap``, ``free`` and ``fragmentation`` (of the free list) there, None where not said;
    ``lifetime_peak``, the most that was allocated since the allocator was made. None where the
    source reports no such thing. A report without a stack counts as one with an empty stack.
    """
    rows = recording.rows("reported", device)
    table = recording.table("reported").slice(rows.start, rows.stop - rows.start)
    if not any(arrays.valid(table, name).any() for name in ("stack", "free", "lifetime_peak")):
        return None
    heap, stack = arrays.values(table, "allocated"), arrays.values(table, "stack")
    peak = int(np.argmax(heap + np.maximum(stack, 0)))
    fragmentation = float(arrays.reals(table, "fragmentation")[peak])
    lifetime = int(arrays.values(table, "lifetime_peak").max())
    return {
        "peak": int(heap[peak]) + max(int(stack[peak]), 0),
        "event": int(arrays.values(table, "event")[peak]),
        "stack": _known(stack, peak),
        "heap": int(heap[peak]),
        "free": _known(arrays.values(table, "free"), peak),
        "fragmentation": None if math.isnan(fragmentation) else fragmentation,
        "lifetime_peak": lifetime if lifetime >= 0 else None,
    }


def _known(values: IntArray, row: int) -> int | None:
    return int(values[row]) if values[row] >= 0 else None
