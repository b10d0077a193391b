"""Runs of HLO modules on a device, with the memory in use meanwhile, and which are asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.hlo_modules import hlo_modules
from tb_memory_plugin.analysis.instants import Stretch, event_times
from tb_memory_plugin.analysis.matching import matching_texts
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.stretches import most
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

#: What runs can be sorted by.
SORTS = ("program", "name", "on", "begin", "end", "duration", "before", "peak")
#: What a run is called in an XPlane: its module, then its program's id, 64 bits.
_PROGRAM = re.compile(r"(.+)\((\d{1,20})\)", re.DOTALL)
_MOST = (1 << 64) - 1
_EDGES = np.iinfo(np.int64)


@dataclass(frozen=True)
class ModuleRuns:
    """One element a run, in order of beginning.

    ``row`` is that of the table ``spans``; ``begin`` and ``end`` are ns since the origin, the
    extremes of 64 bits where that was not seen. ``first`` … ``stop`` - 1 are the events of the
    device within the run, ``before`` is what is allocated on it before the first of them, ``peak``
    the most after any of them, ``before`` included; all four are -1 where events have no time
    stamps. ``name`` and ``on`` are places in ``names`` and ``places``.
    """

    row: IntArray
    begin: IntArray
    end: IntArray
    first: IntArray
    stop: IntArray
    before: IntArray
    peak: IntArray
    name: IntArray
    on: IntArray
    names: tuple[str, ...]
    places: tuple[str, ...]


def module_runs(recording: Recording, device: Device) -> ModuleRuns:
    """The runs that :func:`hlo_modules` gives for ``device``, worked out once."""
    return memo(recording, ("module_runs", device.index), lambda: _runs(recording, device))


def program_of(name: str) -> tuple[str, int | None]:
    """``jit_f(12)`` as the module ``jit_f`` and the program 12; None where none is named."""
    found = _PROGRAM.fullmatch(name)
    program = None if found is None else int(found[2])
    if found is None or program is None or program > _MOST:
        return name, None
    return found[1], program


def chosen(runs: ModuleRuns, window: EventWindow | None, at: Stretch | None, find: str) -> IntArray:
    """The places of those that run in ``window`` or during ``at`` and hold ``find``.

    In a window are runs that had not ended when it began and began before its end; None is
    everything. At a moment are those that run for any part of what it stands for, whatever the
    window. ``find`` is a word or ``/expression/`` in the module's name, in the program's id or in
    the device. Raises QueryError.
    """
    seen = np.ones(len(runs.row), dtype=bool)
    if at is not None:
        if at.begin is None or at.end is None:
            seen[:] = False
        else:
            # What takes no time runs at its beginning.
            going = (runs.end > at.begin) | ((runs.begin == runs.end) & (runs.begin == at.begin))
            seen &= (runs.begin < at.end) & going
    elif window is not None and window.timed:
        seen &= (runs.begin < window.end) & (runs.end >= window.begin)
    if find.strip():
        told = [program_of(name) for name in runs.names]
        programs = ["" if program is None else str(program) for _, program in told]
        modules, ids, places = (
            matching_texts(arrays.strings(texts), find.strip())
            for texts in ([name for name, _ in told], programs, runs.places)
        )
        known = np.array([bool(program) for program in programs], dtype=bool)
        seen &= (modules | (ids & known))[runs.name] | places[runs.on]
    return np.flatnonzero(seen)


def in_order(runs: ModuleRuns, rows: IntArray, sort: str) -> IntArray:
    """``rows`` by a column of ``SORTS``, falling with a ``-`` before it; what is not known last.

    Of equals the first to begin is first (falling, last). What was not seen to begin is the
    earliest, what was not seen to end the latest. Raises QueryError.
    """
    column = sort.removeprefix("-")
    if column not in SORTS:
        raise QueryError(f"Cannot sort by {column!r}; choose one of {', '.join(SORTS)}.")
    keys, known = _keys(runs, column)
    told, untold = rows[known[rows]], rows[~known[rows]]
    told = told[np.argsort(keys[told], kind="stable")]
    return np.concatenate([told[::-1] if sort.startswith("-") else told, untold])


def _keys(runs: ModuleRuns, column: str) -> tuple[IntArray, IntArray]:
    """A number for every run that sorts as its value does, and whether it has one."""
    known = np.ones(len(runs.row), dtype=bool)
    if column == "program":
        programs = [program_of(name)[1] for name in runs.names]
        keys = np.array([program or 0 for program in programs], dtype=np.uint64)
        return keys[runs.name], np.array([each is not None for each in programs])[runs.name]
    if column == "name":
        return _ranks([name.casefold() for name in runs.names])[runs.name], known
    if column == "on":
        # "TPU:2" before "TPU:10".
        return _ranks([(len(place), place) for place in runs.places])[runs.on], known
    if column == "duration":
        both = (runs.begin != _EDGES.min) & (runs.end != _EDGES.max)
        return np.where(both, runs.end, 0) - np.where(both, runs.begin, 0), both
    if column in ("begin", "end"):
        return (runs.begin if column == "begin" else runs.end), known
    levels = runs.before if column == "before" else runs.peak
    return levels, levels >= 0


def _ranks(words: list[str] | list[tuple[int, str]]) -> IntArray:
    place = {word: rank for rank, word in enumerate(sorted({*words}))}
    return np.array([place[word] for word in words], dtype=np.int64)


def _runs(recording: Recording, device: Device) -> ModuleRuns:
    spans, _ = hlo_modules(recording, device)
    order = np.lexsort((spans.rows, spans.end, spans.begin))
    row, begin, end = spans.rows[order], spans.begin[order], spans.end[order]
    first = stop = before = peak = np.full(len(row), -1, dtype=np.int64)
    times = event_times(recording, device)
    if times is not None:
        first = np.searchsorted(times, begin)
        stop = np.maximum(np.searchsorted(times, end), first)
        before, peak = _levels(recording, device, first, stop)
    name, names = _words(recording, "name", row)
    on, places = _words(recording, "track", row)
    return ModuleRuns(row, begin, end, first, stop, before, peak, name, on, names, places)


def _levels(
    recording: Recording, device: Device, first: IntArray, stop: IntArray
) -> tuple[IntArray, IntArray]:
    """What is allocated before event ``first``, and the most from then up to ``stop`` - 1."""
    moved = recording.values("usage", "event", device)
    allocated = recording.values("usage", "allocated", device)
    low = np.searchsorted(moved, first - 1, side="right") - 1
    high = np.searchsorted(moved, stop - 1, side="right") - 1
    before: IntArray = allocated[low]
    return before, most(allocated, low, high)


def _words(recording: Recording, column: str, rows: IntArray) -> tuple[IntArray, tuple[str, ...]]:
    """Places of what a text column of ``spans`` says in some rows, and those texts; null is ''."""
    codes = recording.values("spans", column)[rows]
    used = arrays.distinct(codes)
    known = arrays.dictionary(recording.table("spans"), column)
    texts = tuple("" if code < 0 else str(known[code].as_py()) for code in used.tolist())
    return np.searchsorted(used, codes), texts
