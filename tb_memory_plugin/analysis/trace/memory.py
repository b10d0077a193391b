"""What memory did in every span: what was born and freed in it, and how high it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.hlo_modules import hlo_modules
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.nesting import innermost
from tb_memory_plugin.analysis.stretches import most
from tb_memory_plugin.analysis.trace.around import around
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER

#: Kinds that are about everything that happens in their time, whatever thread does it.
BY_TIME = ("step", "annotation", "hlo_module")
#: Births, frees, bytes allocated and bytes freed: a column each.
_SUMS = ("births", "frees", "allocated", "freed")

Sums = IntArray


def span_memory(recording: Recording) -> dict[str, pa.Table]:
    """The table ``span_memory``; no table without spans.

    A span of a thread counts the events of that thread that it is around, also of the spans inside
    of it; steps, annotations and HLO modules count whatever happened in their time. All ``self``
    columns of a kind together, and what is in no span of it, are what usage says.
    """
    if not recording.table("spans").num_rows:
        return {}
    parts = [_of_device(recording, device) for device in recording.devices]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    counts = [len(part["span"]) for part in parts]
    columns["device"] = np.repeat(np.arange(len(parts), dtype=np.int16), counts)
    on_thread = columns["on_thread"] != 0
    columns["on_thread"] = arrays.masked_booleans(on_thread, np.zeros_like(on_thread))
    return {
        "span_memory": builder.table("span_memory", columns),
        "span_nets": _nets(recording, parts),
    }


def _nets(recording: Recording, parts: list[dict[str, IntArray]]) -> pa.Table:
    """The table ``span_nets``."""
    place_of = recording.values("span_places", "place")
    places, sums = [], []
    for part in parts:
        net = part["allocated"] - part["freed"]
        rows = np.flatnonzero(net)
        rows = rows[np.argsort(place_of[part["span"][rows]], kind="stable")]
        places.append(place_of[part["span"][rows]])
        sums.append(np.cumsum(net[rows]))
    return builder.table(
        "span_nets",
        {
            "device": np.repeat(np.arange(len(parts), dtype=np.int16), [len(p) for p in places]),
            "place": np.concatenate(places),
            "net": np.concatenate(sums),
        },
    )


def moves(recording: Recording, device: Device) -> Iterable[tuple[IntArray, IntArray, int]]:
    """Births, then deaths: of each the event, the bytes and whether it is a death (0 or 1)."""
    amount = bytes_of(recording, device)
    birth = recording.values("allocations", "birth", device)
    death = recording.values("allocations", "death", device)
    born, gone = np.flatnonzero(birth >= 0), np.flatnonzero(death != AFTER)
    yield birth[born], amount[born], 0
    yield death[gone], amount[gone], 1


def _of_device(recording: Recording, device: Device) -> dict[str, IntArray]:
    count = recording.rows("events", device)
    sums = np.zeros((count.stop - count.start, 4), dtype=np.int64)
    for event, amount, died in moves(recording, device):
        np.add.at(sums[:, died], event, 1)
        np.add.at(sums[:, 2 + died], event, amount)
    moved = np.flatnonzero(sums.any(axis=1))
    parts = [_on_thread(recording, device, sums, moved)]
    times = event_times(recording, device)
    if times is not None:
        parts += [_by_time(recording, device, kind, times, sums) for kind in BY_TIME]
    span = np.concatenate([rows for rows, _, _ in parts])
    order = np.argsort(span, kind="stable")
    found = {"span": span[order]}
    for place, name in enumerate(_SUMS):
        found[name] = np.concatenate([whole[:, place] for _, whole, _ in parts])[order]
        found[f"self_{name}"] = np.concatenate([own[:, place] for _, _, own in parts])[order]
    lengths = [len(rows) for rows, _, _ in parts]
    found["on_thread"] = np.repeat([1] + [0] * (len(parts) - 1), lengths)[order]
    found["peak"] = _peaks(recording, device, found["span"], times)
    return found


def _on_thread(
    recording: Recording, device: Device, sums: Sums, moved: IntArray
) -> tuple[IntArray, Sums, Sums]:
    """Spans of threads that events are in, with sums, and those without the same kind inside."""
    outer = recording.values("span_places", "outer")
    kind = recording.values("spans", "kind")
    at = around(recording, device)[moved]
    inside = at >= 0
    rows = _with_outer(arrays.distinct(at[inside]), outer)
    whole = np.zeros((len(rows), 4), dtype=np.int64)
    np.add.at(whole, np.searchsorted(rows, at[inside]), sums[moved[inside]])
    # Places in ``rows`` of what is around each, from the innermost outwards.
    up = np.where(outer[rows] >= 0, np.searchsorted(rows, outer[rows]), -1)
    depth = _depths(up)
    for level in range(int(depth.max(initial=0)), 0, -1):
        here = np.flatnonzero(depth == level)
        np.add.at(whole, up[here], whole[here])
    alike = _nearest_alike(up, kind[rows])
    own = whole.copy()
    has = np.flatnonzero(alike >= 0)
    np.subtract.at(own, alike[has], whole[has])
    words = [*arrays.words(recording.table("spans"), "kind"), ""]
    timed = np.array([word in BY_TIME for word in words], dtype=bool)
    kept = np.flatnonzero(~timed[kind[rows]])
    return rows[kept], whole[kept], own[kept]


def _with_outer(rows: IntArray, outer: IntArray) -> IntArray:
    """``rows`` and all that they are inside of, in order."""
    known = np.zeros(len(outer), dtype=bool)
    while len(rows):
        known[rows] = True
        rows = outer[rows]
        rows = rows[rows >= 0]
        rows = arrays.distinct(rows[~known[rows]])
    found: IntArray = np.flatnonzero(known)
    return found


def _depths(up: IntArray) -> IntArray:
    depth: IntArray = np.zeros(len(up), dtype=np.int32)
    at = up
    while (at >= 0).any():
        depth += at >= 0
        at = np.where(at >= 0, up[at], -1)
    return depth


def _nearest_alike(up: IntArray, kind: IntArray) -> IntArray:
    """Of every row the innermost around it of the same kind, -1 for none."""
    found: IntArray = up.copy()
    while True:
        other = np.flatnonzero((found >= 0) & (kind[found] != kind))
        if not len(other):
            return found
        found[other] = up[found[other]]


def _by_time(
    recording: Recording, device: Device, kind: str, times: IntArray, sums: Sums
) -> tuple[IntArray, Sums, Sums]:
    of = hlo_modules(recording, device)[0] if kind == "hlo_module" else None
    spans = spans_of_kind(recording, kind, device) if of is None else of
    before = np.zeros((len(times) + 1, 4), dtype=np.int64)
    np.cumsum(sums, axis=0, out=before[1:])
    first, stop = (np.searchsorted(times, edge) for edge in (spans.begin, spans.end))
    whole = before[np.maximum(stop, first)] - before[first]
    own = np.zeros_like(whole)
    at = innermost(spans.begin, spans.end, times)
    inside = np.flatnonzero(at >= 0)
    np.add.at(own, at[inside], sums[inside])
    kept = np.flatnonzero(whole.any(axis=1))
    return spans.rows[kept], whole[kept], own[kept]


def _peaks(
    recording: Recording, device: Device, spans: IntArray, times: IntArray | None
) -> IntArray:
    """By how much allocated rose at most within each of the ``spans`` above what it was before."""
    found = np.zeros(len(spans), dtype=np.int64)
    if times is None or not len(spans):
        return found
    event = recording.values("usage", "event", device)
    allocated = recording.values("usage", "allocated", device)
    begin, end = (recording.values("spans", name)[spans] for name in ("begin", "end"))
    edges = (np.searchsorted(event, np.searchsorted(times, edge)) for edge in (begin, end))
    first, stop = edges
    some = np.flatnonzero(stop > first)
    some = some[np.argsort(first[some], kind="stable")]
    highest = most(allocated, first[some], stop[some] - 1)
    found[some] = np.maximum(highest - allocated[first[some] - 1], 0)
    return found


def memory_of(recording: Recording, device: Device, spans: IntArray) -> Mapping[str, IntArray]:
    """The columns of ``span_memory`` of some ``spans``; 0 where nothing happened in them."""
    rows = recording.rows("span_memory", device)
    known = recording.values("span_memory", "span", device)
    if not len(known):
        names = (*_SUMS, *(f"self_{name}" for name in _SUMS), "peak")
        return {name: np.zeros(len(spans), dtype=np.int64) for name in names}
    place = np.minimum(np.searchsorted(known, spans), len(known) - 1)
    found = known[place] == spans
    return {
        name: np.where(found, recording.values("span_memory", name)[rows][place], 0)
        for name in (*_SUMS, *(f"self_{name}" for name in _SUMS), "peak")
    }
