"""One allocation, made into everything the page can say about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact, naming, shapes
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of, peak_row
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import frames_of
from tb_memory_plugin.analysis.grouping import FIRST, group_ids
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.trace.made import made
from tb_memory_plugin.views.words import allocation_rows, device_of_row, hexadecimal

#: Siblings that are named: as many before and after in the order of birth.
_NEAR = 5_000


def card(recording: Recording, id: str, by: str = "", pattern: str = "") -> dict[str, Any]:
    """The answer of ``GET allocation``; with ``by`` also the key of its group.

    Raises QueryError for an unknown ``id`` or grouping.
    """
    table = recording.table("allocations")
    if not id.isascii() or not id.isdigit() or int(id) >= len(table):
        raise QueryError(f"There is no allocation {id!r} in this recording.")
    row = int(id)
    values = {name: table.column(name)[row].as_py() for name in table.column_names}
    device = device_of_row(recording, row)
    (answer,) = allocation_rows(recording, np.array([row]))
    stacks = {
        name: frames_of(recording, -1 if values[name] is None else values[name])
        for name in ("birth_stack", "death_stack", "forward_stack")
    }
    return {
        **answer,
        "device": device.key,
        "size_inferred": bool(values["size_inferred"]),
        "category_inferred": bool(values["category_inferred"]),
        "free_requested": values["free_requested"],
        "stream": _stream(values["stream"]),
        "pool": _pool(recording, values["pool"]),
        "segment": _segment(recording, values["segment"]),
        "annotation": values["annotation"],
        "compile_context": values["compile_context"],
        "user_metadata": values["user_metadata"],
        "before_window": values["birth"] is None,
        **stacks,
        "siblings": _siblings(recording, device, row),
        "guesses": None if answer["shape"] else _guesses(recording, device, row),
        **made(recording, device, row - _first(recording, device)),
        "group": {"by": by, "key": _group(recording, device, row, by, pattern)} if by else None,
    }


def _group(recording: Recording, device: Device, row: int, by: str, pattern: str) -> str:
    groups = group_ids(recording, device, by, pattern)
    (key,) = naming.keys(recording, groups, [int(groups.ids[row - _first(recording, device)])])
    return key


def _guesses(recording: Recording, device: Device, row: int) -> dict[str, Any]:
    """What its bytes, in the recording's basis, may be: shapes, and multiples of other sizes."""
    size = int(bytes_of(recording, device)[row - _first(recording, device)])
    return {
        "shapes": [asdict(shape) for shape in shapes.shapes(recording, size)],
        "multiples": [asdict(multiple) for multiple in shapes.multiples(recording, size)],
    }


def _first(recording: Recording, device: Device) -> int:
    first: int = recording.rows("allocations", device).start
    return first


def _stream(stream: int | None) -> str | None:
    return None if stream is None else "default" if stream == 0 else f"{stream:#x}"


def _pool(recording: Recording, pool: int | None) -> str | None:
    if pool is None:
        return None
    first, second = recording.meta["pools"][pool]
    return "default" if (first, second) == (0, 0) else f"private {first},{second}"


def _segment(recording: Recording, segment: int | None) -> dict[str, Any] | None:
    if segment is None:
        return None
    row = recording.table("segment_lives").slice(segment, 1).to_pylist()[0]
    kept = ("size", "kind", "expandable", "birth", "death")
    return {"address": hexadecimal(row["address"]), **{name: row[name] for name in kept}}


def _siblings(recording: Recording, device: Device, row: int) -> dict[str, Any] | None:
    """The device's allocations from the same stack; None where the stack is not known."""
    first = _first(recording, device)
    ids: IntArray = group_ids(recording, device, "stack").ids
    own = ids[row - first]
    if own < FIRST:
        return None
    same = np.flatnonzero(ids == own)
    event = int(recording.values("usage", "event", device)[peak_row(recording, device)])
    at_peak = alive_rows(recording, device, event)
    place = int(np.searchsorted(same, row - first))
    near = same[max(0, place - _NEAR) : place + _NEAR + 1]
    return {
        "count": len(same),
        "bytes": exact.total(bytes_of(recording, device)[same]),
        "alive_at_peak": int((ids[at_peak] == own).sum()),
        "ids": [str(sibling + first) for sibling in near.tolist()],
    }
