"""The buffers of a plan at a moment of program order, as rows for the page and the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.columns import picked
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.plan_schema import BufferKind
from tb_memory_plugin.recording.recording import Recording


def alive(recording: Recording, plan: Plan, event: int) -> dict[str, Any]:
    """``{"buffers": [...], "total_bytes"}`` after ``event``: every buffer that holds memory.

    Bytes are integers; ``birth`` and ``death`` are events of the plan, null for what is held from
    the start or to the end.
    """
    rows = reading.alive(recording, plan, event)
    return {
        "buffers": described(recording, rows),
        "total_bytes": reading.in_use(recording, plan, event),
    }


def described(recording: Recording, rows: IntArray) -> list[dict[str, Any]]:
    """Rows of ``buffer_lives`` in words and numbers."""
    lives = recording.table("buffer_lives").take(arrays.column(rows, pa.int64())).to_pylist()
    buffer = recording.values("buffer_lives", "buffer")[rows]
    instruction = picked(recording.values("buffers", "instruction"), buffer)
    ids = picked(recording.values("buffers", "id"), buffer)
    stack = picked(recording.values("instructions", "stack"), instruction)
    allocation = recording.values("buffer_lives", "allocation")[rows]
    kinds = picked(recording.values("buffer_allocations", "kind").astype(np.int64), allocation)
    indices = picked(recording.values("buffer_allocations", "index"), allocation)
    held = recording.values("buffer_lives", "birth")[rows] < 0
    offsets = np.where(held, 0, picked(recording.values("buffers", "offset"), buffer))
    words = {
        name: arrays.words_of(recording.table(table), name, rows)
        for table, names, rows in (
            ("instructions", ("name", "opcode", "op"), instruction),
            ("buffers", ("shape", "index"), buffer),
        )
        for name in names
    }
    sources: dict[int, dict[str, Any] | None] = {}
    found = []
    for place, life in enumerate(lives):
        at = int(stack[place])
        if at not in sources:
            sources[at] = reading.source_of(recording, at)
        name = words["name"][place]
        found.append(
            {
                "id": int(ids[place]) if buffer[place] >= 0 else None,
                "instruction": f"{name}{words['index'][place] or ''}" if name else None,
                "opcode": words["opcode"][place],
                "shape": words["shape"][place],
                "bytes": life["size"],
                "unpadded_bytes": life["unpadded"],
                "offset": int(offsets[place]),
                "allocation": int(indices[place]) if allocation[place] >= 0 else None,
                "place": life["offset"],
                "birth": life["birth"],
                "death": life["death"],
                "kind": BufferKind(int(kinds[place])).label if kinds[place] >= 0 else None,
                "framework_op": words["op"][place],
                "source": sources[at],
            }
        )
    return found
