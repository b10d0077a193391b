"""What a stack does not draw by itself: by how much that changes, between what is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.views.tile.merged import distinct
from tb_memory_plugin.views.tile.seen import Seen

#: Changes that an answer has (more than a tile has columns).
MOST_CHANGES = 12_000
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


def gaps(
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
    slots = Slots(slot, size)
    slack = pixel
    while True:
        parts = slots.cut(max(slack, 1))
        if slack >= _WIDEST or not _many(rest, parts, columns):
            break
        slack = min(4 * slack, _WIDEST)
    if slack <= _NEAR * pixel:
        kinds, which = distinct((parts.of * _BANDS + band) * 2 + hit)
        if len(kinds) <= MOST_CHANGES:
            found = _changes(rest, size, parts, kinds, which, False, columns)
            if len(found.slot) <= MOST_CHANGES:
                return found
    count = len(parts.slot)
    # As floats: an area may pass 64 bits, and only the order matters.
    most = _largest(parts.of, band, count, size.astype(np.float64) * rest.columns)
    any_hit = np.bincount(parts.of[hit], minlength=count) > 0
    kinds = (np.arange(count) * _BANDS + most) * 2 + any_hit
    return _changes(rest, size, parts, kinds, parts.of, True, columns)


@dataclass(frozen=True)
class Parts:
    """What is between the drawn, cut: the ``slot`` of each part, and ``of``, the part of each life.

    In ``order`` (None: as they are) lives of a part are together; ``begins`` says where one does.
    """

    slot: IntArray
    of: IntArray
    order: IntArray | None
    begins: IntArray


class Slots:
    """The ``slot`` of lives of ``size`` bytes, all that ways to cut them have in common."""

    def __init__(self, slot: IntArray, size: IntArray) -> None:
        self._size = size
        self._used, self._place = distinct(slot)
        whole = exact.sum_by(self._place, size, len(self._used))
        self._below = np.cumsum(whole) - whole
        self._sorted = not (slot[1:] < slot[:-1]).any()
        self._sums = np.cumsum(size) - size

    def cut(self, slack: int) -> Parts:
        """Parts in order of birth, each of ``slack`` bytes, or one life more.

        Slots of which several together have no more than half of that are moved up into the last
        of them.
        """
        if not len(self._size):
            return Parts(self._used, self._place, None, self._place.astype(bool))
        slots, group, order, below = self._coarser(max(slack // 2, 1))
        begins = np.append(True, group[1:] != group[:-1])
        start = np.flatnonzero(begins)
        lengths = np.diff(start, append=len(group))
        piece = (below - np.repeat(below[start], lengths)) // slack
        begins[1:] |= piece[1:] != piece[:-1]
        of = np.cumsum(begins) - 1
        if order is not None:
            number, of = of, np.empty_like(of)
            of[order] = number
        return Parts(slots[group[np.flatnonzero(begins)]], of, order, begins)

    def _coarser(self, slack: int) -> tuple[IntArray, IntArray, IntArray | None, IntArray]:
        """Slots moved up so that no more than ``slack`` bytes pass any life that is drawn.

        Those that are left; which of them lives are in and the bytes before each, in an order
        (None: as they are) in which lives of one are together.
        """
        # What a slot begins at says which group it is of, so one that is large ends its group.
        group = self._below // slack
        last = np.append(np.flatnonzero(group[1:] != group[:-1]), len(group) - 1)
        which = np.searchsorted(last, np.arange(len(group)))[self._place]
        if self._sorted or not (which[1:] < which[:-1]).any():
            return self._used[last], which, None, self._sums
        order = np.argsort(which, kind="stable")
        size = self._size[order]
        return self._used[last], which[order], order, np.cumsum(size) - size


def _many(rest: Seen, parts: Parts, columns: int) -> bool:
    """Whether parts change in more columns than there may be changes: no fewer will do."""
    first = rest.first if parts.order is None else rest.first[parts.order]
    # Lives of a part are in order of birth: beginnings alone may be enough.
    begun = parts.begins.copy()
    begun[1:] |= first[1:] != first[:-1]
    if np.count_nonzero(begun) > MOST_CHANGES:
        return True
    row = parts.of * (columns + 1)
    there = np.zeros(len(parts.slot) * (columns + 1), dtype=bool)
    there[row + rest.first] = True
    there[row + rest.last + 1] = True
    beyond = np.count_nonzero(there[columns :: columns + 1])
    return bool(np.count_nonzero(there) - beyond > MOST_CHANGES)


def _largest(part: IntArray, band: IntArray, parts: int, weight: np.ndarray[Any, Any]) -> IntArray:
    """The band that most of each part is of, by area."""
    keys, place = distinct(part * _BANDS + band)
    area = np.bincount(place, weights=weight, minlength=len(keys))
    found = np.zeros(parts, dtype=np.int64)
    order = np.argsort(area, kind="stable")
    found[keys[order] // _BANDS] = keys[order] % _BANDS
    return found


def _changes(
    rest: Seen,
    size: IntArray,
    parts: Parts,
    kinds: IntArray,
    which: IntArray,
    mixed: bool,
    columns: int,
) -> Changes:
    """The changes of ``kinds`` (part, band and hit in one number), of which lives are ``which``."""
    began = which * columns + rest.first
    ends = np.flatnonzero(rest.last + 1 < columns)
    ended = which[ends] * columns + rest.last[ends] + 1
    cells, cell = distinct(np.concatenate([began, ended]))
    moved = exact.sum_by(cell, np.concatenate([size, -size[ends]]), len(cells))
    count = np.bincount(cell[: len(size)], minlength=len(cells))
    count -= np.bincount(cell[len(size) :], minlength=len(cells))
    real = np.flatnonzero((moved != 0) | (count != 0))
    kind, column = np.divmod(cells[real], columns)
    of, hit = np.divmod(kinds[kind], 2)
    part, band = np.divmod(of, _BANDS)
    return Changes(
        parts.slot[part],
        part,
        band,
        hit,
        np.full(len(part), mixed),
        column,
        moved[real],
        count[real].astype(np.int32),
    )
