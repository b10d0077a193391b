"""Lives that keep their place: by address, or in lanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.views.tile.seen import Seen

#: Lives drawn by themselves.
MOST_ROWS = 12_000


@dataclass(frozen=True)
class Placed:
    """Places in the lives given: those drawn by themselves, and those too short or small for it."""

    drawn: IntArray
    rest: IntArray
    hidden: int


def place(seen: Seen, size: IntArray, offset: IntArray, low: int, high: int) -> Placed:
    """What of ``seen`` is in the window ``low`` … ``high``, the largest areas by themselves."""
    inside = (offset < high) & (offset + size > low)
    drawn = np.flatnonzero(inside & ~seen.short)
    left = np.flatnonzero(inside & seen.short)
    if len(drawn) > MOST_ROWS:
        area = size[drawn].astype(np.float64) * seen.columns[drawn]
        order = np.argpartition(-area, MOST_ROWS)
        left = np.sort(np.concatenate([left, drawn[order[MOST_ROWS:]]]))
        drawn = np.sort(drawn[order[:MOST_ROWS]])
    return Placed(drawn, left, 0)
