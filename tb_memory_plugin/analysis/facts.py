"""A recording, boiled down to exact numbers per device."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of, peak_row, reserved_known
from tb_memory_plugin.analysis.allocator_said import allocator_said
from tb_memory_plugin.analysis.content import frame_contents, stack_contents, stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action, BlockState

_TOP = 5


def facts(recording: Recording) -> dict[str, Any]:
    """``{"annotations": n, "devices": {key: {…}}}`` of a derived recording; bytes are integers.

    ``annotations`` counts the beginnings and the ends of annotations that were recorded. Of each
    device: ``events``, ``allocs``, ``frees`` (completed); ``allocated_start``, ``_end``, ``_peak``
    (in the recording's basis, alive until the free is completed) and ``allocated_peak_event``, the
    first event after which it is reached, -1 for before the first; ``reserved_*`` likewise, None
    where unknown; ``live_blocks_end``, ``pending_free_blocks`` of the end state;
    ``blocks_before_window``; ``distinct_stacks`` and ``distinct_frames`` of its events, by
    content; ``peak_bytes_by_stack_top5`` by stack of birth, all unknown stacks as one; ``oom``
    with ``event``, ``requested``, ``device_free``; ``pools`` and ``streams`` of the final
    segments; ``time_span_us`` from first to last event, None without time stamps. Of a profiler's
    trace also ``device_type`` and ``device_id`` as in the file, the sums ``bytes_allocated`` and
    ``bytes_freed``, and ``net_end`` and ``net_peak`` above the start; what is allocated is None
    where the trace has no totals. And ``allocator``, where the source has what the
    allocator says of itself, see :func:`~tb_memory_plugin.analysis.allocator_said.allocator_said`.
    """
    return {
        "annotations": _annotations(recording),
        "devices": {device.key: device_facts(recording, device) for device in recording.devices},
    }


def device_facts(recording: Recording, device: Device) -> dict[str, Any]:
    """The facts of one device, see :func:`facts`."""
    action = recording.values("events", "action", device)
    counts = np.bincount(action, minlength=256)
    event = recording.values("usage", "event", device)
    allocated = recording.values("usage", "allocated", device)
    reserved = recording.values("usage", "reserved", device)
    known = reserved_known(recording, device)
    peak = peak_row(recording, device)
    state = recording.values("blocks", "state", device)
    stacks, frames = _distinct(recording, device)
    said = allocator_said(recording, device)
    return {
        "events": len(action),
        "allocated_start": int(allocated[0]),
        "allocated_end": int(allocated[-1]),
        "allocated_peak": int(allocated[peak]),
        "allocated_peak_event": int(event[peak]),
        "reserved_start": int(reserved[0]) if known else None,
        "reserved_end": int(reserved[-1]) if known else None,
        "reserved_peak": int(reserved.max()) if known else None,
        "live_blocks_end": int((state != BlockState.INACTIVE).sum()),
        "blocks_before_window": int((recording.values("allocations", "birth", device) < 0).sum()),
        "allocs": int(counts[Action.ALLOC]),
        "frees": int(counts[Action.FREE_COMPLETED]),
        "distinct_stacks": stacks,
        "distinct_frames": frames,
        "peak_bytes_by_stack_top5": _peak_by_stack(recording, device, int(event[peak])),
        "oom": out_of_memory(recording, device),
        "pools": _pools(recording, device),
        "streams": len(arrays.distinct(recording.values("segments", "stream", device))),
        "pending_free_blocks": int((state == BlockState.PENDING_FREE).sum()),
        "time_span_us": _time_span_us(recording, device),
        **({} if said is None else {"allocator": said}),
        **_of_trace(recording, device),
    }


def out_of_memory(recording: Recording, device: Device) -> list[dict[str, int | None]]:
    """The requests that failed on ``device``: event, bytes requested and free on the device."""
    marks = recording.table("marks")
    of, event = recording.values("marks", "device"), recording.values("marks", "event")
    found = []
    for row in np.flatnonzero(of == device.index):
        if marks.column("kind")[int(row)].as_py() != "out_of_memory":
            continue
        values = json.loads(marks.column("values")[int(row)].as_py() or "{}")
        requested, free = values.get("requested"), values.get("device_free")
        ordinal = int(event[row]) if event[row] >= 0 else None
        found.append({"event": ordinal, "requested": requested, "device_free": free})
    return found


def _annotations(recording: Recording) -> int:
    spans = recording.table("spans")
    kinds = arrays.words(spans, "kind")
    wanted = [code for code, kind in enumerate(kinds) if kind in ("annotation", "step")]
    inferred = [  # steps that the reader worked out, which nobody recorded
        code
        for code, args in enumerate(arrays.words(spans, "args"))
        if '"inferred"' in (args or "") and json.loads(args).get("inferred")
    ]
    chosen = np.isin(arrays.values(spans, "kind"), wanted)
    chosen &= ~np.isin(arrays.values(spans, "args"), inferred)
    begun, ended = arrays.valid(spans, "begin"), arrays.valid(spans, "end")
    return int((chosen & begun).sum() + (chosen & ended).sum())


def _distinct(recording: Recording, device: Device) -> tuple[int, int]:
    """Distinct stacks and frames of the device's events, by function, file and line."""
    stacks = arrays.distinct(recording.values("events", "stack", device))
    stacks = stacks[stacks >= 0]
    contents = stack_contents(recording)[stacks]
    contents = contents[contents != 0]  # a stack without frames says nothing
    layout, offsets = stack_layout(recording)
    seen = np.zeros(len(offsets) - 1, dtype=bool)
    seen[stacks] = True
    frames = arrays.distinct(layout[np.repeat(seen, np.diff(offsets))])
    return len(arrays.distinct(contents)), len(arrays.distinct(frame_contents(recording)[frames]))


def _peak_by_stack(recording: Recording, device: Device, event: int) -> list[int]:
    alive = alive_rows(recording, device, event)
    stack = recording.values("allocations", "birth_stack", device)[alive]
    amount = bytes_of(recording, device)[alive]
    contents = np.append(stack_contents(recording), 0)  # a null stack, -1, reads the last
    _, group = np.unique(contents[stack], return_inverse=True)
    sums = exact.sum_by(group, amount, int(group.max()) + 1 if len(group) else 0)
    return [int(value) for value in np.sort(sums)[::-1][:_TOP]]


def _pools(recording: Recording, device: Device) -> list[list[int]]:
    pools = recording.meta["pools"]
    rows: IntArray = arrays.distinct(recording.values("segments", "pool", device))
    return sorted([int(part) for part in pools[row]] for row in rows if row >= 0)


def _of_trace(recording: Recording, device: Device) -> dict[str, Any]:
    """What a trace is asked beside, and where its totals tell what the events cannot."""
    entry = recording.meta["devices"][device.index]
    if "device_type" not in entry:
        return {}
    born = recording.values("events", "action", device) == Action.ALLOC
    size = recording.values("events", "size", device)
    allocated = recording.values("usage", "allocated", device)
    start, peak = int(allocated[0]), peak_row(recording, device)
    reserved = recording.values("reported", "reserved", device)
    found = {
        "device_type": entry["device_type"],
        "device_id": entry["device_id"],
        "bytes_allocated": exact.total(size[born]),
        "bytes_freed": exact.total(size[~born]),
        "net_end": int(allocated[-1]) - start,
        "net_peak": int(allocated[peak]) - start,
        "reserved_peak": int(reserved.max()) if len(reserved) else None,
    }
    if not len(reserved):
        unknown = ("allocated_start", "allocated_end", "allocated_peak", "allocated_peak_event")
        found |= dict.fromkeys(unknown)
    return found


def _time_span_us(recording: Recording, device: Device) -> int | None:
    rows = recording.rows("events", device)
    column = recording.table("events").column("time").slice(rows.start, rows.stop - rows.start)
    if not len(column) or column.null_count:
        return None
    return int((column[-1].as_py() - column[0].as_py()) // 1000)
