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
from tb_memory_plugin.views.tile.merged import distinct
from tb_memory_plugin.views.tile.seen import Seen

#: Lives drawn by themselves, and changes of gaps (more than a tile has columns).
MOST_ROWS = 12_000
MOST_CHANGES = 12_000
_CHECKS = 16
#: What a gap belongs to whose bands would be too many to tell.
MIXED = 255
_BANDS = 256
_WIDEST = 1 << 62  # more bytes than this are no int64 any more


@dataclass(frozen=True)
class Changes:
    """Changes of the bytes and the number of what is not drawn, by slot, band and column."""

    slot: IntArray
    band: IntArray
    column: IntArray
    bytes: IntArray
    count: IntArray


NO_CHANGES = Changes(*(np.zeros(0, dtype=np.int64) for _ in range(5)))


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
    above = np.zeros(len(size), dtype=bool)
    if highest.max(initial=0) >= high:
        above = _lowest(longer, size, columns) >= high
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
    gaps = _gaps(longer.at(left), size[left], band[left], slot, columns, pixel)
    return Stack(drawn, base, gaps, hidden, hidden_bytes)


def _highest(longer: Seen, size: IntArray, columns: int) -> IntArray:
    """The offset of every life where it begins; from there it is only ever let down."""
    gone = np.cumsum(exact.sum_by(longer.last + 1, size, columns + 1))
    highest: IntArray = np.cumsum(size) - size - gone[longer.first]
    return highest


def _lowest(longer: Seen, size: IntArray, columns: int) -> IntArray:
    """A bound for the offset of every life in its last column, where it is lowest.

    There, it stands at least on what is below it at a later column: a few of those are looked at.
    """
    lowest = np.zeros(len(size), dtype=np.int64)
    unknown = np.ones(len(size), dtype=bool)
    for column in sorted(set(np.linspace(0, columns - 1, _CHECKS).astype(np.int64).tolist())):
        alive = (longer.first <= column) & (longer.last >= column)
        standing = np.cumsum(np.where(alive, size, 0)) - np.where(alive, size, 0)
        chosen = unknown & (longer.last <= column)
        lowest[chosen] = standing[chosen]
        unknown &= ~chosen
    return lowest


def sums(seen: Seen, size: IntArray, columns: int) -> tuple[IntArray, IntArray]:
    """The bytes and the number of lives in every column."""
    begun = np.bincount(seen.first, minlength=columns + 1)
    ended = np.bincount(seen.last + 1, minlength=columns + 1)
    return _sums(seen, size, columns), np.cumsum(begun - ended)[:columns]


def _sums(seen: Seen, size: IntArray, columns: int) -> IntArray:
    begun = exact.sum_by(seen.first, size, columns + 1)
    ended = exact.sum_by(seen.last + 1, size, columns + 1)
    running: IntArray = np.cumsum(begun - ended)[:columns]
    return running


def _gaps(
    rest: Seen, size: IntArray, band: IntArray, slot: IntArray, columns: int, pixel: int
) -> Changes:
    """What is not drawn, as changes; slots too small to matter are moved up into the next.

    Half a pixel does not matter. Where that leaves too many changes, two pixels are given for bands
    that are told apart, else bands are given up, and then as much as need be.
    """
    least = max(pixel // 2, 1)
    for slack in (least, min(4 * least, _WIDEST)):
        found = _changes(rest, size, *_coarser(slot, size, slack), band, columns)
        if len(found.slot) <= MOST_CHANGES:
            return found
    slack, mixed = least, np.full(len(size), MIXED)
    while True:
        found = _changes(rest, size, *_coarser(slot, size, slack), mixed, columns)
        if len(found.slot) <= MOST_CHANGES:
            return found
        slack = min(4 * slack, _WIDEST)


def _coarser(slot: IntArray, size: IntArray, slack: int) -> tuple[IntArray, IntArray]:
    """Slots moved up so that no more than ``slack`` bytes pass any life that is drawn.

    Those that are left, and which of them each life is in.
    """
    if not len(slot):
        return slot, slot
    used, place = distinct(slot)
    whole = exact.sum_by(place, size, len(used))
    # What a slot begins at says which group it is of, so one that is large ends its group.
    group = (np.cumsum(whole) - whole) // slack
    last = np.append(np.flatnonzero(group[1:] != group[:-1]), len(used) - 1)
    return used[last], np.searchsorted(last, np.arange(len(used)))[place]


def _changes(
    rest: Seen, size: IntArray, slots: IntArray, which: IntArray, band: IntArray, columns: int
) -> Changes:
    keys, place = distinct(which * _BANDS + band)
    began = place * columns + rest.first
    ends = rest.last + 1 < columns
    ended = (place * columns + rest.last + 1)[ends]
    cells, cell = distinct(np.concatenate([began, ended]))
    moved = exact.sum_by(cell, np.concatenate([size, -size[ends]]), len(cells))
    count = np.bincount(cell[: len(size)], minlength=len(cells))
    count -= np.bincount(cell[len(size) :], minlength=len(cells))
    real = (moved != 0) | (count != 0)
    key, column = np.divmod(cells[real], columns)
    of, band = np.divmod(keys[key], _BANDS)
    return Changes(slots[of], band, column, moved[real], count[real].astype(np.int32))
