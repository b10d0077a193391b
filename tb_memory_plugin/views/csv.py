"""A breakdown, or the allocations of one of its groups, made into CSV, whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.plan_recording import KEY
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import breakdown, plan_csv
from tb_memory_plugin.views.words import allocation_rows

_GROUP_COLUMNS = (
    "key",
    "label",
    "bytes",
    "count",
    "largest",
    "oldest_step",
    "oldest_event",
    "sums",
)
ALLOCATION_COLUMNS = (
    "id",
    "label",
    "requested",
    "size",
    "category",
    "name",
    "op",
    "module",
    "region",
    "dtype",
    "shape",
    "step",
    "birth",
    "death",
    "birth_time",
    "death_time",
    "address",
)
_ROWS_AT_ONCE = 5000
#: What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def groups(recording: Recording, device: Device, **question: Any) -> Iterator[str]:
    """All groups of a breakdown, a piece of text at a time; arguments as ``breakdown.whole``.

    Raises QueryError before the first piece.
    """
    return pieces(_GROUP_COLUMNS, breakdown.whole(recording, device, **question))


def allocations(recording: Recording, device: Device, **question: Any) -> Iterator[str]:
    """All allocations of a group; arguments as ``breakdown.ordered_rows``. Times in ns.

    Raises QueryError before the first piece.
    """
    rows = breakdown.ordered_rows(recording, device, **question)
    return some(recording, device, rows, allocation_rows, ALLOCATION_COLUMNS)


def some(
    recording: Recording,
    device: Device,
    rows: IntArray,
    told: Callable[[Recording, IntArray], list[dict[str, Any]]],
    columns: Sequence[str],
) -> Iterator[str]:
    """Some of a device's allocations, a plan's in the words of plans.

    Others have ``columns`` of what is ``told`` of rows of the whole table.
    """
    of_plan = device.key.startswith(KEY)
    tell = plan_csv.rows if of_plan else told
    whole = rows + recording.rows("allocations", device).start
    parts = (
        tell(recording, whole[begin : begin + _ROWS_AT_ONCE])
        for begin in range(0, len(whole), _ROWS_AT_ONCE)
    )
    return pieces(plan_csv.COLUMNS if of_plan else columns, parts)


def pieces(
    columns: Sequence[str] | Mapping[str, str], parts: Iterator[Sequence[Mapping[str, Any]]]
) -> Iterator[str]:
    """A line of ``columns``, then one a row, a piece of text for each of ``parts``.

    A mapping says of which key of a row each of its columns is.
    """
    keys = columns if isinstance(columns, Mapping) else dict(zip(columns, columns, strict=True))
    yield _text([list(keys)])
    for part in parts:
        yield _text([[_cell(row[key]) for key in keys.values()] for row in part])


def _text(lines: Sequence[Sequence[Any]]) -> str:
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\r\n").writerows(lines)
    return sink.getvalue()


def _cell(value: Any) -> Any:
    """Words from a file must not become formulas where a spreadsheet opens them."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
