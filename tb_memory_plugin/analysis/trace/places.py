"""Spans laid out in tracks and lanes: the tables that a window of the trace is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.trace.lanes import lanes
from tb_memory_plugin.recording import arrays, builder, nesting
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import sentinel

_ON_DEVICES = {"kernel", "copy", "hlo_module"}
_PROGRAM = {"step", "annotation"}
_SHOWN = ("host", "device", "modules", "program")


@dataclass(frozen=True)
class _Tracks:
    """What is known of every track, by its code in ``spans.track``."""

    names: list[str]
    kind: IntArray  # place in _SHOWN
    device: IntArray
    spans: IntArray


def place_tables(recording: Recording, around: IntArray) -> dict[str, pa.Table]:
    """The tables ``span_tracks``, ``span_lanes``, ``span_order`` and ``span_places``.

    ``around`` is of every event the span that it happened in, -1 for none. Without spans there are
    no tables.
    """
    spans = recording.table("spans")
    if not spans.num_rows:
        return {}
    begin, end = drawn(recording)
    codes = arrays.values(spans, "track")
    track = np.where(codes < 0, len(arrays.dictionary(spans, "track")), codes)
    about = _about(recording, track)
    order = nesting.in_order(track, begin, end)
    lane = lanes(track[order], begin[order], end[order], about.kind == _SHOWN.index("device"))
    busy = np.bincount(track[around[around >= 0]], minlength=len(about.names))
    # Tracks in the order in which they are shown: threads that allocate first.
    ranked = np.lexsort((-about.spans, -busy, about.kind))
    ranked = ranked[about.spans[ranked] > 0]
    rank = np.empty(len(about.names), dtype=np.int64)
    rank[ranked] = np.arange(len(ranked))
    key = rank[track[order]] * (int(lane.max()) + 1) + lane
    sorted_ = np.argsort(key, kind="stable")
    order, key = order[sorted_], key[sorted_]
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    lane = lane[sorted_][first]
    lane_track = rank[track[order[first]]]
    begin, end = begin[order], end[order]
    length = end - begin
    earlier = np.cumsum(length) - length
    rising = length.astype(np.float32).view(np.int32).astype(np.int64)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    edges = np.searchsorted(lane_track, np.arange(len(ranked) + 1))
    latest = np.maximum.reduceat(end, first)
    return {
        "span_tracks": builder.table(
            "span_tracks",
            {
                "name": arrays.text(ranked, about.names),
                "kind": arrays.text(about.kind[ranked], _SHOWN),
                "device": (about.device[ranked], about.device[ranked] < 0),
                "first": edges[:-1],
                "stop": edges[1:],
                "spans": about.spans[ranked],
                "events": busy[ranked],
                "begin": np.minimum.reduceat(begin[first], edges[:-1]),
                "end": np.maximum.reduceat(latest, edges[:-1]),
            },
        ),
        "span_lanes": builder.table(
            "span_lanes",
            {
                "track": lane_track,
                "depth": lane,
                "first": first,
                "stop": np.append(first[1:], len(order)),
            },
        ),
        "span_order": builder.table(
            "span_order",
            {
                "span": order,
                "begin": begin,
                "end": end,
                "longest": (rising << 32) | order,
                "busy": earlier,
            },
        ),
        "span_places": builder.table("span_places", {"place": place, **_outer(recording)}),
    }


def drawn(recording: Recording) -> tuple[IntArray, IntArray]:
    """Begin and end of every span, unknown ones at the ends of everything that has a time."""
    begin, end = (recording.values("spans", name) for name in ("begin", "end"))
    unseen_begin, unseen_end = begin == sentinel("begin"), end == sentinel("end")
    known = [begin[~unseen_begin], end[~unseen_end], _event_times(recording)]
    low = min((int(times.min()) for times in known if len(times)), default=0)
    high = max((int(times.max()) for times in known if len(times)), default=0)
    if unseen_begin.any():
        begin = np.where(unseen_begin, np.minimum(low, end), begin)
    if unseen_end.any():
        end = np.where(unseen_end, np.maximum(high, begin) + 1, end)
    return begin, np.maximum(begin, end)


def _event_times(recording: Recording) -> IntArray:
    times = recording.values("events", "time")
    if recording.table("events").column("time").null_count:
        return times[arrays.valid(recording.table("events"), "time")]
    return times


def _about(recording: Recording, track: IntArray) -> _Tracks:
    spans = recording.table("spans")
    names = [*arrays.words(spans, "track"), ""]
    kinds = arrays.words(spans, "kind")
    device = recording.values("spans", "device")
    held = np.bincount(
        track.astype(np.int64) * len(kinds) + np.maximum(arrays.values(spans, "kind"), 0),
        minlength=len(names) * len(kinds),
    ).reshape(len(names), len(kinds))
    least = np.full(len(names), np.iinfo(np.int16).max, dtype=np.int64)
    most = np.full(len(names), -1, dtype=np.int64)
    np.minimum.at(least, track, device)
    np.maximum.at(most, track, device)
    return _Tracks(
        names,
        np.array([_kind({kinds[code] for code in np.flatnonzero(row)}) for row in held]),
        np.where(least == most, most, -1),
        held.sum(axis=1),
    )


def _kind(kinds: set[str]) -> int:
    if kinds and kinds <= _PROGRAM:
        return _SHOWN.index("program")
    if kinds == {"hlo_module"}:
        return _SHOWN.index("modules")
    return _SHOWN.index("device" if kinds and kinds <= _ON_DEVICES else "host")


def _outer(recording: Recording) -> dict[str, Any]:
    """Of every span the innermost one around it that lasts as long, of those it begins in.

    And whether any of those around it is of its kind and name.
    """
    parent = recording.values("spans", "parent")
    outer = nesting.lasting(parent, recording.values("spans", "end"))
    kind, name = (recording.values("spans", column) for column in ("kind", "name"))
    again = np.zeros(len(outer), dtype=bool)
    row = np.flatnonzero(outer >= 0)
    above = outer[row]
    while len(row):
        alike = (kind[above] == kind[row]) & (name[above] == name[row])
        again[row[alike]] = True
        row, above = row[~alike], outer[above[~alike]]
        row, above = row[above >= 0], above[above >= 0]
    return {
        "outer": (outer, outer < 0),
        "again": arrays.masked_booleans(again, np.zeros_like(again)),
    }
