"""Frames and stacks in words: which lines are the user's own, and how a stack is called."""

from __future__ import annotations

import re
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


def is_library(file: str) -> bool:
    """Whether a frame of ``file`` is not the user's own line.

    Not the user's are installed packages, the standard library, PyTorch from a checkout,
    generated code, and all that is not Python: frames of C++ have no file, or one of its sources.
    """
    path = file.replace("\\", "/")
    return not _PYTHON.search(path) or bool(
        _INSTALLED.search(path) and not path.startswith(("<stdin>", "<ipython-input"))
    )


def library_frames(recording: Recording) -> IntArray:
    """For every row of ``frames`` whether it is of a library."""
    return memo(recording, ("library_frames",), lambda: _library_frames(recording))


def frames_of(recording: Recording, stack: int) -> list[dict[str, Any]] | None:
    """The frames of a row of ``stacks``, innermost first, as the page takes them; None for -1."""
    if stack < 0:
        return None
    frames, offsets = stack_layout(recording)
    table = recording.table("frames")
    library = library_frames(recording)
    found = []
    for row in frames[offsets[stack] : offsets[stack + 1]].tolist():
        frame = {name: table.column(name)[row].as_py() for name in ("function", "file", "line")}
        found.append({**frame, "library": bool(library[row])})
    return found


def stack_label(recording: Recording, stack: int, lines: int = 1) -> str:
    """A stack in a few words: its innermost ``lines`` frames that are the user's own.

    ``forward · model.py:88``, callers after an arrow. Where none is the user's own, the innermost
    Python frame; where there is none, the innermost with a name.
    """
    frames = frames_of(recording, stack) or []
    own = [frame for frame in frames if not frame["library"]][:lines]
    if not own:
        python = [frame for frame in frames if _PYTHON.search(frame["file"] or "")]
        named = [frame for frame in frames if frame["function"] and frame["function"] != "??"]
        own = (python or named or frames)[:lines]
    return " ← ".join(map(frame_label, own)) or "stack without frames"


def stack_labels(recording: Recording, stacks: list[int]) -> list[str]:
    """Labels of ``stacks``, those that read alike lengthened by callers until they differ."""
    labels = [stack_label(recording, stack) for stack in stacks]
    for lines in (2, 3, 4):
        alike = {label for label in labels if labels.count(label) > 1}
        for place, stack in enumerate(stacks):
            if labels[place] in alike:
                labels[place] = stack_label(recording, stack, lines)
    return labels


def frame_label(frame: dict[str, Any]) -> str:
    """``forward · model.py:88``; a C++ function without its arguments."""
    function = (frame["function"] or "?").split("(")[0] or frame["function"] or "?"
    if len(function) > _LONGEST_FUNCTION:
        function = function[: _LONGEST_FUNCTION - 1] + "…"
    file = (frame["file"] or "").replace("\\", "/").rsplit("/", 1)[-1]
    if not file or file == "??":
        return function
    return f"{function} · {file}:{frame['line']}" if frame["line"] else f"{function} · {file}"


def _library_frames(recording: Recording) -> IntArray:
    table = recording.table("frames")
    by_file = np.array([is_library(file or "") for file in arrays.words(table, "file")] + [True])
    return by_file[arrays.values(table, "file")]  # a null file, -1, reads the last
