"""Recorded tables, made into the derived ones: lives, curves, what stacks tell."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.columns import joined
from tb_memory_plugin.analysis.device_part import DevicePart
from tb_memory_plugin.analysis.metadata import Metadata
from tb_memory_plugin.analysis.positions import positions
from tb_memory_plugin.analysis.telling import frame_kinds, stack_names
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


def derive(recording: Recording) -> Recording:
    """``recording`` with the derived tables of ``schema.DERIVED`` worked out from the recorded.

    What is odd about the history is added to ``meta["problems"]``. Columns, no loop over events.
    Raises SourceError where the history cannot be counted: negative sizes, sums over 64 bits.
    """
    parts = [DevicePart.of(recording, device) for device in recording.devices]
    segments = np.cumsum([0, *(len(part.segments.birth) for part in parts)])
    allocations = np.cumsum([0, *(len(part.lives.birth) for part in parts)])
    words = {
        **_words(recording, "labels", "name", "dtype", "shape", "op", "module"),
        **_words(recording, "events", "compile_context"),
        **_words(recording, "segments", "kind"),
        "annotation": arrays.words(recording.table("spans"), "name"),
    }
    metadata = Metadata(arrays.words(recording.table("events"), "user_metadata"))
    rows = [
        part.allocations(int(row), metadata) for part, row in zip(parts, segments, strict=False)
    ]
    tables = {
        "allocations": joined("allocations", rows, {**words, "user_metadata": metadata.words}),
        "usage": joined(
            "usage",
            [part.curve(int(row)) for part, row in zip(parts, allocations, strict=False)],
            words,
        ),
        "segment_lives": joined("segment_lives", [part.segment_lives() for part in parts], words),
        "frame_kinds": (kinds := frame_kinds(recording)),
        "stack_names": stack_names(recording, kinds),
    }
    problems = [problem for part in parts for problem in part.tables.problems]
    known = dict.fromkeys([*recording.meta.get("problems", []), *problems])
    meta = {**recording.meta, "problems": list(known)}
    derived = Recording(meta, {**recording.tables, **tables})
    return derived.with_tables({"positions": positions(derived)})


def _words(recording: Recording, table: str, *columns: str) -> dict[str, list[str]]:
    return {column: arrays.words(recording.table(table), column) for column in columns}
