"""What memory did in every span: what was born and freed in it, and how high it went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
from tb_memory_plugin.analysis.trace.inclusive import Inside
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.aside import let_go, set_aside
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER, SCHEMAS

#: Kinds that are about everything that happens in their time, whatever thread does it.
BY_TIME = ("step", "annotation", "hlo_module")
#: What is added up: births, frees, bytes allocated and bytes freed.
_SUMS = ("births", "frees", "allocated", "freed")
#: Bytes from which on a column waits in a file for the others.
_LEAST = 4 << 20
#: Spans whose peaks are looked up at a time.
_PART = 1 << 18
_COLUMNS = (*_SUMS, *(f"self_{name}" for name in _SUMS), "peak")


def span_memory(recording: Recording) -> dict[str, pa.Table]:
    """The tables ``span_memory`` and ``span_nets``; none without spans.

    A span of a thread counts the events of that thread that it is around, also of the spans inside
    of it; steps, annotations and HLO modules count whatever happened in their time. All ``self``
    columns of a kind together, and what is in no span of it, are what usage says.
    """
    if not recording.table("spans").num_rows:
        return {}
    parts = [_of_device(recording, device) for device in recording.devices]
    counts = [len(part["span"]) for part in parts]
    device = np.repeat(np.arange(len(parts), dtype=np.int16), counts)
    columns: dict[str, Any] = {"device": arrays.adopted(device, pa.int16())}
    for name in [*parts[0]]:
        whole = [part.pop(name) for part in parts]
        columns[name] = whole[0] if len(whole) == 1 else np.concatenate(whole)
        if name == "on_thread":
            columns[name] = arrays.masked_booleans(columns[name], ~np.ones_like(columns[name]))
        else:
            columns[name] = arrays.adopted(columns[name], SCHEMAS["span_memory"].field(name).type)
    table = set_aside(builder.table("span_memory", columns))
    del columns
    let_go()
    return {"span_memory": table, "span_nets": _nets(recording.with_tables({"span_memory": table}))}


def _nets(recording: Recording) -> pa.Table:
    """The table ``span_nets``."""
    place_of = recording.values("span_places", "place")
    places, sums = [], []
    for device in recording.devices:
        span, allocated, freed = (
            recording.values("span_memory", name, device) for name in ("span", "allocated", "freed")
        )
        rows = np.flatnonzero(allocated != freed).astype(np.int32)
        place = place_of[span[rows]]
        order = np.argsort(place, kind="stable").astype(np.int32)
        places.append(place[order])
        rows = rows[order]
        del place, order
        net = allocated[rows]
        net -= freed[rows]
        sums.append(np.cumsum(net, out=net))
    counts = [len(each) for each in places]
    return set_aside(
        builder.table(
            "span_nets",
            {
                "device": np.repeat(np.arange(len(places), dtype=np.int16), counts),
                "place": arrays.adopted(np.concatenate(places), pa.int32()),
                "net": arrays.adopted(np.concatenate(sums), pa.int64()),
            },
        )
    )


class _Did:
    """What every event of a device did to memory, a column at a time."""

    def __init__(self, recording: Recording, device: Device) -> None:
        rows = recording.rows("events", device)
        self._events = rows.stop - rows.start
        self._amount = bytes_of(recording, device)
        birth = recording.values("allocations", "birth", device)
        death = recording.values("allocations", "death", device)
        self._born, self._gone = (birth, birth >= 0), (death, death != AFTER)

    def column(self, name: str) -> IntArray:
        """One of ``births``, ``frees``, ``allocated`` and ``freed``, of every event."""
        event, known = self._born if name in ("births", "allocated") else self._gone
        found = np.zeros(self._events, dtype=np.int64)
        amount = 1 if name in ("births", "frees") else self._amount[known]
        np.add.at(found, event[known], amount)
        return found


class _OnThread:
    """Spans of threads, each with the events of its thread that it is around."""

    def __init__(self, recording: Recording, device: Device) -> None:
        kind = recording.values("spans", "kind")
        outer = recording.values("span_places", "outer")
        self._inside = Inside.of(around(recording, device), outer, kind)
        words = [*arrays.words(recording.table("spans"), "kind"), ""]
        timed = np.array([word in BY_TIME for word in words], dtype=bool)
        kept = ~timed[kind[self._inside.rows]]
        self._kept = slice(None) if kept.all() else np.flatnonzero(kept).astype(np.int32)
        self.rows = self._inside.rows[self._kept]

    def sums(self, did: IntArray) -> tuple[IntArray, IntArray]:
        """Of every span what happened in it, and what in none of its kind inside."""
        whole = self._inside.whole(did)
        return whole[self._kept], self._inside.own(whole)[self._kept]


class _ByTime:
    """Spans of a kind, each with all events of its time."""

    def __init__(self, recording: Recording, device: Device, kind: str, times: IntArray) -> None:
        of = hlo_modules(recording, device)[0] if kind == "hlo_module" else None
        spans = spans_of_kind(recording, kind, device) if of is None else of
        self.rows = spans.rows.astype(np.int32)
        self._first = np.searchsorted(times, spans.begin)
        self._stop = np.maximum(np.searchsorted(times, spans.end), self._first)
        at = innermost(spans.begin, spans.end, times) if len(spans.rows) else times[:0]
        self._at = at.astype(np.int32)

    def sums(self, did: IntArray) -> tuple[IntArray, IntArray]:
        """Of every span what happened in it, and what in none of its kind inside."""
        before = np.append(0, np.cumsum(did))
        whole = before[self._stop] - before[self._first]
        del before
        own = np.zeros_like(whole)
        inside = np.flatnonzero((self._at >= 0) & (did != 0))
        np.add.at(own, self._at[inside], did[inside])
        return whole, own


def _of_device(recording: Recording, device: Device) -> dict[str, IntArray]:
    times = event_times(recording, device)
    parts: list[_OnThread | _ByTime] = [_OnThread(recording, device)]
    if times is not None:
        by_time = (_ByTime(recording, device, kind, times) for kind in BY_TIME)
        parts += [part for part in by_time if len(part.rows)]
    span = np.concatenate([part.rows for part in parts])
    on_thread = np.arange(len(span)) < len(parts[0].rows)
    order = np.argsort(span, kind="stable").astype(np.int32)
    found = {"span": _aside("span", span[order]), "on_thread": on_thread[order]}
    del span, on_thread
    let_go()
    did = _Did(recording, device)
    for name in _SUMS:
        kind = np.int32 if name in ("births", "frees") else np.int64
        sums = [part.sums(did.column(name)) for part in parts]
        for at, column in enumerate((name, f"self_{name}")):
            whole = np.concatenate([each[at] for each in sums], dtype=kind)
            found[column] = _aside(column, whole[order])
        del sums, whole
        let_go()
    del parts, did
    moved = (found["births"] > 0) | (found["frees"] > 0)
    if not moved.all():
        found = {name: values[moved] for name, values in found.items()}
    found["peak"] = _peaks(recording, device, found["span"], times)
    return found


def _aside(name: str, values: IntArray) -> IntArray:
    """The same integers, out of memory if they are many."""
    kind = SCHEMAS["span_memory"].field(name).type
    table = set_aside(pa.table({name: arrays.adopted(values, kind)}), _LEAST)
    return arrays.values(table, name)


def _peaks(
    recording: Recording, device: Device, spans: IntArray, times: IntArray | None
) -> IntArray:
    """By how much allocated rose at most within each of the ``spans`` above what it was before."""
    found = np.zeros(len(spans), dtype=np.int64)
    if times is None:
        return found
    event = recording.values("usage", "event", device)
    allocated = recording.values("usage", "allocated", device)
    begins, ends = (recording.values("spans", name) for name in ("begin", "end"))
    for at in range(0, len(spans), _PART):
        part = spans[at : at + _PART]
        first, stop = (
            np.searchsorted(event, np.searchsorted(times, edge[part])) for edge in (begins, ends)
        )
        some = np.flatnonzero(stop > first)
        some = some[np.argsort(first[some], kind="stable")]
        highest = most(allocated, first[some], stop[some] - 1)
        found[at + some] = np.maximum(highest - allocated[first[some] - 1], 0)
        let_go()
    return found


def memory_of(recording: Recording, device: Device, spans: IntArray) -> Mapping[str, IntArray]:
    """The columns of ``span_memory`` of some ``spans``; 0 where nothing happened in them."""
    rows = recording.rows("span_memory", device)
    known = recording.values("span_memory", "span", device)
    if not len(known):
        return {name: np.zeros(len(spans), dtype=np.int64) for name in _COLUMNS}
    place = np.minimum(np.searchsorted(known, spans), len(known) - 1)
    found = known[place] == spans
    return {
        name: np.where(found, recording.values("span_memory", name)[rows][place], 0)
        for name in _COLUMNS
    }
