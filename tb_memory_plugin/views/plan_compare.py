"""Two plans side by side at their peaks: what grew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Category

#: What can be compared by, and the columns of allocations that tell it.
BY = {
    "op": ("op",),
    "name": ("name",),
    "kind": ("region",),
    "category": ("category",),
    "shape": ("dtype", "shape"),
}
MOST = 1_000
_CATEGORIES = ("category",)
_SUMS = ("bytes", "count", "other_bytes", "other_count")
_NONE = (0, 0)


def compared(
    first: tuple[Recording, Device], second: tuple[Recording, Device], by: str
) -> dict[str, Any]:
    """Bytes and buffers alive at the peaks of two plans, by what both call alike.

    ``rows`` of ``label``, ``bytes``, ``count`` of the first plan and ``other_bytes``,
    ``other_count`` of the second, those that differ most first. The same four of all, and in
    ``left_out`` of the ``labels`` beyond the first thousand.
    Raises QueryError for an unknown ``by``.
    """
    if by not in BY:
        raise QueryError(f"Plans cannot be compared by {by!r}; choose one of {', '.join(BY)}.")
    mine, others = _sums(*first, by), _sums(*second, by)
    labels = list(dict.fromkeys([*mine, *others]))
    rows: list[dict[str, Any]] = [
        {
            "label": label,
            **dict(zip(_SUMS, (*mine.get(label, _NONE), *others.get(label, _NONE)), strict=True)),
        }
        for label in labels
    ]
    rows.sort(key=lambda row: (-abs(row["bytes"] - row["other_bytes"]), -row["bytes"]))
    left = rows[MOST:]
    return {
        "by": by,
        **_summed(rows),
        "rows": rows[:MOST],
        "left_out": {"labels": len(left), **_summed(left)},
    }


def _summed(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {name: sum(row[name] for row in rows) for name in _SUMS}


def _sums(recording: Recording, device: Device, by: str) -> dict[str, tuple[int, int]]:
    event = resolve(recording, device, "peak").event
    alive = alive_rows(recording, device, event)
    size = bytes_of(recording, device)[alive]
    rows = alive + recording.rows("allocations", device).start
    labels = _labels(recording, by, rows)
    names = list(dict.fromkeys(labels))
    codes = {name: code for code, name in enumerate(names)}
    group = np.array([codes[label] for label in labels], dtype=np.int64)
    sums = exact.sum_by(group, size, len(names))
    counts = np.bincount(group, minlength=len(names))
    return {
        name: (int(whole), int(count))
        for name, whole, count in zip(names, sums.tolist(), counts.tolist(), strict=True)
    }


def _labels(recording: Recording, by: str, rows: IntArray) -> list[str]:
    table = recording.table("allocations")
    if BY[by] == _CATEGORIES:
        codes = recording.values("allocations", "category")[rows].tolist()
        return [Category(code).label if code >= 0 else "unknown" for code in codes]
    columns = [arrays.words_of(table, name, rows) for name in BY[by]]
    return [" ".join(filter(None, words)) or "not known" for words in zip(*columns, strict=True)]
