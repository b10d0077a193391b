"""Modules that were taken in, as the tables of a recording."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from tb_memory_plugin.readers.hlo_module import Modules
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.schema import RECORDED


def tables(modules: Modules, beside: Mapping[str, pa.Table] | None = None) -> dict[str, pa.Table]:
    """The tables of the plan, with its frames and stacks after those that are ``beside``."""
    found = {name: rows.table() for name, rows in modules.rows.items()}
    own = modules.stacks.tables()
    if not beside or not len(own["stacks"]):
        return {**found, **(own if not beside else {})}
    frames, stacks = len(beside["frames"]), len(beside["stacks"])
    lists = own["stacks"].column("frames").combine_chunks()
    moved = pa.ListArray.from_arrays(
        lists.offsets, pc.add(lists.values, pa.scalar(frames, pa.int32()))
    )
    table = found["instructions"]
    place = table.schema.get_field_index("stack")
    stack = arrays.values(table, "stack")
    column = arrays.column(stack + stacks, pa.int32(), stack < 0, "stack")
    found["instructions"] = table.set_column(place, table.schema.field(place), column)
    return {
        **found,
        "frames": _joined(beside["frames"], own["frames"], "frames"),
        "stacks": _joined(beside["stacks"], pa.table([moved], schema=RECORDED["stacks"]), "stacks"),
    }


def _joined(first: pa.Table, second: pa.Table, name: str) -> pa.Table:
    whole = pa.concat_tables([first, second]).unify_dictionaries().combine_chunks()
    return whole.cast(RECORDED[name])
