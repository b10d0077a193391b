"""Lives of one column, summed up: a few rows where there would be thousands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ordering import stable_order

#: Cells of an answer where there is one for every pixel; what is left out is the smallest.
MOST_CELLS = 14_000
#: Numbers up to so many times as large as there are many of them are counted, not sorted.
_SPARSE = 8


@dataclass(frozen=True)
class Merged:
    """``count`` lives of a ``band`` in columns ``column`` … ``last``, ``bytes`` together.

    Where places are fixed they stand on pixel ``row`` and are ``tall`` pixels; at least one of them
    is alive in each of the columns. ``one`` is the life where it is only one, else -1; ``hit``
    whether any is a hit. ``left`` lives of ``left_bytes`` are in cells that are left out.
    """

    column: IntArray
    last: IntArray
    row: IntArray
    tall: IntArray
    band: IntArray
    bytes: IntArray
    count: IntArray
    one: IntArray
    hit: IntArray
    left: int
    left_bytes: int


def merge(
    column: IntArray, band: IntArray, size: IntArray, hit: IntArray, life: IntArray
) -> Merged:
    """Sum up lives of one column each by column and band; ``life`` is what each is called by."""
    bands = int(band.max(initial=0)) + 1
    cells, place = distinct(column * bands + band)
    column, band = cells // bands, cells % bands
    row, tall = np.zeros_like(column), np.ones_like(column)
    return _summed(place, (column, column, row, tall, band), size, hit, life)


def merge_placed(
    first: IntArray,
    last: IntArray,
    row: IntArray,
    tall: IntArray,
    band: IntArray,
    size: IntArray,
    hit: IntArray,
    life: IntArray,
) -> Merged:
    """Sum up lives that stand in the same place and follow each other without a break.

    ``first`` never goes back. The ``MOST_CELLS`` largest areas, from the bottom up, so that what is
    taller than a pixel is never drawn over what stands above it.
    """
    span = int(last.max(initial=0)) + 1
    # One key for all: by place, that is by pixel row, band and height.
    bands, talls = int(band.max(initial=0)) + 1, int(tall.max(initial=0)) + 1
    place = (row * bands + band) * talls + tall
    order = stable_order(place)
    place, first, last = (each.take(order) for each in (place, first, last))
    # How far those before reach, of each place by itself.
    reach = np.maximum.accumulate(place * span + last) - place * span
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (place[1:] != place[:-1]) | (first[1:] > reach[:-1])
    begin = np.flatnonzero(starts)
    end = np.maximum.reduceat(last, begin) if len(begin) else last
    heads = order[begin]
    of = (first[begin], end, row[heads], tall[heads], band[heads])
    return _largest(_summed(np.cumsum(starts) - 1, of, size[order], hit[order], life[order]))


def _summed(
    place: IntArray, of: tuple[IntArray, ...], size: IntArray, hit: IntArray, life: IntArray
) -> Merged:
    column, last, row, tall, band = of
    whole = exact.sum_by(place, size, len(column))
    count = np.bincount(place, minlength=len(column))
    one = np.full(len(column), -1, dtype=np.int64)
    one[place] = life
    one[count != 1] = -1
    any_hit = np.zeros(len(column), dtype=bool)
    any_hit[place[hit]] = True
    return Merged(column, last, row, tall, band, whole, count, one, any_hit, 0, 0)


def _largest(cells: Merged) -> Merged:
    """The ``MOST_CELLS`` largest areas, in the order they had."""
    if len(cells.bytes) <= MOST_CELLS:
        return cells
    area = cells.bytes.astype(np.float64) * (cells.last - cells.column + 1)
    kept = np.sort(np.argpartition(-area, MOST_CELLS)[:MOST_CELLS])
    return Merged(
        cells.column[kept],
        cells.last[kept],
        cells.row[kept],
        cells.tall[kept],
        cells.band[kept],
        cells.bytes[kept],
        cells.count[kept],
        cells.one[kept],
        cells.hit[kept],
        left=int(cells.count.sum() - cells.count[kept].sum()),
        left_bytes=exact.total(cells.bytes) - exact.total(cells.bytes[kept]),
    )


def distinct(cell: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct cells, in order, and where each is among them; counted where they are dense."""
    most = int(cell.max(initial=0)) + 1
    if most > _SPARSE * len(cell) + 65_536:
        cells, place = np.unique(cell, return_inverse=True)
        return cells, place
    there = np.zeros(most, dtype=bool)
    there[cell] = True
    return np.flatnonzero(there), (np.cumsum(there, dtype=np.int32) - 1)[cell].astype(np.int64)
