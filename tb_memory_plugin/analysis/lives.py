"""A device's events and final blocks, made into one life for every allocation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.device_tables import DeviceTables
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairing import BEGIN, END, REQUEST, Pairs, pair
from tb_memory_plugin.analysis.rounding import rounded
from tb_memory_plugin.recording.schema import AFTER, Action
from tb_memory_plugin.units import format_bytes

_NO_ROLE = 255


@dataclass(frozen=True)
class Lives:
    """One element a life: before the window first, by address; then by birth.

    ``birth``, ``free_requested`` and ``death`` are ordinals with the sentinels of the schema;
    ``known`` is the event that says most of the life (its birth, else its free), ``ended`` the
    event that freed it, ``block`` the row of the device's blocks that holds it; -1 for none.
    """

    address: IntArray
    bytes: IntArray  # in the recording's basis
    size: IntArray
    size_known: IntArray
    size_inferred: IntArray
    birth: IntArray
    free_requested: IntArray
    death: IntArray
    known: IntArray
    ended: IntArray
    block: IntArray


def lives(tables: DeviceTables) -> Lives:
    """The lives on one device. Oddities go to ``tables.problems``.

    What no event began was alive before the window: it is known from the event that freed it or,
    where it is alive at the end, from its block. Raises SourceError for negative sizes.
    """
    chosen, role = _chosen(tables)
    pairs = pair(tables.column("events", "address")[chosen], role)
    begin, request = _ordinals(chosen, pairs.begin), _ordinals(chosen, pairs.request)
    end = _ordinals(chosen, pairs.end)
    freed = np.where(pairs.displaced, -1, end)
    known = np.where(begin >= 0, begin, np.where(freed >= 0, freed, request))
    sizes = tables.column("events", "size")
    if len(sizes) and int(sizes.min()) < 0:
        raise tables.refuse(f"event {int(np.argmin(sizes))} has a negative size")
    amount = sizes[known]
    _note_pairs(tables, pairs, begin, freed, sizes)
    block = _match_blocks(tables, pairs, end, amount)

    ghosts = np.setdiff1d(tables.live_blocks, block[block >= 0], assume_unique=True)
    _note_end(tables, pairs, end, block, amount, ghosts)
    count = len(ghosts)
    none = np.full(count, -1, dtype=np.int64)
    held, given = _block_bytes(tables)
    with_block = (block >= 0) & (begin < 0)
    amount = np.where(with_block, held[block] if len(held) else 0, amount)
    address = np.concatenate([pairs.key, tables.column("blocks", "address")[ghosts]])
    amount = np.concatenate([amount, held[ghosts]])
    block = np.concatenate([block, ghosts])
    birth = np.concatenate([begin, none])
    end, request = np.concatenate([end, none]), np.concatenate([request, none])
    freed, known = np.concatenate([freed, none]), np.concatenate([known, none])
    size, size_known, inferred = _sizes(tables, amount, block, given)

    order = _order(address, birth, tables.events)
    return Lives(
        address=address[order],
        bytes=amount[order],
        size=size[order],
        size_known=size_known[order],
        size_inferred=inferred[order],
        birth=birth[order],
        free_requested=np.where(request < 0, AFTER, request)[order],
        death=np.where(end < 0, AFTER, end)[order],
        known=known[order],
        ended=freed[order],
        block=block[order],
    )


def _chosen(tables: DeviceTables) -> tuple[IntArray, IntArray]:
    """The ordinals that begin or end lives, and what each does."""
    action = tables.column("events", "action")
    roles = np.full(256, _NO_ROLE, dtype=np.uint8)
    roles[Action.ALLOC], roles[Action.FREE_COMPLETED] = BEGIN, END
    roles[Action.FREE_REQUESTED] = REQUEST
    counts = np.bincount(action, minlength=256)
    if not counts[Action.FREE_COMPLETED] and counts[Action.FREE_REQUESTED] > tables.pending_blocks:
        roles[Action.FREE_REQUESTED] = END
        tables.problem("no free was recorded as completed; a request to free counts as the free")
    role = roles[action]
    ordinary = role != _NO_ROLE
    without = tables.missing("events", "address")
    lost = int((without & ordinary).sum())
    if lost:
        tables.problem(f"{lost} events without an address are left out")
        ordinary &= ~without
    chosen = np.flatnonzero(ordinary)
    return chosen, role[chosen]


def _ordinals(chosen: IntArray, rows: IntArray) -> IntArray:
    if not len(chosen):
        return np.full(len(rows), -1, dtype=np.int64)
    return np.where(rows >= 0, chosen[rows], -1)


def _match_blocks(tables: DeviceTables, pairs: Pairs, end: IntArray, amount: IntArray) -> IntArray:
    """For every pair the final block that it is, -1 for none."""
    block = np.full(len(pairs.key), -1, dtype=np.int64)
    live = tables.live_blocks
    if not len(live) or not len(block):
        return block
    address = tables.column("blocks", "address")[live]
    last = np.searchsorted(pairs.key, address, side="right") - 1
    fits = (last >= 0) & (pairs.key[last] == address) & (end[last] < 0)
    # Backwards: of two blocks at one address the first is the pair's.
    block[last[fits][::-1]] = live[fits][::-1]
    held, _ = _block_bytes(tables)
    matched = np.flatnonzero((block >= 0) & (pairs.begin >= 0))
    other = int((held[block[matched]] != amount[matched]).sum())
    if other:
        tables.problem(f"{other} final blocks have another size than their allocation's event")
    return block


def _block_bytes(tables: DeviceTables) -> tuple[IntArray, IntArray]:
    """Of every block the bytes in the recording's basis, and the bytes the allocator gave."""
    size = tables.column("blocks", "size")
    requested = tables.column("blocks", "requested")
    if tables.recording.meta["basis"] != "requested":
        return size, size
    held = np.where(tables.missing("blocks", "requested"), size, requested)
    if len(held) and int(held.min()) < 0:
        raise tables.refuse("a final block has a negative size")
    return held, size


def _sizes(
    tables: DeviceTables, amount: IntArray, block: IntArray, given: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """What the allocator gave, whether that is known at all, and whether it is inferred."""
    everywhere = np.ones(len(amount), dtype=bool)
    if tables.recording.meta["basis"] != "requested":
        return amount, everywhere, ~everywhere
    if not tables.has_end_state:
        return np.zeros_like(amount), ~everywhere, ~everywhere
    inferred = block < 0
    size = rounded(amount, tables.recording.meta.get("allocator_settings"))
    if len(given):
        size = np.where(inferred, size, given[block])
    return size, everywhere, inferred


def _order(address: IntArray, birth: IntArray, events: int) -> IntArray:
    """The order of the table: nulls of birth first by address, then by birth (all different)."""
    before = np.flatnonzero(birth < 0)
    before = before[np.argsort(address[before], kind="stable")]
    place = np.full(events, -1, dtype=np.int64)
    born = np.flatnonzero(birth >= 0)
    place[birth[born]] = born
    return np.concatenate([before, place[place >= 0]])


def _note_pairs(
    tables: DeviceTables, pairs: Pairs, begin: IntArray, freed: IntArray, sizes: IntArray
) -> None:
    if pairs.displaced.any():
        tables.problem(
            f"{int(pairs.displaced.sum())} allocations were never freed but their address was "
            "allocated again; they count as freed at that moment"
        )
    if pairs.unmatched_ends:
        tables.problem(
            f"{pairs.unmatched_ends} frees of addresses that were not allocated are left out"
        )
    both = (begin >= 0) & (freed >= 0)
    other = int((sizes[begin[both]] != sizes[freed[both]]).sum())
    if other:
        tables.problem(f"{other} frees give another size than their allocation, which is kept")


def _note_end(
    tables: DeviceTables,
    pairs: Pairs,
    end: IntArray,
    block: IntArray,
    amount: IntArray,
    ghosts: IntArray,
) -> None:
    if not tables.has_end_state:
        return
    lost = (end < 0) & (block < 0)
    if lost.any():
        size = format_bytes(sum(map(int, amount[lost])))
        tables.problem(
            f"{int(lost.sum())} allocations ({size}) are alive after the last event but not "
            "among the final blocks"
        )
    address = tables.column("blocks", "address")[ghosts] if len(pairs.key) else ghosts[:0]
    at = np.searchsorted(pairs.key, address)  # the keys are in order
    reborn = int((pairs.key[np.minimum(at, len(pairs.key) - 1)] == address).sum()) if len(at) else 0
    if reborn:
        tables.problem(
            f"{reborn} final blocks were allocated without an event after their address was "
            "freed; they count as alive before the window"
        )
