"""Lives that keep their place: by address, or in lanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.views.tile.seen import Seen

#: Lives drawn by themselves; by address an answer has their blocks and what is mapped beside.
MOST_ROWS = 10_000


#: Pixels from which on a life of one column is drawn as tall as it is.
_TALL = 2


@dataclass(frozen=True)
class Placed:
    """Places in the lives given: those drawn by themselves, and those too short or small for it.

    ``hidden`` of the latter would have been drawn, had there not been too many; they are
    ``hidden_bytes``.
    """

    drawn: IntArray
    rest: IntArray
    hidden: int
    hidden_bytes: int


def place(
    seen: Seen, size: IntArray, tall: IntArray, offset: IntArray, low: int, high: int, pixel: int
) -> Placed:
    """What of ``seen`` is in the window ``low`` … ``high``, the largest areas by themselves.

    Lives of ``size`` bytes are ``tall`` bytes in the picture.
    """
    inside = (offset < high) & (offset + tall > low)
    alone = inside & (~seen.short | (tall >= _TALL * pixel))
    drawn = np.flatnonzero(alone)
    hidden, hidden_bytes = max(len(drawn) - MOST_ROWS, 0), 0
    if hidden:
        area = tall[drawn].astype(np.float64) * seen.columns[drawn]
        order = np.argpartition(-area, MOST_ROWS)
        hidden_bytes = exact.total(size[drawn[order[MOST_ROWS:]]])
        drawn = np.sort(drawn[order[:MOST_ROWS]])
    inside[drawn] = False
    left = np.flatnonzero(inside)
    return Placed(drawn, left, hidden, hidden_bytes)


def pixels(offset: IntArray, tall: IntArray, low: int, high: int, pixel: int) -> IntArray:
    """How many whole pixels tall lives are, of what is in the window; at least one."""
    seen = np.minimum(offset + tall, high) - np.maximum(offset, low)
    whole: IntArray = np.maximum(seen // pixel, 1)
    return whole
