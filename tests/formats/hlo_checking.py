"""What holds of the tables of any plan, whatever the file was, and of what views make of them."""

from __future__ import annotations

import json

import numpy as np

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import MOST_MEMORY
from tb_memory_plugin.views import buffers, plans

#: Columns that are rows of other tables.
_REFERENCES = (
    ("instructions", "module", "modules"),
    ("instructions", "stack", "stacks"),
    ("buffer_allocations", "module", "modules"),
    ("buffers", "module", "modules"),
    ("buffers", "instruction", "instructions"),
    ("buffers", "allocation", "buffer_allocations"),
    ("heap", "buffer", "buffers"),
    ("heap", "shares", "buffers"),
    ("heap", "instruction", "instructions"),
    ("plans", "module", "modules"),
    ("plan_events", "plan", "plans"),
    ("plan_events", "buffer", "buffers"),
    ("buffer_lives", "plan", "plans"),
    ("buffer_lives", "buffer", "buffers"),
    ("buffer_lives", "allocation", "buffer_allocations"),
)
_BYTES = ("peak", "unpadded_peak", "total", "indefinite", "untraced", "fragmentation")


def check_plans(recording: Recording) -> None:
    """Rows refer to rows, bytes are no nonsense, and every view answers."""
    for table, column, target in _REFERENCES:
        values = recording.values(table, column)
        assert not len(values) or (
            values.min() >= -1 and values.max() < len(recording.table(target))
        ), (table, column)
    for column in _BYTES:
        values = recording.values("plans", column)
        assert not len(values) or (values.min() >= 0 and values.max() < 2 * MOST_MEMORY), column
    json.dumps(plans.modules(recording))
    for plan in reading.all_plans(recording):
        for event in {-1, reading.moment(plan, "peak"), plan.numbers["events"] - 1}:
            answer = buffers.alive(recording, plan, event)
            assert sum(each["bytes"] for each in answer["buffers"]) == answer["total_bytes"]
            json.dumps(answer)
        life = reading.lives(recording, plan)
        birth, death = (recording.values("buffer_lives", name)[life] for name in ("birth", "death"))
        assert (np.maximum(birth, -1) < death).all()
