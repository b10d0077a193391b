"""The program's steps and annotations and the profiler's spans, made into one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tb_memory_plugin.recorder.profiler.spans import SpanRows
from tb_memory_plugin.recorder.program import Program
from tb_memory_plugin.recording import arrays, builder

_TRACKS = {"step": "steps", "annotation": "annotations"}
_OPEN = 1 << 62

Numbers = npt.NDArray[Any]


def span_table(
    program: Program, found: SpanRows | None = None, *, annotations: bool = True
) -> pa.Table:
    """The table ``spans``: what was ``found`` first, so that its rows keep their numbers.

    Times are relative to the program's origin.
    """
    found = found or SpanRows()
    own = [*program.steps, *(program.annotations if annotations else ())]
    kinds = [found.kinds.words[code] for code in found.kind] + [span.kind for span in own]
    names = [found.names.words[code] for code in found.name] + [span.name for span in own]
    tracks = [found.tracks.words[code] for code in found.track]
    begin = np.array([*found.begin, *(span.begin for span in own)], dtype=np.int64)
    end = np.array([*found.end, *(span.end or _OPEN for span in own)], dtype=np.int64)
    parents = np.array([*found.parent, *(-1 for _ in own)], dtype=np.int64)
    depth = np.array([*found.depth, *(0 for _ in own)], dtype=np.int64)
    args = np.array([*found.args, *(-1 for _ in own)], dtype=np.int32)
    annotated = np.array([kind == "annotation" for kind in kinds], dtype=bool)
    depth[annotated] = _lanes(begin[annotated], end[annotated])
    return builder.table(
        "spans",
        {
            "track": tracks + [_TRACKS[span.kind] for span in own],
            "kind": kinds,
            "name": names,
            "begin": begin - program.origin,
            "end": (end - program.origin, end == _OPEN),
            "depth": depth,
            "parent": (parents, parents < 0),
            "step": [None] * len(found) + [span.step for span in own],
            "args": arrays.text(args, found.arguments.words),
        },
    )


def _lanes(begin: Numbers, end: Numbers) -> Numbers:
    """For every span the first lane that is free when it begins: its depth, if spans nest."""
    lanes = np.zeros(len(begin), dtype=np.int64)
    free_from: list[int] = []
    for row in np.lexsort((-end, begin)).tolist():
        lane = next(
            (place for place, free in enumerate(free_from) if free <= begin[row]), len(free_from)
        )
        free_from[lane : lane + 1] = [int(end[row])]
        lanes[row] = lane
    return lanes
