"""A Kineto trace's columns to the tables of a recording."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.kineto_columns import Columns
from tb_memory_plugin.readers.kineto_instants import Instants
from tb_memory_plugin.readers.kineto_memory import Histories
from tb_memory_plugin.readers.kineto_program import Program
from tb_memory_plugin.readers.kineto_timeline import timeline
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.aside import let_go, set_aside
from tb_memory_plugin.recording.schema import Action


def tables(
    columns: Columns, program: Program, found: Histories, origin: int
) -> tuple[dict[str, Any], int]:
    """The tables of events and of the program around them, and how many arrows are lost.

    Takes the columns of all three: what is made of them is as large.
    """
    made: dict[str, Any] = {"reported": set_aside(_reported(found))}
    at = program.at(found.track, found.time)
    born = found.bytes >= 0
    stack = program.stacks(at)
    ops = program.ops()
    op, module = program.called(ops[at[born]]), program.module(at[born])
    made |= program.frames()
    timed = timeline(columns, program, found, at, ops, origin)
    del at, ops
    let_go()
    made |= {"spans": timed.spans, "links": timed.links}
    around = timed.around
    made["labels"] = builder.table(
        "labels",
        {
            "device": found.device[born],
            "event": found.event[born],
            "address": found.address[born],
            "op": op,
            "module": module,
        },
    )
    del op, module
    made["blocks"] = builder.summed_blocks([one.rest for one in found.devices])
    time, size = found.time, found.bytes
    time -= origin
    np.abs(size, out=size)
    freed, alloc = np.uint8(Action.FREE_COMPLETED), np.uint8(Action.ALLOC)
    made["events"] = builder.table(
        "events",
        {
            "device": found.device,
            "time": arrays.adopted(time, pa.int64()),
            "action": np.where(born, alloc, freed),
            "address": arrays.adopted(found.address, pa.uint64()),
            "size": arrays.adopted(size, pa.int64()),
            "stack": (stack, stack < 0),
            "span": (around, around < 0),
        },
    )
    return made, timed.lost


def _reported(found: Histories) -> pa.Table:
    """The allocator's totals after every event, of the devices that have both; takes them."""
    has_both = np.array([one.has_allocated and one.has_reserved for one in found.devices])
    rows = has_both[found.device]
    chosen: Any = slice(None) if rows.all() else rows
    return builder.table(
        "reported",
        {
            "device": found.device[chosen],
            "event": found.event[chosen],
            "allocated": arrays.adopted(found.take("allocated")[chosen], pa.int64()),
            "reserved": arrays.adopted(found.take("reserved")[chosen], pa.int64()),
        },
    )


def marks(failures: Instants, found: Histories, origin: int) -> pa.Table:
    """The table ``marks``: allocations that failed."""
    places = {(one.type, one.ordinal): place for place, one in enumerate(found.devices)}
    keys = failures.devices.words
    columns = (failures.column(name).tolist() for name in ("time", "device", "bytes"))
    rows = []
    for time, code, size in zip(*columns, strict=True):
        place = places.get(keys[code])
        if place is not None:
            times = found.time[found.devices[place].rows]
            event = int(np.searchsorted(times, time, side="right")) - 1
            rows.append((place, event, time - origin, abs(size)))
    rows.sort()
    return builder.table(
        "marks",
        {
            "device": np.array([row[0] for row in rows], dtype=np.int16),
            "event": np.array([row[1] for row in rows], dtype=np.int64),
            "time": np.array([row[2] for row in rows], dtype=np.int64),
            "kind": ["out_of_memory"] * len(rows),
            "text": [f"An allocation of {row[3]} bytes failed" for row in rows],
            "values": [json.dumps({"requested": row[3]}) for row in rows],
        },
    )
