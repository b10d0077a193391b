"""Modules written by code, read and put into a few words each for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.hlo import Module


def read(folder: Path, module: Module | bytes, name: str = "jit_f.hlo_proto.pb") -> Recording:
    """A module as a file, read, and what follows from it."""
    path = folder / name
    path.write_bytes(module if isinstance(module, bytes) else module.bytes())
    return derive(hlo.read(path))


def rows(recording: Recording, table: str, *columns: str) -> list[Any]:
    """The rows of a table: of one column its values, of several tuples."""
    whole = recording.table(table)
    found = (whole.select(columns) if columns else whole).to_pylist()
    if len(columns) == 1:
        return [row[columns[0]] for row in found]
    return [tuple(row.values()) for row in found] if columns else found


def plan(recording: Recording) -> dict[str, int]:
    """The only plan there is."""
    (found,) = recording.table("plans").to_pylist()
    numbers: dict[str, int] = found
    return numbers


def curve(recording: Recording) -> list[int]:
    """What is in use after every event."""
    return rows(recording, "plan_events", "size")


def compiler_peak(recording: Recording) -> int:
    """The only module's."""
    (found,) = rows(recording, "plan_modules", "compiler_peak")
    return int(found)


def problems(recording: Recording) -> list[str]:
    """What is odd about the only module."""
    (said,) = rows(recording, "plan_modules", "problems")
    found: list[str] = json.loads(said)
    return found


def lives(recording: Recording) -> list[tuple[int | None, int | None, int | None, int, bool]]:
    """Id of the buffer, birth, death, size and whether it holds memory itself."""
    ids = rows(recording, "buffers", "id")
    columns = ("buffer", "birth", "death", "size", "holds")
    return [
        (None if buffer is None else ids[buffer], *rest)
        for buffer, *rest in rows(recording, "buffer_lives", *columns)
    ]


def order(recording: Recording) -> list[str]:
    """The names of what is scheduled, in program order."""
    found = rows(recording, "instructions", "position", "name")
    return [name for place, name in sorted(row for row in found if row[0] is not None)]
