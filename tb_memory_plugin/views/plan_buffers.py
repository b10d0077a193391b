"""A plan for the page: one of its buffers with all around it, and the curve."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import plan_lives
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.analysis.plan_runs import instruction_runs
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.plan_schema import HeapKind
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import buffers, ipc
from tb_memory_plugin.views.trace import spans

#: Operands and users that are named.
_NEAR = 100
#: Allocations of one instruction that are named: it may make several, each of them again and again.
_MADE = 4
#: Letters of an instruction's name on the curve, which has many.
_LONGEST = 200
#: What is told of an allocation, and of an instruction.
_ALLOCATION = ("index", "size", "parameter", "parameter_index", "is_output")
_TOLD = ["name", "opcode", "shape", "bytes", "position", "op"]


def curve(recording: Recording, plan: Plan, begin: int, end: int, width: int) -> bytes:
    """An Arrow stream of the plan's curve over events ``begin`` … ``end`` - 1.

    At most ``width`` bins, all of as many events, the first at ``begin``: ``event`` of the highest
    moment of each that there is, ``size``, ``unpadded`` at it, and the name of the ``instruction``
    that the event is of, null where the heap names none.
    """
    column = recording.values("plan_events", "plan")
    first = int(np.searchsorted(column, plan.row))
    last = plan.numbers["events"]
    bin = max(1, -(-(end - begin) // width))
    begin, end = min(begin, last), min(end, last)
    size = recording.values("plan_events", "size")[first + begin : first + end]
    bare = recording.values("plan_events", "unpadded")[first + begin : first + end]
    edges = [*range(0, len(size), bin), len(size)]
    highest = [low + int(np.argmax(size[low:high])) for low, high in pairwise(edges)]
    rows = np.array(highest, dtype=np.int64)
    instruction = recording.values("plan_events", "instruction")[first + begin + rows]
    names = arrays.words_of(recording.table("instructions"), "name", instruction)
    columns = {
        "event": arrays.column(begin + rows, pa.int32()),
        "size": arrays.real_column(size[rows].astype(np.float64)),
        "unpadded": arrays.real_column(bare[rows].astype(np.float64)),
        "instruction": arrays.encoded_text(name and name[:_LONGEST] for name in names),
    }
    return ipc.stream(columns)


def card(recording: Recording, id: int) -> dict[str, Any]:
    """What a plan knows of a buffer beside what is known of any allocation, by its allocation's id.

    Its numbers and kind, who shares its memory, where its instruction ran, and that one's operands
    and users with their shapes and bytes. Raises QueryError where there is no such allocation.
    """
    order = plan_lives.in_order(recording)
    if not 0 <= id < len(order):
        raise QueryError(f"There is no buffer {id} in the plans of this recording.")
    life = int(order[id])
    (row,) = buffers.described(recording, np.array([life]))
    buffer = int(recording.values("buffer_lives", "buffer")[life])
    allocation = int(recording.values("buffer_lives", "allocation")[life])
    instruction = int(recording.values("buffers", "instruction")[buffer]) if buffer >= 0 else -1
    return {
        **{key: value for key, value in row.items() if key != "source"},
        "allocation": _allocation(recording, allocation),
        "sharing": _sharing(recording, buffer),
        "ran": _ran(recording, instruction),
        **_around(recording, instruction),
    }


def near(recording: Recording, instruction: int) -> dict[str, Any]:
    """A row of ``instructions``, whether it makes a buffer or not, with its operands and users.

    As in :func:`card`. Raises QueryError where there is no such instruction.
    """
    if not 0 <= instruction < len(recording.table("instructions")):
        raise QueryError(f"There is no instruction {instruction} in the modules of this recording.")
    return _around(recording, instruction)


def _around(recording: Recording, instruction: int) -> dict[str, Any]:
    own = _instructions(recording, np.array([instruction]))
    return {
        "instruction": own[0] if own else None,
        "operands": _instructions(recording, _operands(recording, instruction)),
        "users": _instructions(recording, _users(recording, instruction)),
    }


def _allocation(recording: Recording, row: int) -> dict[str, Any] | None:
    if row < 0:
        return None
    found: dict[str, Any] = recording.table("buffer_allocations").slice(row, 1).to_pylist()[0]
    return {key: found[key] for key in _ALLOCATION}


def _ran(recording: Recording, instruction: int) -> dict[str, Any] | None:
    """How often an instruction ran, the span of the first time, and the device; None unknown."""
    if instruction < 0:
        return None
    rows = instruction_runs(recording, instruction)
    if not len(rows):
        return None
    first = int(rows[0])
    device = recording.devices[int(recording.values("spans", "device")[first])]
    return {"count": len(rows), "device": device.key, "span": spans.one(recording, first)}


def _sharing(recording: Recording, buffer: int) -> list[dict[str, Any]]:
    """Buffers that share the memory of ``buffer``, as its heap says."""
    kind = recording.values("heap", "kind")
    shares = recording.values("heap", "shares")
    rows = np.flatnonzero((kind == int(HeapKind.SHARE_WITH)) & (shares == buffer))[:_NEAR]
    sharer = recording.values("heap", "buffer")[rows]
    instruction = recording.values("buffers", "instruction")[sharer]
    return _instructions(recording, instruction)


def _operands(recording: Recording, instruction: int) -> IntArray:
    if instruction < 0:
        return np.zeros(0, dtype=np.int64)
    found = recording.table("instructions").column("operands")[instruction].as_py() or []
    return np.array(found, dtype=np.int64)


def _users(recording: Recording, instruction: int) -> IntArray:
    if instruction < 0:
        return np.zeros(0, dtype=np.int64)
    values, offsets = arrays.lists(recording.table("instructions"), "operands")
    at = np.flatnonzero(values == instruction)
    return np.unique(np.searchsorted(offsets, at, side="right") - 1)


def _instructions(recording: Recording, rows: IntArray) -> list[dict[str, Any]]:
    """Instructions in words: row, name, opcode, shape, bytes, position, ids of what they make."""
    rows = rows[rows >= 0][:_NEAR]
    if not len(rows):
        return []
    table = recording.table("instructions").select(_TOLD)
    told = table.take(arrays.column(rows, pa.int64())).to_pylist()
    return [
        {"row": str(row), **each, "ids": list(map(str, plan_lives.made_by(recording, row, _MADE)))}
        for row, each in zip(rows.tolist(), told, strict=True)
    ]
