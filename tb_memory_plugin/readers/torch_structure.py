"""The structure ``torch.cuda.memory._snapshot()`` returns, made into a recording.

Used by the reader on what it unpickled and by the recorder on what torch returned. Its keys by
version of torch are in docs/formats.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import torch_meta, torch_spans, torch_state, torch_tables
from tb_memory_plugin.readers.checked import Malformed, sequence, shown
from tb_memory_plugin.readers.torch_events import CHUNK, TraceReader
from tb_memory_plugin.readers.torch_frames import FrameStacks
from tb_memory_plugin.readers.torch_trace import Trace
from tb_memory_plugin.readers.torch_words import Pools
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.arrays import TooMuchText
from tb_memory_plugin.recording.recording import Recording

FORMAT = "torch_snapshot"

#: Keys of which a snapshot has at least one.
PARTS = ("segments", "device_traces", "host_segments", "host_traces")

#: Pinned host memory stands behind all devices.
HOST = 1 << 21

#: What is recorded longer has wrong time stamps (a clock that was not set begins in 1970).
MOST_YEARS = 30
_YEAR_US = 365 * 86_400 * 10**6

_REMEDY = "use the file that torch.cuda.memory._dump_snapshot() wrote"


@dataclass
class _Source:
    """A snapshot's parts, in the same shape for every version of the format."""

    segments: Any
    traces: list[tuple[int, list[Any]]]  # by ordinal
    host_segments: Any = ()
    annotations: Any = ()
    settings: Any = None
    rest: dict[str, Any] = field(default_factory=dict)


def from_structure(
    structure: Any,
    name: str,
    *,
    consume: bool = False,
    device_type: str = "cuda",
    progress: Callable[[float, str], None] | None = None,
) -> Recording:
    """The recorded tables of a snapshot. Raises SourceError where it is not one.

    Args:
        structure: the dictionary of ``_snapshot()``, or the list of segments of
            ``memory_snapshot()``.
        name: of the source, for messages and ``meta["source"]``.
        consume: give up the structure's entries while reading, to save memory.
        device_type: what the devices are called; a snapshot does not say.
        progress: called with the part done (0 … 1) and a word for it.
    """
    try:
        return _recording(_parts(structure), name, consume, device_type, progress)
    except Malformed as error:
        raise SourceError(name, f"is not a valid memory snapshot: {error}", _REMEDY) from error
    except TooMuchText as error:
        raise SourceError(name, str(error), "record less metadata, or fewer events") from error
    except RecursionError as error:
        raise SourceError(name, "is nested too deeply", _REMEDY) from error


def _parts(structure: Any) -> _Source:
    if type(structure) in (list, tuple):
        if not structure or type(structure[0]) is not dict:
            raise Malformed("it is a list, but not one of segments")
        return _Source(structure, [])
    if type(structure) is not dict or not any(part in structure for part in PARTS):
        held = shown(structure) if type(structure) is not dict else "a dictionary"
        raise Malformed(f"it holds {held} without segments or device_traces")
    traces = list(enumerate(_traces(structure.get("device_traces"), "device_traces")))
    host = _traces(structure.get("host_traces"), "host_traces", one=True)
    traces += [(HOST + place, trace) for place, trace in enumerate(host)]
    return _Source(
        segments=structure.get("segments") or (),
        traces=[(ordinal, trace) for ordinal, trace in traces if trace],
        host_segments=structure.get("host_segments") or (),
        annotations=structure.get("external_annotations") or (),
        settings=structure.get("allocator_settings"),
        rest=structure,
    )


def _traces(value: Any, what: str, one: bool = False) -> list[list[Any]]:
    """A list of traces; with ``one``, possibly a single trace."""
    if value is None:
        return []
    traces = sequence(value, what)
    if one and traces and type(traces[0]) is dict:
        traces = [traces]
    return [
        trace if type(trace) is list else list(sequence(trace, f"trace {place} of {what}"))
        for place, trace in enumerate(traces)
    ]


def _recording(
    source: _Source,
    name: str,
    consume: bool,
    device_type: str,
    progress: Callable[[float, str], None] | None,
) -> Recording:
    stacks, pools = FrameStacks(), Pools()
    state, reader = torch_state.StateReader(stacks, pools), TraceReader(stacks, pools)
    segments = state.read(source.segments) + state.read(source.host_segments, HOST)
    sizes = {ordinal: len(trace) for ordinal, trace in source.traces}
    ordinals = sorted({segment.ordinal for segment in segments} | set(sizes))
    if not ordinals:
        raise Malformed("it holds neither segments nor events: nothing had been allocated")
    if len(ordinals) > np.iinfo(np.int16).max:
        raise Malformed(f"it has {len(ordinals)} devices")
    devices = {ordinal: row for row, ordinal in enumerate(ordinals)}

    done = _Progress(sum(sizes.values()), progress)
    traces: dict[int, Trace] = {
        devices[ordinal]: reader.read(trace, device_key(ordinal), consume, done.add)
        for ordinal, trace in source.traces
    }
    annotations, untimed = torch_spans.entries(source.annotations)
    found, strange_stages = torch_spans.pair(annotations)
    found += torch_tables.nightly_spans(traces, ordinals)
    apart = _years(traces, found)
    if apart > MOST_YEARS:
        found = []
        for trace in traces.values():
            trace.without_times()
    origin, last = _times(traces, found)
    spans = torch_spans.arranged(found, last)

    tables: dict[str, pa.Table] = {
        "events": torch_tables.events(traces, origin, reader),
        "labels": torch_tables.labels(traces, segments, devices),
        "marks": torch_tables.marks(traces, origin),
        "spans": torch_spans.table(spans, devices, origin or 0),
        **torch_state.tables(segments, devices),
        **stacks.tables(),
    }
    facts = torch_meta.Facts(
        sizes={device_key(ordinal): size for ordinal, size in sizes.items()},
        timed=any(len(trace.times) or trace.strange_times for trace in traces.values()),
        stacked=tables["stacks"].num_rows > 0,
        stepped=any(span.kind == "step" for span in spans),
        unknown_actions=reader.unknown_actions,
        unknown_states=state.unknown_states,
        unknown_stages=strange_stages,
        strange_frames=stacks.strange,
        strange_times={
            device_key(ordinal): traces[devices[ordinal]].strange_times for ordinal in sizes
        },
        strange_annotations=untimed,
        years_apart=apart if apart > MOST_YEARS else None,
        overflowed=source.rest.get("trace_alloc_overflowed"),
        settings=source.settings,
    )
    meta = {
        "format": FORMAT,
        "basis": "requested",
        "source": name,
        "devices": [_device(ordinal, device_type) for ordinal in ordinals],
        "time_origin_ns": None if origin is None else origin * 1_000,
        "clock": None if origin is None else "unix",
        "pools": [list(pool) for pool in pools.known],
        "annotation_entries": len(source.annotations),
        **torch_meta.meta(facts),
    }
    return builder.recording(meta, tables)


def device_key(ordinal: int) -> str:
    """The key of a device: its ordinal in the file, or the host's pinned memory."""
    if ordinal < HOST:
        return str(ordinal)
    return "host" if ordinal == HOST else f"host:{ordinal - HOST}"


def _device(ordinal: int, device_type: str) -> dict[str, Any]:
    key = device_key(ordinal)
    if ordinal >= HOST:
        return {"key": key, "name": f"{key} (pinned)", "type": "host", "ordinal": ordinal - HOST}
    return {"key": key, "name": f"{device_type}:{key}", "type": device_type, "ordinal": ordinal}


def _moments(traces: dict[int, Trace], spans: list[torch_spans.Span]) -> list[int]:
    """The first and last moments of the source's parts, in microseconds."""
    moments = [time for span in spans for time in (span.begin, span.end) if time is not None]
    for trace in traces.values():
        if len(trace.times):
            moments += [int(trace.times.min()), int(trace.times.max())]
    return moments


def _years(traces: dict[int, Trace], spans: list[torch_spans.Span]) -> int:
    """How many years the time stamps of the source are apart."""
    moments = _moments(traces, spans)
    return (max(moments) - min(moments)) // _YEAR_US if moments else 0


def _times(
    traces: dict[int, Trace], spans: list[torch_spans.Span]
) -> tuple[int | None, int | None]:
    """The first moment of the source and that of its last event; None without time stamps."""
    moments = _moments(traces, spans)
    lasts = [int(trace.times.max()) for trace in traces.values() if len(trace.times)]
    return (min(moments), max(lasts) if lasts else None) if moments else (None, None)


class _Progress:
    """Turns counts of entries into parts of the whole, a few hundred times at most."""

    def __init__(self, total: int, report: Callable[[float, str], None] | None) -> None:
        self._total, self._done, self._report = max(1, total), 0, report

    def add(self, count: int) -> None:
        self._done += count
        if self._report is not None and (self._done // CHUNK) % 4 == 0:
            self._report(self._done / self._total, "indexing events")
