"""Lives in a stack: the youngest on top, everything above a death let down.

Offsets are not sent: whoever draws walks a column from the bottom and adds up what is in it. For
that to be exact everything is in the answer, drawn by itself or not: what is below the window is
the column's ``base``, what is too small to be seen is a *gap* between two that are drawn, what
lives in one column only is summed up by band, on top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording.arrays import distinct
from tb_memory_plugin.views.tile.gaps import Changes, gaps
from tb_memory_plugin.views.tile.seen import Seen

#: Lives drawn by themselves (more than a tile has columns).
MOST_ROWS = 12_000
_CHECKS = 16


@dataclass(frozen=True)
class Stack:
    """The longer lives of a tile: ``drawn`` (places in those given), ``base`` and ``gaps``."""

    drawn: IntArray
    base: IntArray
    gaps: Changes
    hidden: int  # tall enough to be drawn, had there not been too many; and their bytes
    hidden_bytes: int


def stack(
    longer: Seen,
    size: IntArray,
    band: IntArray,
    hit: IntArray,
    columns: int,
    low: int,
    high: int,
    pixel: int,
) -> Stack:
    """Stack ``longer`` (``size`` bytes each) and cut the window ``low`` … ``high`` out.

    Drawn is what is at least a ``pixel`` of bytes tall and may be in the window; of more than
    ``MOST_ROWS`` the largest areas.
    """
    highest = _highest(longer, size, columns)
    below = highest + size <= low
    above = highest >= high
    if above.any():
        above &= _lowest(longer, size, above, columns) >= high
    inside = ~(below | above)
    drawn = np.flatnonzero(inside & (size >= pixel))
    hidden, hidden_bytes = max(len(drawn) - MOST_ROWS, 0), 0
    if hidden:
        # As floats: an area may pass 64 bits, and only the order matters.
        area = size[drawn].astype(np.float64) * longer.columns[drawn]
        order = np.argpartition(-area, MOST_ROWS)
        hidden_bytes = exact.total(size[drawn[order[MOST_ROWS:]]])
        drawn = np.sort(drawn[order[:MOST_ROWS]])
    rest = np.ones(len(size), dtype=bool)
    rest[drawn] = False
    rest &= ~below
    left = np.flatnonzero(rest)
    slot = np.searchsorted(drawn, left)
    slot[above[left]] = len(drawn)
    base = _sums(longer.at(below), size[below], columns)
    rest_of = longer.at(left)
    between = gaps(rest_of, size[left], band[left], hit[left], slot, columns, pixel)
    return Stack(drawn, base, between, hidden, hidden_bytes)


def _highest(longer: Seen, size: IntArray, columns: int) -> IntArray:
    """The offset of every life where it begins; from there it is only ever let down."""
    gone = np.cumsum(exact.sum_by(longer.last + 1, size, columns + 1))
    highest: IntArray = np.cumsum(size) - size - gone[longer.first]
    return highest


def _lowest(longer: Seen, size: IntArray, asked: IntArray, columns: int) -> IntArray:
    """A bound for the offset in their last column, where it is lowest, of the lives ``asked``.

    There, it stands at least on what is below it at a later column: a few of those are looked at.
    The others' is 0.
    """
    checks = distinct(np.linspace(0, columns - 1, _CHECKS).astype(np.int64))
    column = np.arange(columns)
    # Of every column the first check from there on, and the last up to there.
    following = np.searchsorted(checks, column).astype(np.int8)
    before = (np.searchsorted(checks, column, side="right") - 1).astype(np.int8)
    begin, end, told = following[longer.first], before[longer.last], following[longer.last]
    lowest = np.zeros(len(size), dtype=np.int64)
    for check in range(len(checks)):
        alive = np.flatnonzero((begin <= check) & (end >= check))
        chosen = np.flatnonzero((told == check) & asked)
        standing = np.append(0, np.cumsum(size[alive]))
        lowest[chosen] = standing[np.searchsorted(alive, chosen)]
    return lowest


def sums(seen: Seen, size: IntArray, columns: int) -> tuple[IntArray, IntArray]:
    """The bytes and the number of lives in every column."""
    ended = np.cumsum(np.bincount(seen.last + 1, minlength=columns + 1))[:columns]
    return _sums(seen, size, columns), _begun(seen, columns) - ended


def _sums(seen: Seen, size: IntArray, columns: int) -> IntArray:
    ended = np.cumsum(exact.sum_by(seen.last + 1, size, columns + 1))[:columns]
    running: IntArray = np.append(0, np.cumsum(size))[_begun(seen, columns)] - ended
    return running


def _begun(seen: Seen, columns: int) -> IntArray:
    """How many lives have begun by every column."""
    return np.searchsorted(seen.first, np.arange(columns), side="right")
