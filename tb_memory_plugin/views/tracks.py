"""Steps, modules, annotations and marks of a window, the narrow ones made into fewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.hlo_modules import hlo_modules
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import grid

#: Items and marks an answer may have of a kind.
MOST_ITEMS = 3000
MOST_MARKS = 500
_NONE = np.iinfo(np.int64)
#: What is shown of a kind of span, from the top.
_TRACKS = {"steps": "step", "modules": "hlo_module", "annotations": "annotation"}


@dataclass(frozen=True)
class _Items:
    """Spans in axis units; ``open`` is -1 where the beginning is missing, 1 where the end is."""

    row: IntArray  # of the table spans
    begin: IntArray
    end: IntArray
    depth: IntArray
    open: IntArray
    count: IntArray

    def at(self, chosen: IntArray) -> _Items:
        columns = (self.row, self.begin, self.end, self.depth, self.open, self.count)
        return _Items(*(column[chosen] for column in columns))


def window(
    recording: Recording,
    device: Device,
    *,
    axis: str,
    begin: int | None = None,
    end: int | None = None,
    width: int,
) -> dict[str, Any]:
    """The answer of ``GET tracks``, in units of the axis. Raises QueryError.

    Modules are XLA's (HLO modules), those that ran on the device, or, where none is known to, on
    any. A span is drawn by itself where it is at least a pixel wide; narrower ones that begin in
    the same pixel at the same depth are one item, with the name and ``id`` of the longest. Without
    time stamps spans have no place, and there are none.
    """
    of = grid.axis(recording, device, axis)
    begin, end = of.begin if begin is None else begin, of.end if end is None else end
    if begin >= end or width < 1:
        raise QueryError(f"A window needs a beginning before its end, not {begin} … {end}.")
    pixel = max((end - begin) // width, 1)
    answer: dict[str, Any] = {}
    hidden = 0
    for name, kind in _TRACKS.items():
        items = _placed(recording, device, of, kind)
        items = items.at(np.flatnonzero((items.end >= begin) & (items.begin <= end)))
        items = _merged(items, pixel)
        kept = _widest(items)
        hidden += int(items.count.sum() - kept.count.sum())
        answer[name] = _rows(recording, device, of, kept, kind)
    marks, left = _marks(recording, device, of, begin, end)
    return {**answer, "marks": marks, "hidden": hidden + left}


def _placed(recording: Recording, device: Device, of: grid.Axis, kind: str) -> _Items:
    """The spans of a kind on the axis; those that are not seen to begin or end reach its ends."""
    if kind == "hlo_module":
        spans, depth = hlo_modules(recording, device)
    else:
        spans = spans_of_kind(recording, kind, device)
        depth = np.maximum(recording.values("spans", "depth")[spans.rows], 0)
    times = event_times(recording, device)
    if times is None:
        empty = np.zeros(0, dtype=np.int64)
        return _Items(empty, empty, empty, empty, empty, empty)
    unseen_begin, unseen_end = spans.begin == _NONE.min, spans.end == _NONE.max
    begin, end = spans.begin, spans.end
    if of.name == "event":
        begin = np.searchsorted(times, begin, side="left")
        end = np.searchsorted(times, end, side="left")
    begin = np.where(unseen_begin, np.minimum(of.begin, end), begin)
    end = np.where(unseen_end, np.maximum(of.end, begin), end)
    shut = np.zeros(len(spans.rows), dtype=np.int64)
    sides = np.where(unseen_begin, -1, np.where(unseen_end, 1, shut))
    return _Items(spans.rows, begin, np.maximum(end, begin), depth, sides, shut + 1)


def _merged(items: _Items, pixel: int) -> _Items:
    """Those narrower than ``pixel`` made one where they begin in the same one, at one depth."""
    length = items.end - items.begin
    narrow = np.flatnonzero(length < pixel)
    if len(narrow) < 2:
        return items
    column = items.begin[narrow] // pixel
    order = narrow[np.lexsort((-length[narrow], column, items.depth[narrow]))]
    column, depth = items.begin[order] // pixel, items.depth[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(column) != 0) | (np.diff(depth) != 0)]))
    longest = order[first]
    merged = _Items(
        items.row[longest],
        np.minimum.reduceat(items.begin[order], first),
        np.maximum.reduceat(items.end[order], first),
        items.depth[longest],
        items.open[longest],
        np.diff(np.append(first, len(order))),
    )
    wide = items.at(np.flatnonzero(length >= pixel))
    columns = ("row", "begin", "end", "depth", "open", "count")
    return _Items(
        *(np.concatenate([getattr(wide, name), getattr(merged, name)]) for name in columns)
    )


def _widest(items: _Items) -> _Items:
    """As many as an answer may have, the widest, in order of beginning."""
    chosen = np.argsort(items.begin - items.end, kind="stable")[:MOST_ITEMS]
    return items.at(chosen[np.lexsort((items.depth[chosen], items.begin[chosen]))])


def _rows(
    recording: Recording, device: Device, of: grid.Axis, items: _Items, kind: str
) -> list[dict[str, Any]]:
    spans = recording.table("spans")
    names = arrays.words(spans, "name")
    begin_time, end_time = (arrays.values(spans, name)[items.row] for name in ("begin", "end"))
    tracks = arrays.words_of(spans, "track", items.row)
    codes = recording.values("spans", "name")[items.row].tolist() if len(items.row) else []
    begin_event, end_event = items.begin, items.end
    times = event_times(recording, device)
    if of.name == "time" and times is not None:
        begin_event = np.searchsorted(times, items.begin, side="left")
        end_event = np.searchsorted(times, items.end, side="left")
    sides = {-1: "begin", 0: None, 1: "end"}
    return [
        {
            "id": str(items.row[place]),
            "name": names[codes[place]] if codes[place] >= 0 else "",
            "begin": int(items.begin[place]),
            "end": int(items.end[place]),
            "count": int(items.count[place]),
            "begin_event": int(begin_event[place]),
            "end_event": int(end_event[place]),
            "begin_time": _seen(begin_time[place]),
            "end_time": _seen(end_time[place]),
            "open": sides[int(items.open[place])],
            **({} if kind == "step" else {"depth": int(items.depth[place])}),
            **({"on": tracks[place]} if kind == "hlo_module" else {}),
        }
        for place in range(len(codes))
    ]


def _seen(time: np.int64) -> int | None:
    """When a span began or ended, None where that was not seen."""
    return None if time in (_NONE.min, _NONE.max) else int(time)


def _marks(
    recording: Recording, device: Device, of: grid.Axis, begin: int, end: int
) -> tuple[list[dict[str, Any]], int]:
    """The marks of the device in the window, and how many more there are."""
    times = event_times(recording, device)
    found = []
    for row in recording.table("marks").to_pylist():
        if row["device"] is not None and row["device"] != device.index:
            continue
        event, time = row["event"], row["time"]
        if event is None and time is not None and times is not None:
            event = int(np.searchsorted(times, time, side="right")) - 1
        place = event if of.name == "event" else time
        if place is not None and begin <= place <= end:
            mark = {"kind": row["kind"], "event": event, "time": time, "text": row["text"]}
            found.append((row["kind"] != "out_of_memory", place, mark))
    # Failures first: they are never the ones left out.
    found.sort(key=lambda each: each[:2])
    kept = sorted(found[:MOST_MARKS], key=lambda each: each[1])
    return [mark for _, _, mark in kept], len(found) - len(kept)
