"""Frames in words: labels for people, and the frames of a stack as the page takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    made = frames_of_rows(recording, np.unique(np.concatenate([*rows, frames[:0]])))
    return [[made[row] for row in of_stack.tolist()] for of_stack in rows]


def frames_of_rows(recording: Recording, rows: IntArray) -> dict[int, dict[str, Any]]:
    """Rows of the table ``frames`` as the page takes them."""
    library = recording.values("frame_kinds", "kind")[rows] != OWN
    told = zip(rows.tolist(), _said(recording, rows), library.tolist(), strict=True)
    return {
        row: {"function": function, "file": file, "line": line, "library": kind}
        for row, (function, file, line), kind in told
    }


def frame_labels(recording: Recording, frames: Iterable[int]) -> dict[int, str]:
    """The label of each of ``frames`` (rows of the table); -1 is left out.

    ``forward · model.py:88``; of an op and a node of autograd only the name.
    """
    rows = np.array([frame for frame in frames if frame >= 0], dtype=np.int64)
    kind = recording.values("frame_kinds", "kind")[rows].tolist()
    said = list(_said(recording, rows))
    short = {function: told_by(function) for function in {function for function, _, _ in said}}
    place = {file: short_file(file) for file in {file for _, file, _ in said}}
    return {
        row: short[function]
        if told in (NODE, OP)
        else _label(short[function], place[file], line or 0)
        for row, told, (function, file, line) in zip(rows.tolist(), kind, said, strict=True)
    }


def _label(function: str, file: str, line: int) -> str:
    if not file:
        return function
    return f"{function} · {file}:{line}" if line > 0 else f"{function} · {file}"


def _said(
    recording: Recording, rows: IntArray
) -> Iterable[tuple[str | None, str | None, int | None]]:
    """Function, file and line of rows of ``frames``."""
    table = recording.table("frames")
    known = arrays.valid(table, "line")[rows] if table.column("line").null_count else None
    lines: list[int | None] = arrays.values(table, "line")[rows].tolist()
    if known is not None:
        lines = [line if valid else None for line, valid in zip(lines, known, strict=True)]
    functions, files = (arrays.words_of(table, name, rows) for name in ("function", "file"))
    return zip(functions, files, lines, strict=True)
