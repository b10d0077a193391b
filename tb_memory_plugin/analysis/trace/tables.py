"""All derived tables of what a program did."""

from __future__ import annotations

import pyarrow as pa

from tb_memory_plugin.analysis.trace.around import around, event_spans
from tb_memory_plugin.analysis.trace.memory import span_memory
from tb_memory_plugin.analysis.trace.places import place_tables
from tb_memory_plugin.recording.aside import let_go
from tb_memory_plugin.recording.recording import Recording


def trace_tables(recording: Recording) -> dict[str, pa.Table]:
    """The tables of ``trace_schema.DERIVED``; none without spans."""
    found = event_spans(recording)
    known = recording.with_tables(found)
    found |= place_tables(known, around(known))
    let_go()
    found |= span_memory(recording.with_tables(found))
    let_go()
    return found
