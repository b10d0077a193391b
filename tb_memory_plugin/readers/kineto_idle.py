"""Python calls in which a trace's allocator did nothing: in no stack, and most of a long trace."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.readers.kineto_columns import Columns, module_of
from tb_memory_plugin.readers.kineto_instants import Instants
from tb_memory_plugin.readers.kineto_kinds import PYTHON
from tb_memory_plugin.recording.arrays import IntArray

#: Nanoseconds after its end in which a call still counts. Where the file has whole microseconds, an
#: end is rounded twice, with its begin and with its duration: what is in a call, however deep, may
#: then seem to outlast it by up to two. More is safer: annotations may really outlast calls.
_SLACK = 20_000
#: Rows looked at at a time.
_PART = 1 << 16


def drop_idle_calls(columns: Columns) -> None:
    """Take out the Python calls that no allocator's event is in, but those of modules.

    What is around an event stays, in the order that it was in.
    """
    if columns.called:  # by row
        return
    times = _times(columns.memory)
    is_module = np.array([module_of(name) is not None for name in columns.names.codes], dtype=bool)
    columns.spans.keep_only(
        lambda part: (part["kind"] != PYTHON) | is_module[part["name"]] | _holds(part, times),
        _PART,
    )


def _times(memory: Instants) -> list[IntArray]:
    """Of every track, by code, when something happened on it."""
    track, time = memory.column("track"), memory.column("time")
    tracks = int(track.max(initial=-1)) + 1
    return [np.sort(time[track == code]) for code in range(tracks)]


def _holds(part: dict[str, IntArray], times: list[IntArray]) -> IntArray:
    track, begin, end = part["track"], part["begin"], part["end"]
    found = np.zeros(len(track), dtype=bool)
    for code in np.flatnonzero(np.bincount(track)).tolist():
        if code < len(times):
            rows = np.flatnonzero(track == code)
            first = np.searchsorted(times[code], begin[rows])
            found[rows] = np.searchsorted(times[code], end[rows] + _SLACK, side="right") > first
    return found
