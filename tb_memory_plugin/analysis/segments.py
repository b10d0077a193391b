"""Segment events and final segments, made into one life for every mapped range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.device_tables import SEGMENT_ACTIONS, DeviceTables
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairing import BEGIN, END, pair
from tb_memory_plugin.analysis.ranges import Ranges, pieces
from tb_memory_plugin.recording.schema import AFTER, Action


@dataclass(frozen=True)
class SegmentLives:
    """One element a mapped range, by birth and then address.

    ``known`` is the event that says most of it, ``final`` the row of the device's segments that
    holds it at the end; -1 for none.
    """

    address: IntArray
    size: IntArray
    birth: IntArray  # ordinal, -1 before the window
    death: IntArray  # ordinal, AFTER if not unmapped in the window
    known: IntArray
    final: IntArray


def segment_lives(tables: DeviceTables) -> SegmentLives:
    """The mapped ranges of one device.

    A segment that is allocated and freed whole is one life. Of an expandable segment, which
    grows and shrinks by ranges, every range mapped by one event and unmapped by one other is a
    life; neighbours that live alike are one. Oddities go to ``tables.problems``.
    """
    whole, parts = _whole(tables), pieces(tables)
    if parts is None:
        tables.problem("its expandable segments are cut too finely to follow one by one")
        parts = Ranges.none()
    both = Ranges.joined(whole, parts)
    order = np.lexsort((both.address, both.birth))
    return SegmentLives(
        address=both.address[order],
        size=both.size[order],
        birth=both.birth[order],
        death=both.death[order],
        known=both.known[order],
        final=both.final[order],
    )


def reserved_deltas(tables: DeviceTables) -> IntArray:
    """By how much each of the device's events moves reserved, in bytes.

    Raises SourceError for negative sizes.
    """
    action, size = tables.column("events", "action"), tables.column("events", "size")
    signs = np.zeros(256, dtype=np.int64)
    signs[[Action.SEGMENT_ALLOC, Action.SEGMENT_MAP]] = 1
    signs[[Action.SEGMENT_FREE, Action.SEGMENT_UNMAP]] = -1
    return signs[action] * size


def reserved_start(tables: DeviceTables, deltas: IntArray) -> int | None:
    """Bytes mapped before the first event: those mapped at the end less what events moved.

    None where the source does not say what is mapped at the end.
    """
    if not tables.has_end_state:
        return None
    sizes = tables.column("segments", "size")
    if len(sizes) and int(sizes.min()) < 0:
        raise tables.refuse("a final segment has a negative size")
    return exact.total(sizes) - exact.total(deltas)


def segment_events(tables: DeviceTables) -> IntArray:
    """The ordinals of the device's segment events."""
    return np.flatnonzero(np.isin(tables.column("events", "action"), SEGMENT_ACTIONS))


def _whole(tables: DeviceTables) -> Ranges:
    """Lives of segments that are allocated and freed as one."""
    action = tables.column("events", "action")
    chosen = np.flatnonzero((action == Action.SEGMENT_ALLOC) | (action == Action.SEGMENT_FREE))
    role = np.where(action[chosen] == Action.SEGMENT_ALLOC, BEGIN, END).astype(np.uint8)
    pairs = pair(tables.column("events", "address")[chosen], role)
    begin = np.where(pairs.begin >= 0, chosen[pairs.begin], -1) if len(chosen) else pairs.begin
    end = np.where(pairs.end >= 0, chosen[pairs.end], -1) if len(chosen) else pairs.end
    known = np.where(begin >= 0, begin, end)
    if pairs.unmatched_ends or pairs.displaced.any():
        odd = pairs.unmatched_ends + int(pairs.displaced.sum())
        tables.problem(f"{odd} segments were freed or allocated twice")

    fixed = np.flatnonzero(~tables.expandable)
    address = tables.column("segments", "address")[fixed]
    final = np.full(len(pairs.key), -1, dtype=np.int64)
    if len(pairs.key):
        last = np.searchsorted(pairs.key, address, side="right") - 1
        fits = (last >= 0) & (pairs.key[last] == address) & (end[last] < 0)
        final[last[fits][::-1]] = fixed[fits][::-1]
    older = np.setdiff1d(fixed, final[final >= 0], assume_unique=True)
    none = np.full(len(older), -1, dtype=np.int64)
    return Ranges(
        address=np.concatenate([pairs.key, tables.column("segments", "address")[older]]),
        size=np.concatenate(
            [tables.column("events", "size")[known], tables.column("segments", "size")[older]]
        ),
        birth=np.concatenate([begin, none]),
        death=np.concatenate([np.where(end < 0, AFTER, end), np.full_like(none, AFTER)]),
        known=np.concatenate([known, none]),
        final=np.concatenate([final, older]),
    )
