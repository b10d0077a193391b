"""Lives in a stack: the youngest on top, everything above a death let down.

Offsets are not sent: whoever draws walks a column from the bottom and adds up what is in it. For
that to be exact everything is in the answer, drawn by itself or not: what is below the window is
the column's ``base``, what is too small to be seen is a *gap* between two that are drawn, what
lives in one column only is summed up by band, on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.views.tile.merged import distinct
from tb_memory_plugin.views.tile.seen import Seen

#: Lives drawn by themselves, and changes of gaps (more than a tile has columns).
MOST_ROWS = 12_000
MOST_CHANGES = 12_000
_CHECKS = 16
_BANDS = 256
#: Pixels that a part may be tall and still be told apart by band.
_NEAR = 4
_WIDEST = 1 << 62  # more bytes than this are no int64 any more


@dataclass(frozen=True)
class Changes:
    """Changes of the bytes and the number of what is not drawn, by place, band and column.

    A ``slot`` is the number of lives drawn below it. It has parts, numbered from the bottom up. In
    a part bands are in order, what is no ``hit`` first; a ``mixed`` one is of several bands, most
    of it of this one.
    """

    slot: IntArray
    part: IntArray
    band: IntArray
    hit: IntArray
    mixed: IntArray
    column: IntArray
    bytes: IntArray
    count: IntArray


NO_CHANGES = Changes(*(np.zeros(0, dtype=np.int64) for _ in range(8)))


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
    rest_of = longer.at(left)
    gaps = _gaps(rest_of, size[left], band[left], hit[left], slot, columns, pixel)
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
    rest: Seen,
    size: IntArray,
    band: IntArray,
    hit: IntArray,
    slot: IntArray,
    columns: int,
    pixel: int,
) -> Changes:
    """What is not drawn, as changes of parts a pixel tall, or of taller ones where these are many.

    Within a part lives are in order of band and not of birth, so nothing stands further from its
    place than a part is tall. Where that is more than a few pixels, or too many changes, a part has
    one band only, that of most of its bytes, and is said to be of several.
    """
    slack = pixel
    while True:
        slots, part = _parts(slot, size, max(slack, 1))
        if slack >= _WIDEST or _cells(rest, part, len(slots), columns) <= MOST_CHANGES:
            break
        slack = min(4 * slack, _WIDEST)
    if slack <= _NEAR * pixel:
        keys, _ = distinct((part * _BANDS + band) * 2 + hit)
        if len(keys) <= MOST_CHANGES:
            found = _changes(rest, size, Kinds(slots, part, band, hit, False), columns)
            if len(found.slot) <= MOST_CHANGES:
                return found
    # As floats: an area may pass 64 bits, and only the order matters.
    most = _largest(part, band, len(slots), size.astype(np.float64) * rest.columns)
    any_hit = np.bincount(part[hit], minlength=len(slots)) > 0
    return _changes(rest, size, Kinds(slots, part, most[part], any_hit[part], True), columns)


def _cells(rest: Seen, part: IntArray, parts: int, columns: int) -> int:
    """In how many columns parts change: no fewer changes will do."""
    if parts > MOST_CHANGES:
        return parts
    there = np.zeros(parts * (columns + 1), dtype=bool)
    row = part * (columns + 1)
    there[row + rest.first] = True
    there[row + rest.last + 1] = True
    return int(there.reshape(parts, columns + 1)[:, :columns].sum()) if parts else 0


def _parts(slot: IntArray, size: IntArray, slack: int) -> tuple[IntArray, IntArray]:
    """What is between the drawn, cut into parts in order of birth; the slot of each part, and the
    part that each life is in.

    The lives of a part are ``slack`` bytes together, or one life more. Slots of which several
    together have no more than half of that are moved up into the last of them.
    """
    if not len(slot):
        return slot, slot
    slots, which = _coarser(slot, size, max(slack // 2, 1))
    order = np.argsort(which, kind="stable") if (np.diff(which) < 0).any() else slice(None)
    group = which[order]
    below = np.cumsum(size[order]) - size[order]
    new = np.append(True, group[1:] != group[:-1])
    start = below[np.flatnonzero(new)]
    piece = (below - np.repeat(start, np.diff(np.append(np.flatnonzero(new), len(group))))) // slack
    new[1:] |= piece[1:] != piece[:-1]
    number = np.cumsum(new) - 1
    part = np.empty(len(slot), dtype=np.int64)
    part[order] = number
    return slots[group[np.flatnonzero(new)]], part


def _largest(part: IntArray, band: IntArray, parts: int, weight: np.ndarray[Any, Any]) -> IntArray:
    """The band that most of each part is of, by area."""
    keys, place = distinct(part * _BANDS + band)
    area = np.bincount(place, weights=weight, minlength=len(keys))
    found = np.zeros(parts, dtype=np.int64)
    order = np.argsort(area, kind="stable")
    found[keys[order] // _BANDS] = keys[order] % _BANDS
    return found


def _coarser(slot: IntArray, size: IntArray, slack: int) -> tuple[IntArray, IntArray]:
    """Slots moved up so that no more than ``slack`` bytes pass any life that is drawn.

    Those that are left, and which of them each life is in.
    """
    used, place = distinct(slot)
    whole = exact.sum_by(place, size, len(used))
    # What a slot begins at says which group it is of, so one that is large ends its group.
    group = (np.cumsum(whole) - whole) // slack
    last = np.append(np.flatnonzero(group[1:] != group[:-1]), len(used) - 1)
    return used[last], np.searchsorted(last, np.arange(len(used)))[place]


@dataclass(frozen=True)
class Kinds:
    """What tells apart the lives that are not drawn: part, band, whether it is found.

    ``slot`` is that of every part. ``mixed``: each part is of several bands.
    """

    slot: IntArray
    part: IntArray
    band: IntArray
    hit: IntArray
    mixed: bool


def _changes(rest: Seen, size: IntArray, kinds: Kinds, columns: int) -> Changes:
    keys, place = distinct((kinds.part * _BANDS + kinds.band) * 2 + kinds.hit)
    began = place * columns + rest.first
    ends = rest.last + 1 < columns
    ended = (place * columns + rest.last + 1)[ends]
    cells, cell = distinct(np.concatenate([began, ended]))
    moved = exact.sum_by(cell, np.concatenate([size, -size[ends]]), len(cells))
    count = np.bincount(cell[: len(size)], minlength=len(cells))
    count -= np.bincount(cell[len(size) :], minlength=len(cells))
    real = (moved != 0) | (count != 0)
    key, column = np.divmod(cells[real], columns)
    of, hit = np.divmod(keys[key], 2)
    part, band = np.divmod(of, _BANDS)
    mixed = np.full(len(key), kinds.mixed)
    return Changes(
        kinds.slot[part], part, band, hit, mixed, column, moved[real], count[real].astype(np.int32)
    )
