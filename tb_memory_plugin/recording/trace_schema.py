"""The tables of what a program did, laid out to be looked at: tracks, lanes and memory of spans."""

from __future__ import annotations

import pyarrow as pa

from tb_memory_plugin.recording.columns import BOOL, I16, I32, I64, TEXT, schema

#: Derived tables.
DERIVED: dict[str, pa.Schema] = {
    # One row a track that has spans, in the order in which they are shown.
    "span_tracks": schema(
        name=TEXT,
        kind=TEXT,  # "host" | "device" | "modules" (HLO) | "program" (steps and annotations alone)
        device=I16,  # null: not of one device
        first=I32,  # rows of span_lanes, from … up to, not with
        stop=I32,
        spans=I64,
        events=I64,  # of memory, of all devices, that happened in one of its spans
        begin=I64,  # ns since the origin
        end=I64,
    ),
    # One row a lane of a track: in a lane no span overlaps another.
    "span_lanes": schema(
        track=I32,  # row of span_tracks
        depth=I32,  # 0 is the outermost
        first=I32,  # rows of span_order, from … up to, not with
        stop=I32,
    ),
    # One row a span, lane after lane, in each in order of time.
    "span_order": schema(
        span=I32,  # row of spans
        begin=I64,  # where it is drawn: what was not seen to begin or end reaches the ends of all
        end=I64,
    ),
    # One row a row of spans.
    "span_places": schema(
        place=I32,  # row of span_order
        outer=I32,  # row of spans: the innermost around it that does not end before it
        again=BOOL,  # it is inside of one of its kind and name
    ),
    # One row an event, where the recorded ones do not say in which span they happened.
    "event_spans": schema(
        device=I16,
        span=I32,  # row of spans: the innermost at that time, of any thread
    ),
    # What memory did in a span, one row each that anything happened in, by device and span.
    "span_memory": schema(
        device=I16,
        span=I32,  # row of spans
        births=I32,
        frees=I32,
        allocated=I64,  # bytes born in it, in the recording's basis
        freed=I64,
        # Of that what is in no span of its own kind inside it.
        self_births=I32,
        self_frees=I32,
        self_allocated=I64,
        self_freed=I64,
        # By how much the device's allocated at its highest was above what it was before, whatever
        # thread did it.
        peak=I64,
        on_thread=BOOL,  # what its own thread did; else what all did in its time
    ),
    # The same in order of span_order, one row each that allocated less or more than it freed.
    "span_nets": schema(
        device=I16,
        place=I32,  # row of span_order
        net=I64,  # bytes allocated less bytes freed, of this and all rows before it of the device
    ),
}
