"""Frames in words and columns: which lines are the user's own, and what each frame tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.content import stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

_PYTHON = re.compile(r"\.(py|pyx|ipynb)$|^<(stdin|ipython-input[^>]*)>$", re.IGNORECASE)
_INSTALLED = re.compile(
    r"/(site|dist)-packages/"
    r"|/lib(64)?/python\d[\d.]*/"  # the standard library
    r"|/c?python-?\d[^/]*/lib/"  # the same where Windows or uv put it
    r"|(^|/)torch/(_|amp/|autograd/|backends/|cuda/|distributed/|fx/|jit/|library\.py|nn/|optim/"
    r"|overrides\.py|profiler/|random\.py|storage\.py|utils/|functional\.py|serialization\.py"
    r"|__init__\.py)"
    r"|/torchinductor_[^/]*/"  # code that torch.compile wrote
    r"|^<",
    re.IGNORECASE,
)
_LONGEST_FUNCTION = 60
#: What says little in a C++ function's name: what it returns, the types it is made for.
_TYPES = re.compile(
    r"^(?:(?:void|bool|static|auto) )+|(?<=\w)<.*|\(anonymous namespace\)::", re.DOTALL
)
_MOST_COMPARED = 500
_NO_FRAMES = "stack without frames"

#: What a frame tells of an allocation, the most telling first: a line of the user's, one of a
#: library, a node of autograd, an op, another function of C++, one on the way to the allocator.
OWN, PYTHON, NODE, OP, OTHER, PLUMBING = range(6)

#: Functions of C++ that tell what an allocation was for: a node of autograd, an op.
_NODE = re.compile(r"\bautograd::generated::(\w+Backward\w*)")
_OP = re.compile(r"\bat::_ops::(\w+)::")
#: Functions of C++ on the way from an op to the allocator, and those that took the stack.
_PLUMBING = re.compile(
    r"unwind|CapturedTraceback|CachingAlloc|gather_with_cpp|StorageImpl|^c10::|^std::|empty_generic"
    r"|\bat::empty|empty_cuda|at::detail::|\bTensorBase\b"
)


def is_library(file: str) -> bool:
    """Whether a frame of ``file`` is not the user's own line.

    Not the user's are installed packages, the standard library, PyTorch from a checkout,
    generated code, and all that is not Python: frames of C++ have no file, or one of its sources.
    """
    path = file.replace("\\", "/")
    return not _PYTHON.search(path) or bool(
        _INSTALLED.search(path) and not path.startswith(("<stdin>", "<ipython-input"))
    )


@dataclass(frozen=True)
class Frames:
    """The table ``frames`` as columns: one element a row, words once each.

    ``kind`` is one of ``OWN`` … ``PLUMBING``; rows of the same ``code`` have the same label.
    """

    kind: IntArray
    code: IntArray
    function: IntArray  # rows of functions
    file: IntArray  # rows of files
    line: IntArray
    functions: tuple[str, ...]  # short
    files: tuple[str, ...]  # short, without folders

    def label(self, row: int) -> str:
        """``forward · model.py:88``; of an op and a node of autograd only the name."""
        function = self.functions[int(self.function[row])]
        if self.kind[row] in (NODE, OP):
            return function
        return _label(function, self.files[int(self.file[row])], int(self.line[row]))


def frame_columns(recording: Recording) -> Frames:
    """The frames of a recording."""
    return memo(recording, ("frame_columns",), lambda: _frame_columns(recording))


def named_by(recording: Recording) -> IntArray:
    """For every stack the row of ``frames`` it is called by: its innermost of the user's own.

    Where none is, the innermost of the most telling kind; -1 for a stack without frames.
    """
    return memo(recording, ("named_by",), lambda: _innermost(recording, OWN))


def called_last(recording: Recording) -> IntArray:
    """For every stack the row of its innermost Python frame, as ``named_by`` where none is."""
    return memo(recording, ("called_last",), lambda: _innermost(recording, PYTHON))


def frames_of(recording: Recording, stack: int) -> list[dict[str, Any]] | None:
    """The frames of a row of ``stacks``, innermost first, as the page takes them; None for -1."""
    return None if stack < 0 else frames_of_stacks(recording, [stack])[0]


def frames_of_stacks(recording: Recording, stacks: Sequence[int]) -> list[list[dict[str, Any]]]:
    """The frames of each of ``stacks``. Those that share a frame share its dictionary."""
    frames, offsets = stack_layout(recording)
    rows = [frames[offsets[stack] : offsets[stack + 1]] for stack in stacks]
    wanted = np.unique(np.concatenate([*rows, frames[:0]]))
    table = recording.table("frames")
    functions, files = _words(recording, "function"), _words(recording, "file")
    made = {
        row: {"function": functions[function], "file": files[file], "line": line, "library": kind}
        for row, function, file, line, kind in zip(
            wanted.tolist(),
            arrays.values(table, "function")[wanted].tolist(),
            arrays.values(table, "file")[wanted].tolist(),
            _lines(recording, wanted),
            (frame_columns(recording).kind[wanted] != OWN).tolist(),
            strict=True,
        )
    }
    return [[made[row] for row in of_stack.tolist()] for of_stack in rows]


def frame_labels(recording: Recording, frames: set[int]) -> dict[int, str]:
    """The label of each of ``frames`` (rows of the table); -1 is left out."""
    columns = frame_columns(recording)
    return {frame: columns.label(frame) for frame in frames if frame >= 0}


def frame_label(frame: dict[str, Any]) -> str:
    """``forward · model.py:88``; a C++ function without its arguments."""
    line = frame["line"] or 0
    return _label(_short_function(frame["function"]), _short_file(frame["file"]), line)


def _label(function: str, file: str, line: int) -> str:
    if not file:
        return function
    return f"{function} · {file}:{line}" if line > 0 else f"{function} · {file}"


def _short_function(function: str | None) -> str:
    short = function or "?"
    if "::" in short:
        short = _TYPES.sub("", short) or short
    short = short.split("(")[0] or short
    return short if len(short) <= _LONGEST_FUNCTION else short[: _LONGEST_FUNCTION - 1] + "…"


def _short_file(file: str | None) -> str:
    short = (file or "").replace("\\", "/").rsplit("/", 1)[-1]
    return "" if short == "??" else short


def _words(recording: Recording, column: str) -> tuple[str | None, ...]:
    """The words of a column, and None, which -1 reads."""
    table = recording.table("frames")
    return memo(recording, ("frame_words", column), lambda: (*arrays.words(table, column), None))


def _lines(recording: Recording, rows: IntArray) -> list[int | None]:
    table = recording.table("frames")
    lines: list[int | None] = arrays.values(table, "line")[rows].tolist()
    if not table.column("line").null_count:
        return lines
    valid = arrays.valid(table, "line")[rows].tolist()
    return [line if known else None for line, known in zip(lines, valid, strict=True)]


def _frame_columns(recording: Recording) -> Frames:
    table = recording.table("frames")
    told = [_told(function) for function in _words(recording, "function")]
    files = _words(recording, "file")
    by_file = np.array([_kind_of_file(file or "") for file in files], dtype=np.uint8)
    by_function = np.array([kind for _, kind in told], dtype=np.uint8)
    function, functions = _renumbered([name for name, _ in told], table, "function")
    file, short_files = _renumbered([_short_file(file) for file in files], table, "file")
    kind = by_file[arrays.values(table, "file")]
    kind = np.where(kind > PYTHON, by_function[arrays.values(table, "function")], kind)
    line = arrays.values(table, "line")
    nameless = (kind == NODE) | (kind == OP)
    place = file.astype(np.int64) * (1 << 32) + line
    place[nameless] = -1
    _, places = np.unique(place, return_inverse=True)
    _, code = np.unique(function.astype(np.int64) * (len(place) + 1) + places, return_inverse=True)
    return Frames(kind, code.astype(np.int32), function, file, line, functions, short_files)


def _renumbered(words: list[str], table: Any, column: str) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of ``words`` for the rows of a column whose own words became these, maybe alike."""
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in words], dtype=np.int32)
    return codes[arrays.values(table, column)], tuple(known)


def _kind_of_file(file: str) -> int:
    if not is_library(file):
        return OWN
    return PYTHON if _PYTHON.search(file) else OTHER


def _told(function: str | None) -> tuple[str, int]:
    """What a function's name says for short, and its kind where its file is not Python's."""
    name = function or ""
    for expression, prefix, kind in ((_NODE, "", NODE), (_OP, "aten::", OP)):
        found = expression.search(name)
        if found:
            return prefix + found[1], kind
    dull = name in ("", "??") or _PLUMBING.search(name)
    return _short_function(function), PLUMBING if dull else OTHER


def _innermost(recording: Recording, first: int) -> IntArray:
    """For every stack the innermost frame of the most telling kind; up to ``first`` all alike."""
    frames, offsets = stack_layout(recording)
    lengths = np.diff(offsets)
    found = np.full(len(lengths), -1, dtype=np.int64)
    filled = np.flatnonzero(lengths)
    if not len(filled):
        return found
    kind = np.maximum(frame_columns(recording).kind, first)
    rank = kind[frames].astype(np.int64) * len(frames) + np.arange(len(frames))
    found[filled] = frames[np.minimum.reduceat(rank, offsets[filled]) % len(frames)]
    return found
