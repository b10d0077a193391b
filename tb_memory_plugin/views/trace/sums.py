"""Memory by span: operators, modules, annotations or steps as a table, or as CSV, whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray, total
from tb_memory_plugin.analysis.instants import at_any_time, event_times
from tb_memory_plugin.analysis.matching import matching_texts
from tb_memory_plugin.analysis.trace.memory import BY_TIME
from tb_memory_plugin.analysis.trace.per_step import spread
from tb_memory_plugin.analysis.trace.sums import Choice, SpanSums, span_sums
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import csv

LIMIT = 100
MOST = 1_000
NUMBERS = (
    "calls",
    "time",
    "births",
    "frees",
    "allocated",
    "freed",
    "net",
    "self_allocated",
    "self_freed",
    "self_net",
    "peak",
)
SORTS = ("name", *NUMBERS)
_ROWS_AT_ONCE = 1000
_BY_TIME = "Memory of steps, annotations and HLO modules is that of all threads in their time."
_WHOLE = "Spans that begin in the window count whole, also what they did after it."


def page(
    recording: Recording,
    device: Device,
    *,
    kind: str,
    begin: int | None = None,
    end: int | None = None,
    tracks: tuple[int, ...] | None = None,
    find: str = "",
    sort: str = "-allocated",
    offset: int = 0,
    limit: int = LIMIT,
) -> dict[str, Any]:
    """The answer of ``GET trace.sums``: ``limit`` of the names of spans that begin in a window.

    ``begin`` and ``end`` are ns since the origin; ``kind`` '' is any kind. ``outside`` is what no
    span of the kind is around, where there is no window and all tracks are taken. Raises
    QueryError.
    """
    of = Choice(kind, begin, end, tracks)
    sums = span_sums(recording, device, of)
    rows = _order(recording, sums, _found(recording, sums, find), sort)
    offset = max(offset, 0)
    own = [total(column) for column in (sums.self_allocated, sums.self_freed)]
    return {
        "device": device.key,
        "kind": kind,
        "kinds": arrays.words(recording.table("spans"), "kind"),
        "notes": _notes(recording, of),
        "total": {
            "names": len(sums.calls),
            "calls": total(sums.calls),
            "allocated": own[0],
            "freed": own[1],
        },
        "usage": _usage(recording, device, of),
        "outside": _outside(recording, device, of, own),
        "found": len(rows),
        "offset": offset,
        "rows": _rows(recording, device, of, rows[offset : offset + max(0, min(limit, MOST))]),
    }


def whole(
    recording: Recording,
    device: Device,
    *,
    kind: str,
    begin: int | None = None,
    end: int | None = None,
    tracks: tuple[int, ...] | None = None,
    find: str = "",
    sort: str = "-allocated",
) -> Iterator[str]:
    """All rows of :func:`page` as CSV, a piece of text at a time.

    Raises QueryError before the first piece.
    """
    of = Choice(kind, begin, end, tracks)
    sums = span_sums(recording, device, of)
    rows = _order(recording, sums, _found(recording, sums, find), sort)
    steps = ("least_per_step", "median_per_step", "most_per_step")
    unknown = dict.fromkeys(steps)  # a recording may have no steps
    parts = (
        [
            {
                **row,
                **unknown,
                **{f"{name}_per_step": value for name, value in (row["steps"] or {}).items()},
            }
            for row in _rows(recording, device, of, rows[first : first + _ROWS_AT_ONCE])
        ]
        for first in range(0, len(rows), _ROWS_AT_ONCE)
    )
    return csv.pieces(("name", "kind", *NUMBERS, *steps), parts)


def _found(recording: Recording, sums: SpanSums, find: str) -> IntArray:
    rows = np.arange(len(sums.name))
    if find.strip():
        rows = rows[matching_texts(arrays.strings(_names(recording, sums, rows)), find.strip())]
    return rows


def _names(recording: Recording, sums: SpanSums, rows: IntArray) -> list[str]:
    known = arrays.dictionary(recording.table("spans"), "name")
    return [known[code].as_py() if code >= 0 else "" for code in sums.name[rows].tolist()]


def _order(recording: Recording, sums: SpanSums, rows: IntArray, sort: str) -> IntArray:
    column, falling = sort.removeprefix("-"), sort.startswith("-")
    if column not in SORTS:
        raise QueryError(f"Cannot sort by {column!r}; choose one of {', '.join(SORTS)}.")
    if column == "name":
        names = _names(recording, sums, rows)
        places = sorted(range(len(rows)), key=lambda place: names[place].casefold())
        return rows[places[::-1] if falling else places]
    keys: IntArray = getattr(sums, column)[rows]
    # Of equals those that took longest first: what allocates nothing is in an order too.
    found: IntArray = rows[np.lexsort((-sums.time[rows], -keys if falling else keys))]
    return found


def _rows(recording: Recording, device: Device, of: Choice, rows: IntArray) -> list[dict[str, Any]]:
    sums = span_sums(recording, device, of)
    kinds = [*arrays.words(recording.table("spans"), "kind"), None]
    keys = list(zip(sums.kind[rows].tolist(), sums.name[rows].tolist(), strict=True))
    told = spread(recording, device, of, keys)
    columns = {name: getattr(sums, name)[rows].tolist() for name in NUMBERS}
    return [
        {
            "name": name,
            "kind": kinds[keys[at][0]],
            **{column: values[at] for column, values in columns.items()},
            "steps": told
            and {
                "count": told.steps,
                "least": int(told.least[at]),
                "median": int(told.median[at]),
                "most": int(told.most[at]),
            },
            "first": str(first),
        }
        for at, (name, first) in enumerate(
            zip(_names(recording, sums, rows), sums.first[rows].tolist(), strict=True)
        )
    ]


def _notes(recording: Recording, of: Choice) -> list[str]:
    notes = []
    if of.kind in BY_TIME or not of.kind:
        notes.append(_BY_TIME)
    if of.begin is not None or of.end is not None:
        notes.append(_WHOLE)
    if not recording.table("spans").num_rows:
        notes.append("The recording has no spans: it does not say what the program did.")
    return notes


def _usage(recording: Recording, device: Device, of: Choice) -> dict[str, int] | None:
    """What is allocated before and after the window; None where events have no times."""
    if event_times(recording, device) is None:
        return None
    allocated = recording.values("usage", "allocated", device)
    found = {"before": int(allocated[0]), "after": int(allocated[-1])}
    for name, edge in (("before", of.begin), ("after", of.end)):
        if edge is not None:
            instant = at_any_time(recording, device, f"time:{edge - 1}")
            found[name] = int(allocated[instant.row])
    return found


def _outside(
    recording: Recording, device: Device, of: Choice, own: list[int]
) -> dict[str, int] | None:
    """Bytes that were allocated and freed in no span of the kind."""
    if of.begin is not None or of.end is not None or of.tracks is not None or not of.kind:
        return None
    moved = np.diff(recording.values("usage", "allocated", device))
    up, down = total(moved[moved > 0]), -total(moved[moved < 0])
    return {"allocated": up - own[0], "freed": down - own[1]}
