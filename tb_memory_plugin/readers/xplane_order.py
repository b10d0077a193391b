"""Allocator events of all threads, brought into the order that the allocator saw."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.readers.xplane_planes import Events
from tb_memory_plugin.recording.arrays import IntArray

#: Events of one moment that are tried in other orders; more stay in that of the file.
MOST_AT_ONCE = 64
#: Orders that are tried for one moment.
_MOST_TRIES = 2_000


def in_order(events: Events, device: IntArray) -> tuple[IntArray, IntArray]:
    """The order of the rows by device and time, and the size of each event in that order.

    Threads have time stamps from the same clock, of a nanosecond or less. Of events that have the
    same, each thread's keep theirs, and threads are woven so that every event begins with what
    the one before left allocated, if there is such an order. A size that is not said (a TPU's
    frees) is that of the allocation at the address, else the step in what is allocated; 0 for
    what neither tells.
    """
    below = events.column("offset") % 1000
    keys = (events.time, device) if not below.any() else (below, events.time, device)
    order = np.lexsort(keys)
    device, below, line = device[order], below[order], events.line[order]
    allocated, said = events.column("allocated")[order], events.seen("allocated")[order]
    size, known = _matched(events, order, device)
    moved = np.where(events.born[order], size, -size)
    same = (np.diff(events.time[order]) == 0) & (np.diff(below) == 0) & (np.diff(device) == 0)
    place = np.arange(len(order))
    for first, last in _groups(same):
        group = place[first:last]
        if len(group) <= MOST_AT_ONCE and len(set(line[group].tolist())) > 1:
            previous = first - 1
            follows = first > 0 and device[previous] == device[first] and said[previous]
            start = int(allocated[previous]) if follows else None
            place[first:last] = _woven(group, line, allocated, moved, start)
    order, size, known = order[place], size[place], known[place]
    allocated, said, device = allocated[place], said[place], device[place]
    stepped = np.zeros(len(order), dtype=bool)
    stepped[1:] = (device[1:] == device[:-1]) & said[1:] & said[:-1]
    step = np.abs(np.diff(allocated, prepend=allocated[:1]))
    return order, np.where(known, size, np.where(stepped, step, 0))


def _matched(events: Events, rows: IntArray, device: IntArray) -> tuple[IntArray, IntArray]:
    """Sizes as the file says or as the allocation before at the address has, and where known.

    Of the events in the order of ``rows``; so is ``device``.
    """
    size, known = events.column("size")[rows], events.seen("size")[rows]
    if known.all():
        return size, known
    address = events.column("address")[rows].view(np.uint64)
    order = np.lexsort((address, device))
    address, of, born = address[order], device[order], events.born[rows][order]
    new = np.append(True, (address[1:] != address[:-1]) | (of[1:] != of[:-1]))[: len(order)]
    place = np.arange(len(order))
    first = np.maximum.accumulate(np.where(new, place, 0))
    source = np.maximum.accumulate(np.where(born & known[order], place, -1))
    found = (source >= first) & ~known[order]
    size[order[found]] = size[order[source[found]]]
    known[order[found]] = True
    return size, known


def _groups(same: IntArray) -> list[tuple[int, int]]:
    """First and one past the last of every run of events that have the same time."""
    edges = np.diff(np.concatenate([[False], same, [False]]).astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return list(zip(starts.tolist(), (ends + 1).tolist(), strict=True))


def _woven(
    group: IntArray, line: IntArray, allocated: IntArray, moved: IntArray, start: int | None
) -> list[int]:
    """An order of ``group`` in which each line's events keep theirs and the counts fit.

    That of the file where there is none, or none is found in time.
    """
    queues: dict[int, list[int]] = {}
    for row in group.tolist():
        queues.setdefault(int(line[row]), []).append(row)
    waiting = list(queues.values())
    taken: list[int] = []
    ways = [iter(_next(waiting, [0] * len(waiting), allocated, moved, start))]
    at = [0] * len(waiting)
    chosen: list[int] = []
    failed: set[tuple[int, ...]] = set()
    for _ in range(_MOST_TRIES):
        queue = next(ways[-1], None)
        if queue is None:
            failed.add(tuple(at))
            ways.pop()
            if not ways:
                break
            taken.pop()
            at[chosen.pop()] -= 1
            continue
        at[queue] += 1
        if tuple(at) in failed:
            at[queue] -= 1
            continue
        row = waiting[queue][at[queue] - 1]
        taken.append(row)
        chosen.append(queue)
        if len(taken) == len(group):
            return taken
        ways.append(iter(_next(waiting, at, allocated, moved, int(allocated[row]))))
    return [int(row) for row in group]


def _next(
    waiting: list[list[int]],
    at: list[int],
    allocated: IntArray,
    moved: IntArray,
    now: int | None,
) -> list[int]:
    """The queues whose next event begins with ``now`` allocated."""
    found = []
    for queue, rows in enumerate(waiting):
        if at[queue] < len(rows):
            row = rows[at[queue]]
            if now is None or int(allocated[row]) - int(moved[row]) == now:
                found.append(queue)
    return found
