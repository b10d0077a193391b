"""The compiler's plan for memory, worked out: curves, peaks and lives of every memory space."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.heap_simulation import compiler_peak
from tb_memory_plugin.analysis.plan_space import Space, plan_of
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.plan_schema import BufferKind
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import AFTER

#: Kinds of allocations that are held all the time.
_LASTING = (int(BufferKind.PARAMETER), int(BufferKind.OUTPUT), int(BufferKind.CONSTANT))
#: Tables that are made here.
TABLES = ("plans", "plan_modules", "plan_events", "buffer_lives")


def plans(recording: Recording) -> dict[str, pa.Table]:
    """The derived tables of the plans of all modules; nothing where there is no module."""
    modules = recording.table("modules")
    if not len(modules):
        return {}
    columns = _Columns(recording)
    said = arrays.all_words(modules, "problems")
    found: list[Space] = []
    rows: list[dict[str, Any]] = []
    for module in range(len(modules)):
        spaces, row = _module(columns, module, json.loads(said[module] or "[]"))
        found += spaces
        rows.append(row)
    return {
        "plans": builder.table("plans", _columns([space.numbers for space in found])),
        "plan_modules": builder.table("plan_modules", _columns(rows)),
        "plan_events": _stacked("plan_events", [space.events for space in found]),
        "buffer_lives": _stacked("buffer_lives", [space.lives for space in found]),
    }


class _Columns:
    """Columns of the recorded tables, and where each module's rows lie in them."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._bounds: dict[str, IntArray] = {}
        self._truths: dict[tuple[str, str], IntArray] = {}
        self._edges = np.arange(len(recording.table("modules")) + 1)

    def rows(self, table: str, module: int) -> slice:
        bounds = self._bounds.get(table)
        if bounds is None:
            column = self._recording.values(table, "module")
            bounds = self._bounds[table] = np.searchsorted(column, self._edges)
        return slice(int(bounds[module]), int(bounds[module + 1]))

    def of(self, table: str, column: str) -> IntArray:
        return self._recording.values(table, column)

    def true(self, table: str, column: str) -> IntArray:
        found = self._truths.get((table, column))
        if found is None:
            found = arrays.truths(self._recording.table(table), column)
            self._truths[table, column] = found
        return found

    @cached_property
    def bare(self) -> IntArray:
        """The bytes of buffers without padding; where not known, with."""
        found = self.of("buffers", "unpadded")
        return np.where(found < 0, self.of("buffers", "size"), found)


def _module(
    columns: _Columns, module: int, problems: list[str]
) -> tuple[list[Space], dict[str, Any]]:
    buffers, heap = columns.rows("buffers", module), columns.rows("heap", module)
    allocations = columns.rows("buffer_allocations", module)
    allocation = columns.of("buffers", "allocation")
    of_space = columns.of("buffer_allocations", "space")[allocations]
    of_space = of_space[columns.of("buffer_allocations", "size")[allocations] > 0]
    event_buffer = columns.of("heap", "buffer")[heap]
    own = columns.of("buffers", "space")[event_buffer]
    # The space of an event is that of the allocation its buffer lies in.
    lies = allocation[event_buffer]
    inside = columns.of("buffer_allocations", "space")
    event_space = np.where(lies >= 0, inside[np.maximum(lies, 0)], own) if len(inside) else own
    spaces = [
        plan_of(columns, module, int(space), event_space == space, problems)
        for space in np.union1d(of_space, event_space)
    ]
    size = columns.of("buffers", "size")
    peak = compiler_peak(
        columns.of("heap", "kind")[heap].tolist(),
        event_buffer.tolist(),
        columns.of("heap", "shares")[heap].tolist(),
        lambda row: int(size[row]),
        _held(columns, allocations, buffers),
    )
    return spaces, {"compiler_peak": peak, "problems": json.dumps(problems)}


def _held(columns: _Columns, allocations: slice, buffers: slice) -> list[int]:
    """What the compiler counts as held all the time: the largest buffer of each such allocation."""
    lasting = np.isin(columns.of("buffer_allocations", "kind")[allocations], _LASTING)
    # A parameter, or an output, may be that too.
    lasting &= ~columns.true("buffer_allocations", "is_thread_local")[allocations]
    lies = columns.of("buffers", "allocation")[buffers].astype(np.int64) - allocations.start
    size = columns.of("buffers", "size")[buffers]
    rows = np.flatnonzero((lies >= 0) & (size > 0))
    rows = rows[lasting[lies[rows]]]
    rows = rows[np.lexsort((rows, -size[rows], lies[rows]))]
    of = lies[rows]
    first = np.append(True, of[1:] != of[:-1])[: len(of)]
    found: list[int] = (rows[first] + buffers.start).tolist()
    return found


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}


def _stacked(name: str, parts: Sequence[dict[str, IntArray]]) -> pa.Table:
    """Rows of plan after plan, with the number of their plan; -1 and ``AFTER`` are null."""
    lengths = [len(next(iter(part.values()))) for part in parts]
    columns: dict[str, Any] = {"plan": np.repeat(np.arange(len(parts)), lengths)}
    for column in parts[0] if parts else ():
        whole = np.concatenate([part[column] for part in parts])
        missing = (whole == AFTER) if column == "death" else (whole < 0)
        is_truth = whole.dtype == bool
        columns[column] = pa.array(whole) if is_truth else (whole, missing)
    return builder.table(name, columns)
