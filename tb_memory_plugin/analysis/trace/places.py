"""Spans laid out in tracks and lanes: the tables that a window of the trace is read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.trace.around import ON_DEVICES
from tb_memory_plugin.analysis.trace.lanes import lanes
from tb_memory_plugin.recording import arrays, builder, nesting
from tb_memory_plugin.recording.aside import let_go, set_aside
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import sentinel

_PROGRAM = {"step", "annotation"}
#: Tracks of which each may look at all spans.
_FEW = 64
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
    track = arrays.values(spans, "track")
    if (track < 0).any():
        track = np.where(track < 0, np.int32(len(arrays.dictionary(spans, "track"))), track)
    about = _about(recording, track)
    busy = np.bincount(track[around[around >= 0]], minlength=len(about.names))
    # Tracks in the order in which they are shown: threads that allocate first.
    ranked = np.lexsort((-about.spans, -busy, about.kind))
    ranked = ranked[about.spans[ranked] > 0]
    order = np.empty(len(track), dtype=np.int32)
    counts: list[IntArray] = []  # of every track how many spans each of its lanes has
    reach: list[tuple[int, int]] = []
    done = 0
    for own, code in zip(_rows_of(track, ranked), ranked.tolist(), strict=True):
        parallel = about.kind[code] == _SHOWN.index("device")
        placed, lane = _placed(own, begin, end, parallel=bool(parallel))
        order[done : done + len(own)] = placed
        done += len(own)
        counts.append(np.bincount(lane))
        reach.append((int(begin[placed].min()), int(end[placed].max())))
        del placed, lane
        let_go()
    table = _order_table(order, begin, end)
    lanes_of = [len(each) for each in counts]
    edges = np.append(0, np.cumsum(lanes_of))
    stop = np.cumsum(np.concatenate(counts))
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
                "begin": np.array([low for low, _ in reach]),
                "end": np.array([high for _, high in reach]),
            },
        ),
        "span_lanes": builder.table(
            "span_lanes",
            {
                "track": np.repeat(np.arange(len(ranked)), lanes_of),
                "depth": np.concatenate([np.arange(count) for count in lanes_of]),
                "first": np.append(0, stop[:-1]),
                "stop": stop,
            },
        ),
        "span_order": table,
        "span_places": set_aside(builder.table("span_places", _places(recording, order))),
    }


def _rows_of(track: IntArray, codes: IntArray) -> Iterator[IntArray]:
    """The rows of each of some tracks, in order."""
    if len(codes) <= _FEW:
        for code in codes.tolist():
            yield np.flatnonzero(track == code).astype(np.int32)
        return
    order = np.argsort(track, kind="stable").astype(np.int32)
    counts = np.bincount(track)
    stop = np.cumsum(counts)
    for code in codes.tolist():
        yield order[stop[code] - counts[code] : stop[code]]


def _placed(
    rows: IntArray, begin: IntArray, end: IntArray, *, parallel: bool
) -> tuple[IntArray, IntArray]:
    """The spans of one track lane by lane, each in order of time, and their lanes."""
    begin, end = begin[rows], end[rows]
    let_go()  # of the columns that they were taken out of
    later = (begin[1:] > begin[:-1]) | ((begin[1:] == begin[:-1]) & (end[1:] <= end[:-1]))
    if not later.all():
        order = np.lexsort((-end, begin)).astype(np.int32)
        rows, begin, end = rows[order], begin[order], end[order]
        del order
    lane = lanes(begin, end, parallel=parallel)
    by_lane = np.argsort(lane, kind="stable").astype(np.int32)
    return rows[by_lane], lane[by_lane]


def _order_table(order: IntArray, begin: IntArray, end: IntArray) -> pa.Table:
    columns = {"span": arrays.adopted(order, pa.int32())}
    for name, times in (("begin", begin), ("end", end)):
        columns[name] = arrays.adopted(times[order], pa.int64())
        let_go()
    return set_aside(builder.table("span_order", columns))


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
    return begin, np.maximum(begin, end) if (end < begin).any() else end


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
    return _SHOWN.index("device" if kinds and kinds <= ON_DEVICES else "host")


def _places(recording: Recording, order: IntArray) -> dict[str, Any]:
    """Of every span its place in ``order``, and the innermost around it that lasts as long.

    Of those it begins in, and whether any of those around it is of its kind and name.
    """
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    parent = recording.values("spans", "parent")
    outer = nesting.lasting(parent, recording.values("spans", "end"))
    kind, name = (recording.values("spans", column) for column in ("kind", "name"))
    again = np.zeros(len(outer), dtype=bool)
    row = np.flatnonzero(outer >= 0).astype(np.int32)
    above = outer[row]
    while len(row):
        alike = (kind[above] == kind[row]) & (name[above] == name[row])
        again[row[alike]] = True
        row, above = row[~alike], outer[above[~alike]]
        row, above = row[above >= 0], above[above >= 0]
    return {
        "place": arrays.adopted(place, pa.int32()),
        "outer": (outer, outer < 0),
        "again": arrays.masked_booleans(again, np.zeros_like(again)),
    }
