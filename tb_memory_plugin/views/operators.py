"""What operators did to memory in a window, made into a table or into CSV, whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray, total
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.matching import matching_texts
from tb_memory_plugin.analysis.op_owners import op_owners
from tb_memory_plugin.analysis.op_stacks import op_stacks
from tb_memory_plugin.analysis.op_sums import OpSums, op_sums
from tb_memory_plugin.analysis.windows import EventWindow, window
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import csv
from tb_memory_plugin.views.lives import about

LIMIT = 100
MOST = 1_000
#: Numbers of every operator, as answers have them.
NUMBERS = (
    "calls",
    "count",
    "self_count",
    "bytes",
    "self_bytes",
    "increase",
    "self_increase",
    "peak",
)
SORTS = ("label", *NUMBERS)
#: What allocations and frees without an operator are called: where stacks hold operators, they
#: happened outside all of them.
UNKNOWN, OUTSIDE = "no operator known", "outside any operator"
_ROWS_AT_ONCE = 5000

_NO_CALLS = "The source does not say when operators ran, so calls are not counted."
_NO_TIMES = "Events have no time stamps, so calls cannot be told by window."
_NO_NESTING = (
    "The source does not say what operators ran inside of, so an operator's own numbers are all "
    "there is."
)
_CUT = (
    "Operators nest deeper than is followed here: count, bytes and increase of the outermost leave "
    "out what ran deepest inside them."
)
_NO_OPERATORS = (
    "The source does not say in which operator anything was allocated. Traces of PyTorch's "
    "profiler (profile_memory=True), recordings of MemoryWriter and XPlanes do; of a snapshot look "
    "at stacks."
)


def page(
    recording: Recording,
    device: Device,
    *,
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    find: str = "",
    sort: str = "-self_increase",
    offset: int = 0,
    limit: int = LIMIT,
) -> dict[str, Any]:
    """The answer of ``GET operators``: ``limit`` of those that allocated or freed in a window.

    ``find`` is a word or ``/expression/`` that their names hold. Raises QueryError.
    """
    seen = window(recording, device, axis, begin, end)
    everything = begin is None and end is None
    sums = op_sums(recording, device, seen, everything=everything)
    rows = _order(recording, sums, _found(recording, sums, find), sort)
    offset = max(offset, 0)
    return {
        "device": device.key,
        "window": about(seen),
        "before": _allocated(recording, device, seen.first - 1),
        "after": _allocated(recording, device, seen.stop - 1),
        "freed_where": op_owners(recording, device).freed_where,
        "notes": _notes(recording, sums, seen),
        "total": {
            "operators": int((_moved(sums)[:-1]).sum()),
            "count": total(sums.self_count),
            "frees": total(sums.frees),
            "bytes": total(sums.self_bytes),
            "increase": total(sums.self_increase),
        },
        "found": len(rows),
        "offset": offset,
        "rows": _rows(recording, sums, rows[offset : offset + max(0, min(limit, MOST))]),
    }


def whole(
    recording: Recording,
    device: Device,
    *,
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    find: str = "",
    sort: str = "-self_increase",
) -> Iterator[str]:
    """All rows of :func:`page` as CSV, a piece of text at a time.

    Raises QueryError before the first piece.
    """
    seen = window(recording, device, axis, begin, end)
    sums = op_sums(recording, device, seen, everything=begin is None and end is None)
    rows = _order(recording, sums, _found(recording, sums, find), sort)
    parts = (
        _rows(recording, sums, rows[first : first + _ROWS_AT_ONCE])
        for first in range(0, len(rows), _ROWS_AT_ONCE)
    )
    return csv.pieces(("label", *NUMBERS), parts)


def _moved(sums: OpSums) -> IntArray:
    """Which operators (and none, last) allocated or freed anything, themselves or inside them."""
    found = (sums.self_count > 0) | (sums.frees > 0)
    if sums.count is not None and sums.increase is not None:
        found |= (sums.count > 0) | (sums.increase != 0)
    moved: IntArray = found
    return moved


def _found(recording: Recording, sums: OpSums, find: str) -> IntArray:
    moved = _moved(sums)
    if find.strip():
        names = [*op_stacks(recording).names, _none(recording)]
        moved &= matching_texts(arrays.strings(names), find.strip())
    return np.flatnonzero(moved)


def _order(recording: Recording, sums: OpSums, rows: IntArray, sort: str) -> IntArray:
    column = sort.removeprefix("-")
    if column not in SORTS:
        raise QueryError(f"Cannot sort by {column!r}; choose one of {', '.join(SORTS)}.")
    falling = sort.startswith("-")
    if column == "label":
        labels = _labels(recording, rows)
        places = sorted(range(len(rows)), key=lambda place: labels[place].casefold())
        return rows[places[::-1] if falling else places]
    values = _numbers(sums, column)
    if values is None:
        return rows
    keys = values[rows]
    found: IntArray = rows[np.argsort(-keys if falling else keys, kind="stable")]
    return found


def _numbers(sums: OpSums, column: str) -> IntArray | None:
    values: IntArray | None = getattr(sums, column)
    return values


def _labels(recording: Recording, rows: IntArray) -> list[str]:
    names = [*op_stacks(recording).names, _none(recording)]
    return [names[row] for row in rows.tolist()]


def _none(recording: Recording) -> str:
    stacks = op_stacks(recording)
    return OUTSIDE if stacks.nested and not stacks.by_span else UNKNOWN


def _rows(recording: Recording, sums: OpSums, rows: IntArray) -> list[dict[str, Any]]:
    none = len(op_stacks(recording).names)
    columns = {name: _numbers(sums, name) for name in NUMBERS}
    calls = columns.pop("calls")
    return [
        {
            "op": None if row == none else label,
            "label": label,
            "calls": None if calls is None or calls[row] < 0 else int(calls[row]),
            **{name: None if of is None else int(of[row]) for name, of in columns.items()},
        }
        for row, label in zip(rows.tolist(), _labels(recording, rows), strict=True)
    ]


def _notes(recording: Recording, sums: OpSums, seen: EventWindow) -> list[str]:
    """What is not told, and why."""
    stacks = op_stacks(recording)
    if not stacks.names:
        return [_NO_OPERATORS]
    notes = []
    if sums.calls is None:
        notes.append(_NO_CALLS if seen.timed else _NO_TIMES)
    if stacks.cut:
        notes.append(_CUT)
    elif not stacks.nested:
        notes.append(_NO_NESTING)
    return notes


def _allocated(recording: Recording, device: Device, event: int) -> int:
    instant = resolve(recording, device, f"event:{event}")
    return int(recording.values("usage", "allocated", device)[instant.row])
