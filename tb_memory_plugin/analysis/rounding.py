"""What PyTorch's caching allocator gives for a request, where the block itself is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray

#: The allocator's smallest block and its granularity, c10/cuda/CUDACachingAllocator.h.
_GRAIN = 512
_MIB_BITS = 20
#: A remainder up to this many bytes stays with its block in a large segment that is not
#: expandable, and the size of segments that are not large; from the same file.
LARGEST_REMAINDER = 1 << 20
SMALL_SEGMENT = 2 << 20
_LARGEST_REQUEST = (1 << 62) - 1


def rounded(requested: IntArray, settings: Mapping[str, Any] | None) -> IntArray:
    """The block sizes for ``requested`` bytes under the allocator's ``settings``.

    Multiples of 512 bytes, or, where ``roundup_power2_divisions`` asks for it at that size, the
    next of that many equal steps between two powers of two. A real block may be larger: the
    allocator leaves small remainders unsplit. Formula: c10's ``round_size``.
    """
    wanted = np.clip(np.asarray(requested, dtype=np.int64), 0, _LARGEST_REQUEST)
    sizes = np.maximum(-(-wanted // _GRAIN) * _GRAIN, _GRAIN)
    divisions = _divisions(settings)
    if not divisions.any():
        return sizes
    exponent = np.frexp(np.maximum(wanted, 1).astype(np.float64))[1].astype(np.int64) - 1
    exponent -= (np.int64(1) << exponent) > np.maximum(wanted, 1)  # float64 rounded up
    steps = divisions[np.clip(exponent - _MIB_BITS, 0, len(divisions) - 1)]
    power = np.int64(1) << exponent
    shift = np.frexp(np.maximum(steps, 1).astype(np.float64))[1].astype(np.int64) - 1
    step = np.maximum(power >> shift, 1)
    stepped = np.where(wanted == power, wanted, -(-wanted // step) * step)
    return np.where((steps > 1) & (wanted > _GRAIN * steps), stepped, sizes)


def _divisions(settings: Mapping[str, Any] | None) -> IntArray:
    """Divisions for requests from 1, 2, 4 … MiB on, 16 of them; zeros where not set."""
    given = (settings or {}).get("roundup_power2_divisions")
    found = np.zeros(16, dtype=np.int64)
    if isinstance(given, Mapping):
        for place in range(len(found)):
            value = given.get(str(1 << place), 0)
            if isinstance(value, int) and 1 < value < 1 << 20:
                found[place] = value
    return found
