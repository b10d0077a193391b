"""Map and unmap events of expandable segments, cut where they meet and joined where they don't."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.device_tables import DeviceTables
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairing import BEGIN, END, pair
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.schema import AFTER, Action

#: Cuts beyond which the pieces are not worked out (a real history has two or three per event).
_MOST_CUTS = 1 << 23
_TOP = (1 << 64) - 1


@dataclass(frozen=True)
class Ranges:
    """Address ranges with their lives; columns as in ``segments.SegmentLives``."""

    address: IntArray
    size: IntArray
    birth: IntArray
    death: IntArray
    known: IntArray
    final: IntArray

    @staticmethod
    def none() -> Ranges:
        """No ranges."""
        empty = np.zeros(0, dtype=np.int64)
        return Ranges(np.zeros(0, dtype=np.uint64), empty, empty, empty, empty, empty)

    @staticmethod
    def joined(one: Ranges, other: Ranges) -> Ranges:
        """The ranges of both."""
        return Ranges(
            *(
                np.concatenate([getattr(one, name), getattr(other, name)])
                for name in ("address", "size", "birth", "death", "known", "final")
            )
        )


def pieces(tables: DeviceTables) -> Ranges | None:
    """The lives of the ranges that map and unmap events of one device moved.

    Every boundary of an event or of a final expandable segment cuts the address space; between
    two cuts a life is paired like an allocation. None where that would be too much.
    """
    action = tables.column("events", "action")
    chosen = np.flatnonzero((action == Action.SEGMENT_MAP) | (action == Action.SEGMENT_UNMAP))
    role = np.where(action[chosen] == Action.SEGMENT_MAP, BEGIN, END).astype(np.uint8)
    begins = tables.column("events", "address")[chosen]
    ends = range_ends(begins, tables.column("events", "size")[chosen])
    final = np.flatnonzero(tables.expandable)
    final_begins = tables.column("segments", "address")[final]
    final_ends = range_ends(final_begins, tables.column("segments", "size")[final])
    cuts = arrays.distinct(np.concatenate([begins, ends, final_begins, final_ends]))
    if not len(cuts):
        return Ranges.none()
    event, place = _between(cuts, begins, ends)
    holder, held = _between(cuts, final_begins, final_ends)
    if event is None or holder is None or place is None or held is None:
        return None
    pairs = pair(place, role[event])
    begin = np.where(pairs.begin >= 0, chosen[event][pairs.begin], -1) if len(event) else event
    end = np.where(pairs.end >= 0, chosen[event][pairs.end], -1) if len(event) else event
    if pairs.unmatched_ends or pairs.displaced.any():
        tables.problem("parts of its expandable segments were mapped or unmapped twice")

    owner = np.full(len(cuts), -1, dtype=np.int64)
    owner[held] = final[holder]
    last = np.ones(len(pairs.key), dtype=bool)
    last[:-1] = pairs.key[1:] != pairs.key[:-1]
    alive = last & (end < 0)
    kept = np.where(alive, owner[pairs.key], -1) if len(pairs.key) else end
    taken = np.zeros(len(cuts), dtype=bool)
    taken[pairs.key[alive]] = True
    older = np.flatnonzero((owner >= 0) & ~taken)
    none = np.full(len(older), -1, dtype=np.int64)
    return _merged(
        cuts,
        place=np.concatenate([pairs.key, older]),
        birth=np.concatenate([begin, none]),
        death=np.concatenate([np.where(end < 0, AFTER, end), np.full_like(none, AFTER)]),
        known=np.concatenate([np.where(begin >= 0, begin, end), none]),
        final=np.concatenate([kept, owner[older]]),
    )


def range_ends(begins: IntArray, sizes: IntArray) -> IntArray:
    """One past the last address of every range, held below 2⁶⁴."""
    lengths = np.maximum(sizes, 0).astype(np.uint64)
    ends: IntArray = begins + np.minimum(lengths, np.uint64(_TOP) - begins)
    return ends


def _between(
    cuts: IntArray, begins: IntArray, ends: IntArray
) -> tuple[IntArray | None, IntArray | None]:
    """For every range and every cut in it: the row of the range and the place of the cut."""
    low, high = np.searchsorted(cuts, begins), np.searchsorted(cuts, ends)
    counts = high - low
    total = int(counts.sum())
    if total > _MOST_CUTS:
        return None, None
    row = np.repeat(np.arange(len(begins)), counts)
    offset = np.cumsum(counts) - counts
    return row, np.arange(total) - offset[row] + low[row] if total else row


def _merged(
    cuts: IntArray,
    *,
    place: IntArray,
    birth: IntArray,
    death: IntArray,
    known: IntArray,
    final: IntArray,
) -> Ranges:
    """Neighbouring pieces that live alike made one."""
    order = np.lexsort((place, final, death, birth))
    place, birth, death, known, final = (
        column[order] for column in (place, birth, death, known, final)
    )
    if not len(place):
        return Ranges.none()
    same = (np.diff(birth) == 0) & (np.diff(final) == 0) & (death[1:] == death[:-1])
    starts = np.flatnonzero(np.concatenate([[True], ~(same & (np.diff(place) == 1))]))
    stops = np.append(starts[1:], len(place)) - 1
    address = cuts[place[starts]]
    size = (cuts[place[stops] + 1] - address).astype(np.int64)
    return Ranges(address, size, birth[starts], death[starts], known[starts], final[starts])
