"""Allocator events, steps and HLO modules of an XPlane to the tables of a recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers import xplane_spans as spans
from tb_memory_plugin.readers.xplane_dtypes import dtype_name
from tb_memory_plugin.readers.xplane_memory import Memory
from tb_memory_plugin.readers.xplane_planes import Planes
from tb_memory_plugin.readers.xplane_words import mapped
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import MOST_MEMORY, Action
from tb_memory_plugin.recording.vocabulary import Vocabulary


def tables(planes: Planes, memory: Memory, origin: int) -> dict[str, pa.Table]:
    """The recorded tables; times count from ``origin``."""
    events, program = memory.events, planes.program
    around = program.around(events.line, events.time)
    calls = program.calls()
    stack = calls.stacks(around)
    host = program.spans()
    span = host.around[around]
    return {
        "events": builder.table(
            "events",
            {
                "device": memory.device,
                "time": events.time - origin,
                "action": np.where(events.born, int(Action.ALLOC), int(Action.FREE_COMPLETED)),
                "address": (events.column("address").view(np.uint64), ~events.seen("address")),
                "size": memory.size,
                "stack": (stack, stack < 0),
                "span": (span, span < 0),
                "step": _steps(planes, memory),
            },
        ),
        "labels": _labels(planes, memory, around),
        "reported": _reported(memory),
        "blocks": builder.summed_blocks(memory.rest),
        **spans.tables(planes, host, memory.keys, origin),
        **calls.tables(),
    }


def _labels(planes: Planes, memory: Memory, around: IntArray) -> pa.Table:
    """What is known of allocations: of those before the window, at the free, what was requested."""
    events = memory.events
    asked, has_asked = events.column("requested"), _in_range(memory, "requested")
    older = memory.first & ~events.born & has_asked & events.seen("address")
    address = events.column("address").view(np.uint64)
    before = np.flatnonzero(older & (address != 0))
    before = before[np.lexsort((address[before], memory.device[before]))]
    births = np.flatnonzero(events.born)
    rows = np.concatenate([before, births])
    old = np.arange(len(rows)) < len(before)
    order = np.argsort(memory.device[rows], kind="stable")
    rows, old = rows[order], old[order]

    def text(name: str) -> pa.DictionaryArray:
        codes = np.where(old, -1, events.column(name)[rows])
        if name == "op":  # what does not say it is of the operator that runs on its thread
            codes = np.where(old | (codes >= 0), codes, running)
        return arrays.text(codes, planes.words[name].words)

    running = planes.program.ops(around[rows], planes.words["op"])

    types = Vocabulary()
    numbers = np.where(events.seen("dtype")[rows] & ~old, events.column("dtype")[rows], 0)
    codes = mapped(numbers, lambda number: types.code(dtype_name(number) or None))
    step, without = _steps(planes, memory)
    return builder.table(
        "labels",
        {
            "device": memory.device[rows],
            "event": np.where(old, -1, memory.ordinal[rows]),
            "address": address[rows],
            "dtype": arrays.text(codes, types.words),
            "shape": text("shape"),
            "op": text("op"),
            "region": text("region"),
            "step": (step[rows], old | without[rows]),
            "requested": (asked[rows], ~has_asked[rows]),
        },
    )


def _steps(planes: Planes, memory: Memory) -> tuple[IntArray, IntArray]:
    """The step that each event says it is of, and where it says none; none, where steps are marked.

    Births and frees say it alike: a free is of the step that it happens in.
    """
    group = memory.events.column("group")
    return group, ~memory.events.seen("group") | (group < 0) | planes.program.has_steps


def _in_range(memory: Memory, name: str) -> IntArray:
    """Where a count of bytes is said and can be one (an allocator without a limit says −1)."""
    values = memory.events.column(name)
    found: IntArray = memory.events.seen(name) & (values >= 0) & (values < MOST_MEMORY)
    return found


def _reported(memory: Memory) -> pa.Table:
    events = memory.events
    rows = np.flatnonzero(events.seen("allocated"))
    columns: dict[str, Any] = {
        name: (events.column(name)[rows], ~_in_range(memory, name)[rows])
        for name in ("stack", "free", "lifetime_peak")
    }
    fragmentation = np.ascontiguousarray(events.column("fragmentation")[rows]).view(np.float64)
    fragmentation = np.where(events.seen("fragmentation")[rows], fragmentation, np.nan)
    return builder.table(
        "reported",
        {
            "device": memory.device[rows],
            "event": memory.ordinal[rows],
            "allocated": events.column("allocated")[rows],
            "fragmentation": arrays.real_column(fragmentation),
            **columns,
        },
    )


def capacities(memory: Memory) -> list[int | None]:
    """Of every device stack + heap + free, None where its allocator does not say what is free."""
    events = memory.events
    known = events.seen("allocated") & _in_range(memory, "free")
    stack = np.where(_in_range(memory, "stack"), events.column("stack"), 0)
    free = events.column("free")
    whole = stack + events.column("allocated") + free
    found: list[int | None] = []
    for begin, end in memory.bounds:
        here = np.flatnonzero(known[begin:end]) + begin
        # All the time nothing free: an allocator without a limit, as on a CPU.
        found.append(int(whole[here].max()) if free[here].any() else None)
    return found


def lifetime_peaks(memory: Memory) -> list[int | None]:
    """Of every device the most that its allocator ever had allocated; None where not said."""
    values = np.where(_in_range(memory, "lifetime_peak"), memory.events.column("lifetime_peak"), -1)
    most = [int(values[begin:end].max()) for begin, end in memory.bounds]
    return [None if peak < 0 else peak for peak in most]
