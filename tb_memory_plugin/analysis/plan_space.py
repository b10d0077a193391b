"""The plan of one memory space of a module: what is held all the time, and what comes and goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.heap_order import program_order
from tb_memory_plugin.analysis.heap_simulation import Heap, replay
from tb_memory_plugin.analysis.plan_allocations import Columns, Held

_MOST_TOLD = 3


@dataclass(frozen=True)
class Space:
    """The row of ``plans`` of a space, and the columns of its events and lives."""

    numbers: dict[str, Any]
    events: dict[str, IntArray]
    lives: dict[str, IntArray]


def plan_of(
    columns: Columns, module: int, space: int, chosen: IntArray, problems: list[str]
) -> Space:
    """The plan of ``space``; ``chosen`` are its events among those of the module.

    What is odd is added to ``problems``.
    """
    heap = columns.rows("heap", module)
    rows = np.flatnonzero(chosen) + heap.start
    instruction = columns.of("heap", "instruction")[rows]
    positions = columns.of("instructions", "position")
    position = (
        np.where(instruction >= 0, positions[instruction], -1) if len(positions) else instruction
    )
    trace, kind = columns.of("heap", "trace")[rows], columns.of("heap", "kind")[rows]
    rows = rows[program_order(trace, kind, position)]
    kind, buffer = columns.of("heap", "kind")[rows], columns.of("heap", "buffer")[rows]
    found = replay(kind.tolist(), buffer.tolist(), columns.of("heap", "shares")[rows].tolist())
    problems += _faults(found, columns, space)
    held = Held(columns, module, space, buffer)
    problems += held.faults(columns.of("heap", "trace")[rows], buffer)

    size, unpadded = columns.of("buffers", "size"), columns.bare
    sign = np.array([0 if each is None else each[1] for each in found.changes], dtype=np.int64)
    root = np.array([0 if each is None else each[0] for each in found.changes], dtype=np.int64)
    moved = sign * size[root] if len(root) else sign
    in_use = held.size + np.cumsum(moved)
    bare = held.unpadded + np.cumsum(sign * unpadded[root] if len(root) else sign)
    at = int(np.argmax(in_use)) if len(in_use) else 0
    if len(in_use) and in_use[at] <= held.size:
        at = 0
    most = max(held.size, int(in_use[at])) if len(in_use) else held.size
    numbers = {
        "module": module,
        "space": space,
        "events": len(rows),
        "peak": most,
        "unpadded_peak": int(bare[at]) if len(bare) else held.unpadded,
        "peak_event": at,
        **held.numbers,
        "unpadded_indefinite": held.unpadded,
        "fragmentation": held.fragmentation(root, moved),
    }
    events = {
        "size": in_use,
        "unpadded": bare,
        "instruction": columns.of("heap", "instruction")[rows],
        "kind": kind.astype(np.int64),
        "buffer": buffer.astype(np.int64),
    }
    return Space(numbers, events, held.lives(found, size, unpadded))


def _faults(heap: Heap, columns: Columns, space: int) -> list[str]:
    ids = columns.of("buffers", "id")
    told = (
        (heap.freed_twice, "freed while not alive"),
        (heap.made_twice, "allocated while alive"),
        (heap.adrift, "shared with what is not in the module"),
    )
    found = []
    for rows, what in told:
        if rows:
            some = ", ".join(str(ids[row]) for row in rows[:_MOST_TOLD])
            more = f" and {len(rows) - _MOST_TOLD} more" if len(rows) > _MOST_TOLD else ""
            found.append(
                f"In the heap of memory space {space}, buffer {some}{more} is {what}: such events "
                "change nothing."
            )
    return found
