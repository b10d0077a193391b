"""What a recording knows about allocations at their birth: labels, step, annotation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tb_memory_plugin.analysis.columns import Column, Made, coded, either, picked
from tb_memory_plugin.analysis.device_tables import DeviceTables
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.lives import Lives
from tb_memory_plugin.analysis.nesting import innermost
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.aside import let_go
from tb_memory_plugin.recording.recording import Device, Recording


def label_rows(tables: DeviceTables, lives: Lives) -> IntArray:
    """For every life the row of ``labels`` (of the whole table) that is about it, -1 for none.

    Labels are found by the ordinal of the birth, and by address for what is older.
    """
    rows = tables.recording.rows("labels", tables.device)
    found = np.full(len(lives.birth), -1, dtype=np.int64)
    event = tables.column("labels", "event")
    if not len(event):
        return found
    at = np.minimum(np.searchsorted(event, lives.birth), len(event) - 1)
    known = (event[at] == lives.birth) & (lives.birth >= 0)
    found[known] = at[known]
    older = int(np.searchsorted(event, 0))  # the labels of event -1 come first, by address
    before = np.flatnonzero(lives.birth < 0)
    if older and len(before):
        address = tables.column("labels", "address")[:older]
        at = np.minimum(np.searchsorted(address, lives.address[before]), older - 1)
        known = address[at] == lives.address[before]
        found[before[known]] = at[known]
    found[found >= 0] += rows.start
    return found


@dataclass(frozen=True)
class Spans:
    """The spans of one kind that concern one device, and their rows in the table."""

    rows: IntArray
    begin: IntArray
    end: IntArray

    def at(self, moments: IntArray) -> IntArray:
        """For every moment the row of the innermost span then, -1 for none."""
        place = innermost(self.begin, self.end, moments)
        if not len(self.rows):
            return place
        return np.where(place >= 0, self.rows[place], -1)


def spans_of_kind(recording: Recording, kind: str, device: Device | None) -> Spans:
    """Spans of ``kind`` on ``device`` or on none in particular (all, without a device)."""
    table = recording.table("spans")
    names = arrays.words(table, "kind")
    chosen = np.isin(
        arrays.values(table, "kind"), [place for place, name in enumerate(names) if name == kind]
    )
    if device is not None:
        of = arrays.values(table, "device")
        chosen &= (of == device.index) | (of == -1)
    rows = np.flatnonzero(chosen)
    begin, end = arrays.values(table, "begin")[rows], arrays.values(table, "end")[rows]
    return Spans(rows, begin, end)


def labelled(recording: Recording, rows: IntArray) -> dict[str, Made]:
    """The columns of ``allocations`` that labels fill, from their ``rows`` (-1 for none)."""
    table = recording.table("labels")

    def codes(name: str) -> Column:
        return coded(picked(arrays.values(table, name), rows))

    def guessed() -> Column:
        return picked(arrays.truths(table, "inferred").astype(np.int8), rows, 0), rows < 0

    names = ("name", "dtype", "shape", "op", "module", "region", "category")
    return {**{name: partial(codes, name) for name in names}, "category_inferred": guessed}


def requested(recording: Recording, rows: IntArray) -> Column:
    """What labels say was asked for, from their ``rows`` (-1 for none)."""
    table = recording.table("labels")
    said = picked(arrays.valid(table, "requested").astype(np.int8), rows, 0) != 0
    return picked(arrays.values(table, "requested"), rows, 0), ~said


def step(tables: DeviceTables, birth_time: Column, labels: IntArray) -> Column:
    """The step at birth: what a label says, else that of the span of that time."""
    recording = tables.recording
    found = picked(arrays.values(recording.table("labels"), "step"), labels).astype(np.int64)
    timed, rows = _spans_at(tables, birth_time, "step")
    marked = picked(arrays.values(recording.table("spans"), "step"), rows)
    found[timed] = either(found[timed], marked)
    return coded(found)


def annotation(tables: DeviceTables, birth_time: Column) -> Column:
    """The innermost annotation at birth, as a code of the spans' names."""
    found = np.full(len(birth_time[0]), -1, dtype=np.int64)
    timed, rows = _spans_at(tables, birth_time, "annotation")
    found[timed] = picked(arrays.values(tables.recording.table("spans"), "name"), rows)
    return coded(found)


def _spans_at(tables: DeviceTables, moments: Column, kind: str) -> tuple[IntArray, IntArray]:
    """Which moments have a time, and the rows of the innermost spans of a kind then."""
    times, untimed = moments
    timed = np.flatnonzero(~untimed)
    rows = spans_of_kind(tables.recording, kind, tables.device).at(times[timed])
    let_go()
    return timed, rows
