"""Frames in words: labels for people, and the frames of a stack as the page takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.content import stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.telling import NODE, OP, OWN, short_file, told_by
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


def named_by(recording: Recording) -> IntArray:
    """For every stack the row of ``frames`` it is called by: its innermost of the user's own.

    Where none is, the innermost of the most telling kind; -1 for a stack without frames.
    """
    return recording.values("stack_names", "own")


def called_last(recording: Recording) -> IntArray:
    """For every stack the row of its innermost Python frame, as ``named_by`` where none is."""
    return recording.values("stack_names", "python")


def frames_of(recording: Recording, stack: int) -> list[dict[str, Any]] | None:
    """The frames of a row of ``stacks``, innermost first, as the page takes them; None for -1."""
    return None if stack < 0 else frames_of_stacks(recording, [stack])[0]


def frames_of_stacks(recording: Recording, stacks: Sequence[int]) -> list[list[dict[str, Any]]]:
    """The frames of each of ``stacks``. Those that share a frame share its dictionary."""
    frames, offsets = stack_layout(recording)
    rows = [frames[offsets[stack] : offsets[stack + 1]] for stack in stacks]
    made = frames_of_rows(recording, arrays.distinct(np.concatenate([*rows, frames[:0]])))
    return [[made[row] for row in of_stack.tolist()] for of_stack in rows]


def frames_of_rows(recording: Recording, rows: IntArray) -> dict[int, dict[str, Any]]:
    """Rows of the table ``frames`` as the page takes them."""
    told = said(recording, rows)
    columns = zip(
        rows.tolist(), told.function, told.file, told.line, (told.kind != OWN).tolist(), strict=True
    )
    return {
        row: {"function": function, "file": file, "line": line, "library": library}
        for row, function, file, line, library in columns
    }


def frame_labels(recording: Recording, frames: Iterable[int]) -> dict[int, str]:
    """The label of each of ``frames`` (rows of the table); -1 is left out."""
    rows = np.array([frame for frame in frames if frame >= 0], dtype=np.int64)
    return dict(zip(rows.tolist(), labels_of(said(recording, rows)), strict=True))


@dataclass(frozen=True)
class Said:
    """What some rows of ``frames`` say, one element each; ``kind`` as in ``frame_kinds``."""

    function: list[str | None]
    file: list[str | None]
    line: list[int | None]
    kind: IntArray


def said(recording: Recording, rows: IntArray) -> Said:
    """Function, file, line and kind of ``rows`` of ``frames``."""
    table = recording.table("frames")
    lines: list[int | None] = arrays.values(table, "line")[rows].tolist()
    if table.column("line").null_count:
        known = arrays.valid(table, "line")[rows].tolist()
        lines = [line if valid else None for line, valid in zip(lines, known, strict=True)]
    function, file = (arrays.words_of(table, name, rows) for name in ("function", "file"))
    return Said(function, file, lines, recording.values("frame_kinds", "kind")[rows])


def labels_of(frames: Said) -> list[str]:
    """What people call frames: ``forward · model.py:88``; an op, a node of autograd by its name."""
    short = {function: told_by(function) for function in {*frames.function}}
    place = {file: short_file(file) for file in {*frames.file}}
    named = ((frames.kind == NODE) | (frames.kind == OP)).tolist()
    return [
        short[function] if by_name else _label(short[function], place[file], line or 0)
        for by_name, function, file, line in zip(
            named, frames.function, frames.file, frames.line, strict=True
        )
    ]


def _label(function: str, file: str, line: int) -> str:
    if not file:
        return function
    return f"{function} · {file}:{line}" if line > 0 else f"{function} · {file}"
