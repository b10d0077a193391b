"""Ranges, calls of CUDA and what ran on GPUs to the tables ``spans`` and ``links``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers import nsys_ranges, nsys_work
from tb_memory_plugin.readers.collectives import collective
from tb_memory_plugin.readers.nsys_calls import Calls
from tb_memory_plugin.readers.nsys_database import combinations, matched
from tb_memory_plugin.readers.nsys_events import TID_BITS, Driver, Place
from tb_memory_plugin.readers.nsys_ranges import Ranges, pid_of_process
from tb_memory_plugin.readers.nsys_work import Part, Work
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.nesting import depths_of_kind, nested

_KINDS = [*nsys_ranges.KINDS, *nsys_work.KINDS]
_STACKED, _LOOSE, _DEVICE = range(3)  # tracks: of threads, of ranges of all of them, of streams
#: What CUPTI calls a stream where there is none.
_NO_STREAM = 0xFFFF_FFFF


@dataclass(frozen=True)
class Spans:
    """The tables, and of every range, and then of every row of the parts of ``Work``, its span."""

    tables: dict[str, pa.Table]
    place: IntArray


def spans(ranges: Ranges | None, work: Work, places: Sequence[Place], origin: int) -> Spans:
    """The tables ``spans`` and ``links``; times count from ``origin``."""
    made = _rows(ranges, work)
    distinct, track = combinations(*(made[name] for name in ("sort", "process", "one", "two")))
    inside = nested(track, made["begin"], made["end"])
    order = inside.order
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    made = {name: column[order] for name, column in made.items()}
    parent, step = inside.parent, made["step"]
    kind, device = made["kind"], _devices(made, places)
    ranged = [] if ranges is None else ranges.names
    table = builder.table(
        "spans",
        {
            "device": (device, device < 0),
            "track": arrays.text(track[order], _names(distinct.tolist())),
            "kind": arrays.text(kind, _KINDS),
            "name": arrays.text(made["name"], [*ranged, *work.names.words]),
            "begin": inside.begin - origin,
            "end": (inside.end - origin, made["open"] != 0),
            "depth": depths_of_kind(track[order], inside.begin, inside.end, kind),
            "parent": (parent, parent < 0),
            "step": (step, step < 0),
            "args": arrays.text(made["said"], work.words.words),
        },
    )
    count = 0 if ranges is None else len(ranges.name)
    return Spans({"spans": table, "links": _links(table, work, place[count:])}, place)


def around(
    driver: Driver, calls: Calls, ranges: Ranges | None, work: Work, place: IntArray
) -> IntArray:
    """The row of the span of every event: its call, or the range around it; -1 for none."""
    count = 0 if ranges is None else len(ranges.name)
    known = np.append(place, -1)
    found = np.full(len(driver.device), -1, dtype=np.int64)
    if ranges is not None and driver.time is not None:
        there = np.flatnonzero(calls.row >= 0)
        thread = calls.thread[calls.row[there]]
        found[there] = known[ranges.around(thread, driver.time[there])]
    run = work.parts[0] if work.parts and work.parts[0].kind == nsys_work.RUNTIME else None
    if run is not None:
        row = matched((driver.process, driver.correlation), (run.process, run.correlation))
        found = np.where((row >= 0) & (driver.correlation >= 0), place[count + row], found)
    return found


def _rows(ranges: Ranges | None, work: Work) -> dict[str, IntArray]:
    """All rows, those of ranges first; ``sort``, ``process``, ``one`` and ``two`` are a track."""
    none = np.zeros(0, dtype=np.int64)
    names = ("sort", "process", "one", "two", "kind", "name", "begin", "end", "open", "step")
    parts: list[dict[str, Any]] = [dict.fromkeys([*names, "said"], none)]
    offset = 0
    if ranges is not None:
        thread = ranges.thread[ranges.track]
        offset = len(ranges.names)
        parts.append(
            {
                "sort": np.where(ranges.stacked[ranges.track], _STACKED, _LOOSE),
                "process": thread >> TID_BITS,
                "one": thread,
                "kind": ranges.kind,
                "name": ranges.name,
                "begin": ranges.nested.begin,
                "end": ranges.nested.end,
                "open": ranges.open,
                "step": ranges.step,
            }
        )
    for part in work.parts:
        on_device = part.kind != nsys_work.RUNTIME
        parts.append(
            {
                "sort": np.full(len(part.begin), _DEVICE if on_device else _STACKED),
                "process": part.process,
                "one": part.place[0],
                **({"two": part.place[1]} if on_device else {}),
                "kind": np.full(len(part.begin), len(nsys_ranges.KINDS) + part.kind),
                "name": part.name + offset,
                "begin": part.begin,
                "end": part.end,
                "said": part.said,
            }
        )
    missing = {"two": 0, "open": 0}
    return {
        name: np.concatenate(
            [part.get(name, np.full(len(part["begin"]), missing.get(name, -1))) for part in parts]
        ).astype(np.int64, copy=False)
        for name in parts[0]
    }


def _devices(made: dict[str, IntArray], places: Sequence[Place]) -> IntArray:
    """Of every row the device whose memory it works on, -1 for none."""
    found = np.full(len(made["begin"]), -1, dtype=np.int64)
    on_device = made["sort"] == _DEVICE
    for index, each in enumerate(places):
        if each.ordinal >= 0:
            own = (made["one"] == each.ordinal) & (made["process"] == each.process)
            found[on_device & own] = index
    return found


def _names(tracks: Sequence[Sequence[int]]) -> list[str]:
    """What tracks are called: a process is named where there are several."""
    several = len({process for _, process, *_ in tracks if process >= 0}) > 1
    names = []
    for sort, process, one, two in tracks:
        name = f"thread {one & 0xFF_FFFF}" if sort == _STACKED else "ranges of all threads"
        if sort == _DEVICE:
            stream = "" if two in (-1, _NO_STREAM) else f" stream {two}"
            name = f"cuda:{max(one, 0)}{stream}"
        prefix = f"process {pid_of_process(process)} " if several and process >= 0 else ""
        names.append(f"{prefix}{name}")
    return names


def _links(table: pa.Table, work: Work, place: IntArray) -> pa.Table:
    """The table ``links`` of the spans in ``table``."""
    source, target = _launches(work, place)
    kind = collective(arrays.words(table, "name"))[arrays.values(table, "name")[target]]
    text = arrays.text(kind.astype(np.int8), ["launch", "collective"])
    return builder.table("links", {"source": source, "target": target, "kind": text})


def _launches(work: Work, place: IntArray) -> tuple[IntArray, IntArray]:
    """From calls to what they launched. Without processes, ids are those of the only one."""
    calls = [part for part in work.parts if part.kind == nsys_work.RUNTIME]
    launched = [part for part in work.parts if part.kind != nsys_work.RUNTIME]
    source = target = np.zeros(0, dtype=np.int64)
    if calls and launched:
        (call,) = calls
        process, number = (_joined(launched, name) for name in ("process", "correlation"))
        only = np.unique(call.process)
        if len(only) == 1:
            process = np.where(process < 0, only[0], process)
        row = matched((process, number), (call.process, call.correlation))
        rows = np.flatnonzero((row >= 0) & (number >= 0))
        source, target = place[row[rows]], place[len(call.begin) + rows]
        order = np.lexsort((target, source))
        source, target = source[order], target[order]
    return source, target


def _joined(parts: Sequence[Part], name: str) -> IntArray:
    found: IntArray = np.concatenate([getattr(part, name) for part in parts])
    return found
