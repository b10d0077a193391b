"""Where an instruction of a plan ran on devices: spans of its name, or kernels of it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.module_runs import program_of
from tb_memory_plugin.analysis.trace.finding import found
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

_MODULE = "hlo_module"


def instruction_runs(recording: Recording, instruction: int) -> IntArray:
    """Rows of ``spans``, in order of time: those of a row of ``instructions``.

    A span is of it if it has its name, and begins on a device while the instruction's program runs
    there; where none is, if its arguments name the instruction and the program, as those of kernels
    on GPUs do. None where the recording has no such spans.
    """
    table = recording.table("instructions")
    name = table.column("name")[instruction].as_py()
    if not name:
        return np.zeros(0, dtype=np.int64)
    module = int(recording.values("instructions", "module")[instruction])
    program = int(recording.table("modules").column("program_id")[module].as_py())
    rows = _named(recording, name, program)
    if not len(rows):
        rows = _told(recording, name, program)
    rows = rows[recording.values("spans", "device")[rows] >= 0]
    return rows[np.argsort(recording.values("spans", "begin")[rows], kind="stable")]


def _named(recording: Recording, name: str, program: int) -> IntArray:
    """Spans of a name that begin while the program runs on their device."""
    rows = found(recording, name, exactly=True)
    runs = _runs(recording, program) if len(rows) else rows
    device, begin, end = (recording.values("spans", key) for key in ("device", "begin", "end"))
    within = np.zeros(len(rows), dtype=bool)
    for each in np.unique(device[runs]).tolist():
        own = runs[device[runs] == each]
        place = np.searchsorted(begin[own], begin[rows], side="right") - 1
        run = own[np.maximum(place, 0)]
        within |= (device[rows] == each) & (place >= 0) & (begin[rows] < end[run])
    return rows[within]


def _told(recording: Recording, name: str, program: int) -> IntArray:
    """Spans whose arguments say that they are of an instruction of the program."""
    # Imported where it is used, as in ``matching``.
    import pyarrow.compute as pc

    known = arrays.dictionary(recording.table("spans"), "args")
    pattern = f'"hlo_op": {json.dumps(name)}'
    hits = arrays.truths(pa.table([pc.match_substring(known, pattern)], ["hits"]), "hits")
    chosen = np.zeros(len(known) + 1, dtype=bool)
    for code in np.flatnonzero(hits).tolist():
        told = json.loads(known[code].as_py())
        chosen[code] = told.get("hlo_op") == name and str(told.get("program_id")) == str(program)
    return np.flatnonzero(chosen[recording.values("spans", "args")])


def _runs(recording: Recording, program: int) -> IntArray:
    """Rows of the runs of a program, in order of beginning."""
    spans = recording.table("spans")
    names, kinds = (arrays.words(spans, key) for key in ("name", "kind"))
    is_named = np.array([*(program_of(name)[1] == program for name in names), False], dtype=bool)
    is_kind = np.array([*(kind == _MODULE for kind in kinds), False], dtype=bool)
    chosen = is_named[recording.values("spans", "name")]
    rows = np.flatnonzero(chosen & is_kind[recording.values("spans", "kind")])
    return rows[np.argsort(recording.values("spans", "begin")[rows], kind="stable")]
