"""Steps laid over each other: memory within each of some, from its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.attribution import Spans, spans_of_kind
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.trace.memory import memory_of
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.trace.spans import row_of, spans

#: Steps that an answer lists, and those that it has curves of.
MOST_STEPS = 5_000
MOST_CURVES = 64


def steps(
    recording: Recording, device: Device, *, ids: Sequence[str], width: int
) -> dict[str, Any]:
    """The answer of ``GET trace.steps``: all steps, and the curves of those with ``ids``.

    A curve has a point where memory changes, one a pixel at most: ``offset`` ns after the step's
    beginning, the ``highest`` allocated in that pixel (with what was carried into it) and the
    ``last``. The first is the moment before. A pixel is a power of two of ns: the longest step
    takes ``width`` of them, or up to twice as many. Raises QueryError.
    """
    times = event_times(recording, device)
    if times is None:
        raise QueryError(f"The events of {device.name} have no time stamps to place steps by.")
    of = spans_of_kind(recording, "step", device)
    order = np.argsort(of.begin, kind="stable")
    of = Spans(of.rows[order], of.begin[order], of.end[order])
    listed = of.rows[:MOST_STEPS]
    chosen = np.array([_step(recording, of, id) for id in ids[:MOST_CURVES]], dtype=np.int64)
    begin, end = _drawn(recording, chosen)
    longest = int((end - begin).max(initial=1))
    level = max((longest // max(width, 1)).bit_length() - 1, 0)
    edges = [np.searchsorted(times, edge) for edge in (begin, end)]
    return {
        "device": device.key,
        "steps": _listed(recording, device, times, listed),
        "hidden": len(of.rows) - len(listed),
        "pixel": 1 << level,
        "longest": longest,
        "curves": [
            {"id": str(row), **_curve(recording, device, times, start, level, first, stop)}
            for row, start, first, stop in zip(
                chosen.tolist(), begin.tolist(), *(edge.tolist() for edge in edges), strict=True
            )
        ],
    }


def _step(recording: Recording, of: Spans, id: str) -> int:
    row = row_of(recording, id)
    if row not in of.rows:
        raise QueryError(f"The span {id!r} is no step of this device.")
    return row


def _drawn(recording: Recording, rows: IntArray) -> tuple[IntArray, IntArray]:
    """When spans begin and end, what was not seen at the ends of everything."""
    place = recording.values("span_places", "place")[rows]
    begin, end = (recording.values("span_order", name)[place] for name in ("begin", "end"))
    return begin, end


def _listed(
    recording: Recording, device: Device, times: IntArray, rows: IntArray
) -> list[dict[str, Any]]:
    begin, end = _drawn(recording, rows)
    allocated = recording.values("usage", "allocated", device)
    event = recording.values("usage", "event", device)
    before, after = (
        allocated[np.searchsorted(event, np.searchsorted(times, edge)) - 1] for edge in (begin, end)
    )
    memory = memory_of(recording, device, rows)
    columns = {
        "before": before,
        "peak": before + memory["peak"],
        "after": after,
        "allocated": memory["allocated"],
        "freed": memory["freed"],
    }
    return [
        {**step, **{name: int(values[at]) for name, values in columns.items()}}
        for at, step in enumerate(spans(recording, rows))
    ]


def _curve(
    recording: Recording,
    device: Device,
    times: IntArray,
    begin: int,
    level: int,
    first: int,
    stop: int,
) -> dict[str, list[int]]:
    event = recording.values("usage", "event", device)
    allocated = recording.values("usage", "allocated", device)
    low, high = (int(np.searchsorted(event, edge)) for edge in (first, stop))
    carried = int(allocated[low - 1])
    if low == high:
        return {"offset": [0], "highest": [carried], "last": [carried]}
    column = (times[event[low:high]] - begin) >> level
    start = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    # What is carried into a pixel is seen in it too.
    highest = np.maximum(
        np.maximum.reduceat(allocated[low:high], start), allocated[low - 1 + start]
    )
    last = allocated[low + np.append(start[1:], high - low) - 1]
    return {
        "offset": [0, *(column[start] << level).tolist()],
        "highest": [carried, *highest.tolist()],
        "last": [carried, *last.tolist()],
    }
