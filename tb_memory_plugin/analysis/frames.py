"""Frames and stacks in words: which lines are the user's own, and how a stack is called."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

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
_MOST_COMPARED = 500
_NO_FRAMES = "stack without frames"

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


def library_frames(recording: Recording) -> IntArray:
    """For every row of ``frames`` whether it is of a library."""
    return memo(recording, ("library_frames",), lambda: _library_frames(recording))


def frames_of(recording: Recording, stack: int) -> list[dict[str, Any]] | None:
    """The frames of a row of ``stacks``, innermost first, as the page takes them; None for -1."""
    if stack < 0:
        return None
    frames, offsets = stack_layout(recording)
    rows = frames[offsets[stack] : offsets[stack + 1]]
    table = recording.table("frames").select(["function", "file", "line"])
    library = library_frames(recording)[rows].tolist()
    found = table.take(arrays.column(rows, pa.int64())).to_pylist()
    return [{**frame, "library": own} for frame, own in zip(found, library, strict=True)]


def stack_label(recording: Recording, stack: int, lines: int = 1) -> str:
    """A stack in a few words: its innermost ``lines`` frames that are the user's own.

    ``forward · model.py:88``, callers after an arrow. Where none is the user's own, the innermost
    Python frame; where there is none, what C++ says of the op.
    """
    frames = frames_of(recording, stack) or []
    own = [frame for frame in frames if not frame["library"]]
    return " ← ".join(map(frame_label, own[:lines])) or _called_label(frames)


def stack_labels(recording: Recording, stacks: list[int]) -> list[str]:
    """Labels of ``stacks``; those that read alike say more, until they differ if they can.

    First by their callers, then, where only libraries' frames differ, by what was called. A list
    too long to be read is labelled by innermost frames only.
    """
    if len(stacks) > _MOST_COMPARED:
        return _plain_labels(recording, stacks)
    labels = [stack_label(recording, stack) for stack in stacks]
    for label in [label for label, count in Counter(labels).items() if count > 1]:
        places = [place for place, other in enumerate(labels) if other == label]
        alike = [stacks[place] for place in places]
        longer = [
            [stack_label(recording, stack, 2) for stack in alike],
            [stack_label(recording, stack, 3) for stack in alike],
            [_with_callee(recording, label, stack) for stack in alike],
            _with_difference(recording, label, alike),
        ]
        best = max(longer, key=lambda tried: len(set(tried)))
        for place, tried in zip(places, best, strict=True):
            labels[place] = tried if len(set(best)) > 1 else label
    return labels


def frame_labels(recording: Recording, frames: set[int]) -> dict[int, str]:
    """The label of each of ``frames`` (rows of the table); -1 is left out."""
    table = recording.table("frames").select(["function", "file", "line"])
    wanted = sorted(frame for frame in frames if frame >= 0)
    found = table.take(arrays.column(wanted, pa.int64())).to_pylist()
    return {frame: frame_label(row) for frame, row in zip(wanted, found, strict=True)}


def innermost_own(recording: Recording) -> IntArray:
    """For every stack the row of ``frames`` it is called by: its innermost that is the user's own.

    Where none is, the innermost of all; -1 for a stack without frames.
    """
    return memo(recording, ("innermost_own",), lambda: _innermost_own(recording))


def frame_label(frame: dict[str, Any]) -> str:
    """``forward · model.py:88``; a C++ function without its arguments."""
    function = (frame["function"] or "?").split("(")[0] or frame["function"] or "?"
    if len(function) > _LONGEST_FUNCTION:
        function = function[: _LONGEST_FUNCTION - 1] + "…"
    file = (frame["file"] or "").replace("\\", "/").rsplit("/", 1)[-1]
    if not file or file == "??":
        return function
    return f"{function} · {file}:{frame['line']}" if frame["line"] else f"{function} · {file}"


def _plain_labels(recording: Recording, stacks: list[int]) -> list[str]:
    frames = innermost_own(recording)[stacks].tolist()
    labels = frame_labels(recording, set(frames))
    return [labels.get(frame, _NO_FRAMES) for frame in frames]


def _with_callee(recording: Recording, label: str, stack: int) -> str:
    callee = _called_label(frames_of(recording, stack) or [])
    return label if callee == label else f"{label} → {callee}"


def _with_difference(recording: Recording, label: str, stacks: list[int]) -> list[str]:
    """``label`` with the innermost frame of each stack that not all of ``stacks`` have."""
    each = [frames_of(recording, stack) or [] for stack in stacks]
    common = set.intersection(*({frame_label(frame) for frame in frames} for frames in each))
    found = []
    for frames in each:
        telling = (frame for frame in frames if not _PLUMBING.search(frame["function"] or ""))
        own = [frame for frame in map(frame_label, telling) if frame not in common]
        found.append(f"{label} → {own[0]}" if own else label)
    return found


def _called_label(frames: list[dict[str, Any]]) -> str:
    """What was called in the end: Python's innermost frame, else the node or op of C++."""
    python = [frame for frame in frames if _PYTHON.search(frame["file"] or "")]
    if python:
        return frame_label(python[0])
    functions = [frame["function"] or "" for frame in frames]
    for expression, prefix in ((_NODE, ""), (_OP, "aten::")):
        for found in map(expression.search, functions):
            if found:
                return prefix + found[1]
    named = [
        frame
        for frame in frames
        if frame["function"] not in (None, "", "??") and not _PLUMBING.search(frame["function"])
    ]
    return frame_label((named or frames)[0]) if frames else _NO_FRAMES


def _library_frames(recording: Recording) -> IntArray:
    table = recording.table("frames")
    by_file = np.array([is_library(file or "") for file in arrays.words(table, "file")] + [True])
    return by_file[arrays.values(table, "file")]  # a null file, -1, reads the last


def _innermost_own(recording: Recording) -> IntArray:
    frames, offsets = stack_layout(recording)
    lengths = np.diff(offsets)
    found = np.full(len(lengths), -1, dtype=np.int64)
    filled = np.flatnonzero(lengths)
    if not len(filled):
        return found
    place = np.arange(len(frames))
    far = len(frames)
    own = np.where(library_frames(recording)[frames], far, place)
    first = np.minimum.reduceat(own, offsets[filled])
    found[filled] = frames[np.where(first < far, first, offsets[filled])]
    return found
