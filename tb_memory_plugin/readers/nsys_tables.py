"""Events of CUDA's driver, calls and NVTX ranges to the tables of a recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.nsys_calls import Calls
from tb_memory_plugin.readers.nsys_database import combinations
from tb_memory_plugin.readers.nsys_events import Driver
from tb_memory_plugin.readers.nsys_ranges import OP, Ranges
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.recording.stacks import StackInterner


@dataclass(frozen=True)
class Around:
    """What every event was made in: the stack (-1 for none), and a code of ``ops`` (-1)."""

    stack: IntArray
    op: IntArray
    ops: list[str]
    interner: StackInterner


def around(driver: Driver, calls: Calls, ranges: Ranges | None) -> Around:
    """Stacks and operators: the call, then its call stack or else the ranges it was made in.

    The operator is the innermost range that is one, or else the call.
    """
    count = len(driver.device)
    known = np.flatnonzero(calls.row >= 0)
    row = calls.row[known]
    inside = np.full(len(known), -1, dtype=np.int64)
    if ranges is not None and driver.time is not None:
        inside = ranges.around(calls.thread[row], driver.time[known])
    distinct, of = combinations(calls.name[row], calls.chain[row], inside)
    interner, ops = StackInterner(), dict[str, int]()
    stacks, codes = [], []
    for name, chain, range_row in distinct.tolist():
        call = calls.names[name] if name >= 0 else ""
        frames = [(call, ""), *calls.chains.get(chain, ())]
        if len(frames) > 1 and frames[1][0] == call:
            del frames[0]
        within = [] if ranges is None else ranges.chain(range_row)
        if chain not in calls.chains and ranges is not None:
            frames += [(ranges.names[ranges.name[each]], "") for each in within]
        ids = [
            interner.frame(text(function), text(file), 0) for function, file in frames if function
        ]
        stacks.append(interner.stack(ids) if ids else -1)
        operators = [each for each in within if ranges is not None and ranges.kind[each] == OP]
        op = ranges.names[ranges.name[operators[0]]] if operators and ranges is not None else call
        codes.append(ops.setdefault(op, len(ops)) if op else -1)
    stack, code = np.full((2, count), -1, dtype=np.int64)
    if len(known):
        stack[known] = np.array(stacks)[of]
        code[known] = np.array(codes)[of]
    return Around(stack, code, list(ops), interner)


def tables(driver: Driver, found: Around, span: IntArray, origin: int) -> dict[str, pa.Table]:
    """The recorded tables of memory; times count from ``origin``.

    ``span`` is of every event the row of the span it happened in, -1 for none.
    """
    return {
        "events": _events(driver, found, span, origin),
        "labels": _labels(driver, found),
        "reported": _reported(driver),
        **found.interner.tables(),
    }


def _events(driver: Driver, found: Around, span: IntArray, origin: int) -> pa.Table:
    columns = {
        "device": driver.device,
        "action": np.where(driver.born, int(Action.ALLOC), int(Action.FREE_COMPLETED)),
        "address": driver.address,
        "size": driver.bytes,
        "stream": (np.maximum(driver.stream, 0), driver.stream < 0),
        "stack": (found.stack, found.stack < 0),
        "span": (span, span < 0),
    }
    if driver.time is not None:
        columns["time"] = driver.time - origin
    return builder.table("events", columns)


def _labels(driver: Driver, found: Around) -> pa.Table:
    born = np.flatnonzero(driver.born)
    words = [*driver.kinds, *(f"memory pool {place + 1}" for place in _ranks(driver))]
    pool = driver.pool[born]
    region = np.where(pool >= 0, len(driver.kinds) + pool, driver.kind[born])
    return builder.table(
        "labels",
        {
            "device": driver.device[born],
            "event": driver.ordinals()[born],
            "address": driver.address[born],
            "name": arrays.text(driver.name[born], [text(name) for name in driver.names]),
            "op": arrays.text(found.op[born], found.ops),
            "region": arrays.text(region, words),
        },
    )


def _ranks(driver: Driver) -> list[int]:
    """Numbers of the pools, those that are used counted from 0 in the order of addresses."""
    used = np.isin(np.arange(len(driver.pools)), driver.pool)
    ranks: list[int] = np.maximum(np.cumsum(used) - 1, 0).tolist()
    return ranks


def _reported(driver: Driver) -> pa.Table:
    """What is reserved, on devices with memory pools: the pools, used or not, and all others."""
    pooled = np.unique(driver.device[driver.pool >= 0])
    rows = np.flatnonzero(np.isin(driver.device, pooled))
    return builder.table(
        "reported",
        {
            "device": driver.device[rows],
            "event": driver.ordinals()[rows],
            "reserved": reserved(driver)[rows],
        },
    )


def reserved(driver: Driver) -> IntArray:
    """Of every event what the driver holds on its device after it.

    A pool is as large as its latest event says, and at least as what is alive in it; before its
    first event there is none, or, where that is a free, it is as large as then. Outside of pools
    what is allocated is what is held.
    """
    moved = np.where(driver.born, driver.bytes, -driver.bytes)
    order = np.lexsort((driver.pool, driver.device))  # stable: by device and pool, in order within
    device, pool = driver.device[order], driver.pool[order]
    edge = np.append(True, (np.diff(device) != 0) | (np.diff(pool) != 0))[: len(order)]
    starts = np.flatnonzero(edge)
    held = _above(_sums(moved[order], starts), starts)
    said = driver.pool_size[order]
    latest = np.arange(len(order))
    latest[(said < 0) & ~edge] = 0
    said = said[np.maximum.accumulate(latest)]
    held = np.where(pool >= 0, np.maximum(said, held), held)
    step = np.diff(held, prepend=0)
    first = driver.born[order][starts]
    step[starts] = np.where(
        pool[starts] < 0, moved[order][starts], np.where(first, held[starts], 0)
    )
    whole = np.zeros(len(driver.places), dtype=np.int64)  # before the first event
    np.add.at(whole, device[starts], held[starts] - step[starts])
    change = np.empty_like(step)
    change[order] = step
    firsts = np.searchsorted(driver.device, np.arange(len(driver.places)))
    return _sums(change, firsts) + whole[driver.device]


def _sums(moved: IntArray, starts: IntArray) -> IntArray:
    """Running sums within the parts that begin at ``starts``, the first at 0."""
    total = np.cumsum(moved)
    lengths = np.diff(np.append(starts, len(moved)))
    found: IntArray = total - np.repeat(total[starts] - moved[starts], lengths)
    return found


def _above(sums: IntArray, starts: IntArray) -> IntArray:
    """``sums`` with what must have been there before, as no part falls below nothing."""
    lowest = np.minimum(np.minimum.reduceat(sums, starts), 0)
    lengths = np.diff(np.append(starts, len(sums)))
    found: IntArray = sums - np.repeat(lowest, lengths)
    return found
