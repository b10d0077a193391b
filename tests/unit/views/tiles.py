"""Answers of tiles, taken apart as the page does it, in plain Python."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass
class Column:
    """A column as whoever draws it works it out: rows as (allocation, offset, bytes)."""

    event: int
    total: int
    count: int
    base: int
    rows: list[tuple[int, int, int]] = field(default_factory=list)
    gaps: int = 0
    gap_count: int = 0
    #: Parts of gaps as (offset, bytes, bytes by band; empty where it is of several).
    parts: list[tuple[int, int, dict[int, int]]] = field(default_factory=list)
    merged: list[dict[str, Any]] = field(default_factory=list)


def decoded(answer: bytes) -> tuple[dict[str, Any], list[pa.Table]]:
    """The metadata and the four tables that every answer has."""
    tables = _tables(answer)
    about: dict[str, Any] = json.loads(tables[0].schema.metadata[b"tile"])
    return about, tables[:4]


def beside(answer: bytes) -> list[pa.Table]:
    """What an answer by address has besides: mapped ranges, and the block of every row."""
    return _tables(answer)[4:]


def _tables(answer: bytes) -> list[pa.Table]:
    tables = []
    while answer:
        length = int.from_bytes(answer[:4], "little")
        tables.append(pa.ipc.open_stream(answer[4 : 4 + length]).read_all())
        answer = answer[4 + length :]
    return tables


def drawn(answer: bytes) -> list[Column]:
    """The columns of a stacked answer, walked from the bottom as the page does."""
    about, (columns, rows, gaps, merged) = decoded(answer)
    found = [
        Column(each["event"], each["total"], each["count"], each["base"])
        for each in columns.to_pylist()
    ]
    lives = rows.to_pylist()
    changes = gaps.to_pylist()
    for number, column in enumerate(found):
        at = column.base
        for slot in range(len(lives) + 1):
            moved = [c for c in changes if c["slot"] == slot and c["column"] <= number]
            gap = sum(change["bytes"] for change in moved)
            for part in sorted({change["part"] for change in moved}):
                bands: dict[int, int] = {}
                for change in (each for each in moved if each["part"] == part):
                    bands[change["band"]] = bands.get(change["band"], 0) + change["bytes"]
                mixed = any(change["mixed"] for change in moved)
                column.parts.append((at, sum(bands.values()), {} if mixed else bands))
                at += sum(bands.values())
            column.gaps += gap
            column.gap_count += sum(change["count"] for change in moved)
            assert gap >= 0
            if slot < len(lives) and lives[slot]["first"] <= number <= lives[slot]["last"]:
                if about["layout"] != "stacked":
                    at = lives[slot]["offset"]
                column.rows.append((lives[slot]["allocation"], at, lives[slot]["bytes"]))
                at += lives[slot]["bytes"]
        column.merged = [each for each in merged.to_pylist() if each["column"] == number]
    return found
