"""What frames and stacks tell of an allocation, worked out once, when a recording is derived."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.content import contents_of_stacks, stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays, builder
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


def frame_kinds(recording: Recording) -> pa.Table:
    """The derived table ``frame_kinds`` of a recording."""
    table = recording.table("frames")
    told = [_told(function) for function in (*arrays.words(table, "function"), None)]
    files = [file or "" for file in (*arrays.words(table, "file"), None)]
    by_file = np.array([_kind_of_file(file) for file in files], dtype=np.uint8)
    by_function = np.array([kind for _, kind in told], dtype=np.uint8)
    functions, places = arrays.values(table, "function"), arrays.values(table, "file")
    kind = by_file[places]
    kind = np.where(kind > PYTHON, by_function[functions], kind)
    function = _alike([name for name, _ in told])[functions]
    place = _alike([short_file(file) for file in files])[places] * (1 << 32)
    place += arrays.values(table, "line")
    place[(kind == NODE) | (kind == OP)] = -1
    _, place = np.unique(place, return_inverse=True)
    _, label = np.unique(function * (len(place) + 1) + place, return_inverse=True)
    return builder.table("frame_kinds", {"kind": kind, "label": label.astype(np.int32)})


def stack_names(recording: Recording, kinds: pa.Table) -> pa.Table:
    """The derived table ``stack_names``; ``kinds`` is the recording's ``frame_kinds``."""
    contents = contents_of_stacks(recording)
    _, first, place = np.unique(contents, return_index=True, return_inverse=True)
    kind = arrays.values(kinds, "kind")
    columns = {
        "content": contents,
        "same": np.where(contents == 0, -1, first[place]).astype(np.int32),
        "own": _innermost(recording, kind, OWN),
        "python": _innermost(recording, kind, PYTHON),
    }
    return builder.table("stack_names", columns)


def told_by(function: str | None) -> str:
    """What a function's name says for short: of a node of autograd or an op only its name."""
    return _told(function)[0]


def short_function(function: str | None) -> str:
    """A function's name without what says little: types, arguments, the end of a long one."""
    short = function or "?"
    if "::" in short:
        short = _TYPES.sub("", short) or short
    short = short.split("(")[0] or short
    return short if len(short) <= _LONGEST_FUNCTION else short[: _LONGEST_FUNCTION - 1] + "…"


def short_file(file: str | None) -> str:
    """A file without its folders; nothing where the file is not known."""
    short = (file or "").replace("\\", "/").rsplit("/", 1)[-1]
    return "" if short == "??" else short


def _alike(words: list[str]) -> IntArray:
    """The same number for each of the same words."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(word, len(known)) for word in words], dtype=np.int64)


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
    return short_function(function), PLUMBING if dull else OTHER


def _innermost(recording: Recording, kind: IntArray, first: int) -> IntArray:
    """For every stack the innermost frame of the most telling kind; up to ``first`` all alike."""
    frames, offsets = stack_layout(recording)
    lengths = np.diff(offsets)
    found = np.full(len(lengths), -1, dtype=np.int32)
    filled = np.flatnonzero(lengths)
    if not len(filled):
        return found
    rank = np.maximum(kind, first)[frames].astype(np.int64) * len(frames) + np.arange(len(frames))
    found[filled] = frames[np.minimum.reduceat(rank, offsets[filled]) % len(frames)]
    return found
