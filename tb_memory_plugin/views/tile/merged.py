"""Lives of one column, summed up: a few rows where there would be thousands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray

#: Cells of an answer where there is one for every pixel; what is left out is the smallest.
MOST_CELLS = 16_000
#: Numbers up to so many times as large as there are many of them are counted, not sorted.
_SPARSE = 8


@dataclass(frozen=True)
class Merged:
    """``count`` lives of a ``band`` in a ``column`` (and pixel ``row``), ``bytes`` together.

    ``one`` is the life where it is only one, else -1; ``hit`` whether any is a hit. ``left`` lives
    of ``left_bytes`` are in cells that are left out.
    """

    column: IntArray
    row: IntArray
    band: IntArray
    bytes: IntArray
    count: IntArray
    one: IntArray
    hit: IntArray
    left: int
    left_bytes: int


def merge(
    column: IntArray, row: IntArray, band: IntArray, size: IntArray, hit: IntArray, life: IntArray
) -> Merged:
    """Sum up lives by column, pixel row and band; with pixel rows, the ``MOST_CELLS`` largest.

    ``life`` is what each is called by.
    """
    bands, rows = int(band.max(initial=0)) + 1, int(row.max(initial=0)) + 1
    cell = (column * rows + row) * bands + band
    cells, place = distinct(cell)
    whole = exact.sum_by(place, size, len(cells))
    count = np.bincount(place, minlength=len(cells))
    one = np.full(len(cells), -1, dtype=np.int64)
    one[place] = life
    one[count != 1] = -1
    any_hit = np.zeros(len(cells), dtype=bool)
    any_hit[place[hit]] = True
    kept = np.arange(len(cells))
    if rows > 1 and len(cells) > MOST_CELLS:
        kept = np.sort(np.argpartition(-whole, MOST_CELLS)[:MOST_CELLS])
    cells = cells[kept]
    return Merged(
        cells // bands // rows,
        cells // bands % rows,
        cells % bands,
        whole[kept],
        count[kept],
        one[kept],
        any_hit[kept],
        left=int(count.sum() - count[kept].sum()),
        left_bytes=exact.total(whole) - exact.total(whole[kept]),
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
