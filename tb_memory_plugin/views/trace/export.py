"""A window of the trace as a file that Perfetto and chrome://tracing open, memory beside it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import windows
from tb_memory_plugin.analysis.alive import reserved_known
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.trace.tracks import lanes_of
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

_ROWS = 2_000
_PROGRAM, _DEVICES = 1, 2


def trace_file(
    recording: Recording,
    *,
    begin: int | None = None,
    end: int | None = None,
    tracks: tuple[int, ...] | None = None,
) -> Iterator[str]:
    """The spans that are seen from ``begin`` to ``end`` (ns since the origin) as chrome's JSON.

    A thread a track, in which spans only nest: viewers leave out one that ends after what it begins
    in, so each such span is in a thread of its lane. A counter a device that has time stamps:
    allocated and, where it is known, reserved, after every event of the window and at its
    beginning. Times are microseconds with all their nanoseconds, so that nothing is rounded;
    ``args.span`` is the span's id here. Raises QueryError before the first piece.
    """
    begin, end = windows.checked(*_window(recording, begin, end))
    lanes = lanes_of(recording, tracks)
    return _pieces(recording, lanes, begin, end)


def _window(recording: Recording, begin: int | None, end: int | None) -> tuple[int, int]:
    edges = [recording.values("span_tracks", name) for name in ("begin", "end")]
    low, high = edges[0].tolist(), (edges[1] + 1).tolist()
    for device in recording.devices:
        times = event_times(recording, device)
        if times is not None:
            low.append(int(times[0]))
            high.append(int(times[-1]) + 1)
    if not low:
        raise QueryError("Nothing in this recording has a time, so there is no trace of it.")
    return min(low) if begin is None else begin, max(high) if end is None else end


def _pieces(recording: Recording, lanes: IntArray, begin: int, end: int) -> Iterator[str]:
    origin = recording.meta.get("time_origin_ns") or 0
    about = {"source": recording.meta.get("source"), "time_origin_ns": origin}
    yield f'{{"displayTimeUnit":"ns","otherData":{json.dumps(about)},"traceEvents":['
    yield ",\n".join(json.dumps(event) for event in _names(recording))
    for events in (_spans(recording, lanes, begin, end), _counters(recording, begin, end)):
        for part in events:
            yield ",\n" + ",\n".join(part)
    yield "]}\n"


def _names(recording: Recording) -> Iterator[dict[str, Any]]:
    """What processes and threads are called: tracks in their order."""
    for process, name in ((_PROGRAM, "program"), (_DEVICES, "devices")):
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}
    for place, track in enumerate(recording.table("span_tracks").to_pylist()):
        yield from _thread(_process(track["kind"]), _number(place, track["first"]), track["name"])


def _thread(process: int, number: int, name: str) -> Iterator[dict[str, Any]]:
    at = {"ph": "M", "pid": process, "tid": number}
    yield {**at, "name": "thread_name", "args": {"name": name}}
    yield {**at, "name": "thread_sort_index", "args": {"sort_index": number}}


def _number(track: int, first: int) -> int:
    """That of a track's thread, ``first`` being its first lane; those of its lanes are the next."""
    return track + first + 1


def _process(kind: str) -> int:
    return _PROGRAM if kind in ("host", "program") else _DEVICES


def _spans(recording: Recording, lanes: IntArray, begin: int, end: int) -> Iterator[list[str]]:
    table = recording.table("spans").select(["name", "kind", "args"])
    tracks = recording.table("span_tracks").to_pylist()
    begins, ends, span = (recording.values("span_order", name) for name in ("begin", "end", "span"))
    edges = [recording.values("span_lanes", name) for name in ("first", "stop", "track")]
    for lane in lanes.tolist():
        first, stop, place = (int(edge[lane]) for edge in edges)
        # What lasts for no time is seen at the beginning too.
        begun, high = (first + int(np.searchsorted(begins[first:stop], at)) for at in (begin, end))
        low = min(first + int(np.searchsorted(ends[first:stop], begin, side="right")), begun)
        track = tracks[place]
        process = _process(track["kind"])
        number, own = (_number(place, at) for at in (track["first"], lane + 1))
        is_named = False
        for at in range(low, high, _ROWS):
            part = slice(at, min(at + _ROWS, high))
            rows = span[part]
            apart = _outlasting(recording, track, part)
            if apart.any() and not is_named:
                name = f"{track['name']}, level {lane - track['first'] + 1}"
                yield [json.dumps(event) for event in _thread(process, own, name)]
                is_named = True
            threads = np.where(apart, own, number).tolist()
            said = table.take(arrays.column(rows, pa.int64()))
            names, words, args = (arrays.all_words(said, name) for name in said.column_names)
            times = zip(begins[part].tolist(), ends[part].tolist(), strict=True)
            yield [
                f'{{"ph":"X","pid":{process},"tid":{threads[n]},"ts":{_us(a)},"dur":{_us(b - a)},'
                f'"name":{json.dumps(names[n] or "")},"cat":{json.dumps(words[n])},'
                f'"args":{_arguments(args[n], int(rows[n]))}}}'
                for n, (a, b) in enumerate(times)
            ]


def _outlasting(recording: Recording, track: dict[str, Any], part: slice) -> IntArray:
    """Which of some spans of a track begin in one of it that ends before they do."""
    begins, ends = (recording.values("span_order", name) for name in ("begin", "end"))
    edges = [recording.values("span_lanes", name) for name in ("first", "stop")]
    begin, end = begins[part], ends[part]
    found: IntArray = np.zeros(len(begin), dtype=bool)
    for lane in range(track["first"], track["stop"]):
        first, stop = (int(edge[lane]) for edge in edges)
        before = first + np.searchsorted(begins[first:stop], begin) - 1
        until = ends[np.maximum(before, first)]
        found |= (before >= first) & (until > begin) & (until < end)
    return found


def _arguments(text: str | None, row: int) -> str:
    """What the source says of a span, and its id."""
    said = _said(text) if text else ""
    return f'{{"span":{row}{said}}}'


@functools.lru_cache(4096)
def _said(text: str) -> str:
    """The members of a JSON object after another one; nothing where it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    return f",{json.dumps(found)[1:-1]}" if isinstance(found, dict) and found else ""


def _us(time: int) -> str:
    """Nanoseconds as microseconds, exactly."""
    whole, rest = divmod(abs(time), 1000)
    return f"{'-' if time < 0 else ''}{whole}.{rest:03d}"


def _counters(recording: Recording, begin: int, end: int) -> Iterator[list[str]]:
    for device in recording.devices:
        times = event_times(recording, device)
        if times is not None:
            yield from _counter(recording, device, times, begin, end)


def _counter(
    recording: Recording, device: Device, times: IntArray, begin: int, end: int
) -> Iterator[list[str]]:
    event = recording.values("usage", "event", device)
    columns = ["allocated", *(["reserved"] if reserved_known(recording, device) else [])]
    values = [recording.values("usage", name, device) for name in columns]
    head = f'{{"ph":"C","pid":{_DEVICES},"name":{json.dumps(device.name)},"ts":'
    low, high = (int(np.searchsorted(event, np.searchsorted(times, edge))) for edge in (begin, end))
    # The row before is the state that was carried into the window.
    for at in range(low - 1, high, _ROWS):
        rows = range(at, min(at + _ROWS, high))
        yield [
            f'{head}{_us(begin if row < low else int(times[event[row]]))},"args":'
            + json.dumps({name: int(of[row]) for name, of in zip(columns, values, strict=True)})
            + "}"
            for row in rows
        ]
