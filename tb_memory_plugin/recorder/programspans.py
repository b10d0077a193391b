"""The program's steps and annotations and the profiler's spans, made into one table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.recorder.profiler.spans import SpanRows
from tb_memory_plugin.recorder.program import Program
from tb_memory_plugin.recording import builder

_TRACKS = {"step": "steps", "annotation": "annotations"}


def span_table(
    program: Program, found: SpanRows | None = None, *, annotations: bool = True
) -> pa.Table:
    """The table ``spans``: what was ``found`` first, so that its rows keep their numbers.

    Times are relative to the program's origin.
    """
    found = found or SpanRows()
    own = [*program.steps, *(program.annotations if annotations else ())]
    count = len(found)
    words = found.kinds.words, found.names.words, found.tracks.words
    kinds = [words[0][code] for code in found.kind] + [span.kind for span in own]
    names = [words[1][code] for code in found.name] + [span.name for span in own]
    tracks = [words[2][code] for code in found.track] + [_TRACKS[span.kind] for span in own]
    begin = np.concatenate(
        [np.array(found.begin, dtype=np.int64), np.array([s.begin for s in own], dtype=np.int64)]
    )
    ends = [span.end or 0 for span in own]
    end = np.concatenate([np.array(found.end, dtype=np.int64), np.array(ends, dtype=np.int64)])
    parents = np.concatenate(
        [np.array(found.parent, dtype=np.int64), np.full(len(own), -1, dtype=np.int64)]
    )
    return builder.table(
        "spans",
        {
            "track": tracks,
            "kind": kinds,
            "name": names,
            "begin": begin - program.origin,
            "end": (end - program.origin, end == 0),
            "depth": [*found.depth, *(span.depth for span in own)],
            "parent": (parents, parents < 0),
            "step": [None] * count + [span.step for span in own],
        },
    )
