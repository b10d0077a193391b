"""Two recordings of one process, made into one: allocations of ours, the program of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairs import labels, marks, spans
from tb_memory_plugin.analysis.pairs.lives import same_lives
from tb_memory_plugin.analysis.pairs.match import Match
from tb_memory_plugin.analysis.pairs.moves import counterparts
from tb_memory_plugin.analysis.pairs.texts import moved, texts
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import RECORDED, sentinel


def paired(ours: Recording, theirs: Recording, found: Match, shift: int = 0) -> Recording:
    """The recorded tables of both as those of one recording; both must have derived ones.

    Everything about memory is what ours says, and nothing is there twice. Theirs gives its spans
    and links, by our clock and ``shift`` ns later; to events that are in the match their spans; to
    allocations that are what ours does not know of them; marks that ours does not have, and stacks
    if ours has none. What the match was and what was left out is ``meta["pair"]``.
    """
    devices = np.full(len(theirs.devices), -1, dtype=np.int64)
    for own, other in counterparts(ours, theirs):
        devices[other.index] = own.index
    # What both have is told by where it matches, however far the rest is shifted from there.
    clock, later = (found.clock, shift) if len(found) else (found.clock.shifted(shift), 0)
    program = spans.joined(ours, theirs, devices, clock, later)
    known, taken = labels.joined(ours, theirs, same_lives(ours, theirs, found))
    tables = {
        **{name: table for name, table in ours.tables.items() if name in RECORDED},
        "spans": program.table,
        "links": _links(ours, theirs, program),
        "labels": known,
        "marks": marks.joined(ours, theirs, devices, clock, later),
    }
    stacked = not ours.table("stacks").num_rows and theirs.table("stacks").num_rows > 0
    if stacked:
        tables |= {name: theirs.table(name) for name in ("frames", "stacks")}
    tables["events"] = _events(ours, theirs, found, program, stacked)
    about = {
        "labels": taken,
        "doubles": program.doubles,
        "stacks": stacked,
        "left_out": list(_left_out(theirs, devices, found)),
    }
    meta = {
        **ours.meta,
        "missing": list(_missing(ours, program.table, stacked)),
        "pair": {**told(ours, theirs, found), "shift_ns": shift, **about},
    }
    return _from_the_beginning(builder.recording(meta, tables))


def told(ours: Recording, theirs: Recording, found: Match) -> dict[str, Any]:
    """What a match is, in words and numbers for people.

    ``offset_ns`` is how much more our clock shows, in the middle of what is the same; with a drift
    it is ``drift_ppm`` millionths of the time that has passed more from there on.
    """
    origins = [int(side.meta["time_origin_ns"] or 0) for side in (ours, theirs)]
    return {
        "snapshot": ours.meta.get("source"),
        "trace": theirs.meta.get("source"),
        "trace_format": theirs.meta["format"],
        "matched": len(found),
        "snapshot_share": round(found.share[0], 4),
        "trace_share": round(found.share[1], 4),
        "offset_ns": found.clock.offset + origins[0] - origins[1],
        "drift_ppm": round(found.clock.ppm, 6),
        "residual_ns": {"median": found.spread[0], "p95": found.spread[1]},
        "certain": found.certain,
    }


def _events(
    ours: Recording, theirs: Recording, found: Match, program: spans.Spans, stacked: bool
) -> pa.Table:
    """The events of ours; those that are in the match happened in the span that theirs says."""
    table = ours.table("events")
    span = program.ours[ours.values("events", "span")]
    its = program.theirs[theirs.values("events", "span")[found.rows[1]]]
    span[found.rows[0]] = np.where(its >= 0, its, span[found.rows[0]])
    table = _replaced(table, "span", span)
    if stacked:
        stack = np.full(len(span), -1, dtype=np.int32)
        stack[found.rows[0]] = theirs.values("events", "stack")[found.rows[1]]
        table = _replaced(table, "stack", stack)
    return table


def _replaced(table: pa.Table, name: str, values: IntArray) -> pa.Table:
    field = table.schema.field(name)
    column = arrays.column(values, field.type, values < 0, name)
    return table.set_column(table.schema.get_field_index(name), field, column)


def _links(ours: Recording, theirs: Recording, program: spans.Spans) -> pa.Table:
    columns: dict[str, Any] = {}
    sides = ((ours, program.ours), (theirs, program.theirs))
    for name in ("source", "target"):
        rows = np.concatenate([moved(new, side.values("links", name)) for side, new in sides])
        columns[name] = (rows, rows < 0)
    words = (arrays.words(side.table("links"), "kind") for side, _ in sides)
    codes = (side.values("links", "kind") for side, _ in sides)
    return builder.table("links", {**columns, "kind": texts(*zip(words, codes, strict=True))})


def _missing(ours: Recording, program: pa.Table, stacked: bool) -> Iterator[dict[str, str]]:
    """What is still missing."""
    found = {*(["stacks"] if stacked else []), *(["steps"] if _has_steps(program) else [])}
    yield from (one for one in ours.meta["missing"] if one["what"] not in found)


def _has_steps(program: pa.Table) -> bool:
    return "step" in arrays.words(program, "kind")


def _left_out(theirs: Recording, devices: IntArray, found: Match) -> Iterator[dict[str, Any]]:
    """By device of theirs the events of memory that are not in the match, as ours stand."""
    rows = np.zeros(theirs.table("events").num_rows, dtype=bool)
    rows[found.rows[1]] = True
    for device in theirs.devices:
        own = rows[theirs.rows("events", device)]
        count = len(own) - int(own.sum())
        if count:
            yield {"device": device.name, "events": count, "whole": bool(devices[device.index] < 0)}


def _from_the_beginning(recording: Recording) -> Recording:
    """The same with an origin at which or after which everything is."""
    begin = recording.values("spans", "begin")
    begin = begin[begin != sentinel("begin")]
    early = -min(int(begin.min(initial=0)), 0)
    origin = recording.meta["time_origin_ns"]
    if not early or origin is None:
        return recording
    tables = {}
    for name, columns in (("spans", ("begin", "end")), ("events", ("time",)), ("marks", ("time",))):
        table = recording.table(name)
        for column in columns:
            known = arrays.valid(table, column)
            moved = arrays.values(table, column) + np.where(known, early, 0)
            field = table.schema.field(column)
            made = arrays.column(moved, field.type, ~known, column)
            table = table.set_column(table.schema.get_field_index(column), field, made)
        tables[name] = table
    meta = {**recording.meta, "time_origin_ns": origin - early}
    return Recording(meta, {**recording.tables, **tables})
