"""A line that a recording names, made into the code around it, where the file can be read here."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np

from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

#: Lines before and after the one asked for, the longest line shown, and the largest file read.
AROUND = 8
MOST_AROUND = 40
_LONGEST_LINE = 400
_LARGEST = 8 << 20
#: What files of code are called. A recording can name any file: others are nobody's business.
_PYTHON = frozenset({".py", ".pyi", ".pyx", ".pxd"})
_NATIVE = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".mm"})
_CODE = _PYTHON | _NATIVE | {".cu", ".cuh", ".hip", ".jl", ".rs"}
_LINE_END = re.compile(r"\r\n|\r|\n")


def code(recording: Recording, *, file: str, line: int, around: int = AROUND) -> dict[str, Any]:
    """The answer of ``GET code``: lines of ``file`` about ``line``, the first of them ``first``.

    Only of a file that a frame of the recording names, by its whole path; only of a regular file
    of code, whatever links lead to it. ``changed``: written to after the recording began, so
    that lines may have moved; null where the recording does not know when that was. Raises
    QueryError, with what is in the way.
    """
    if not _named(recording, file):
        raise QueryError("No frame of this recording names that file.")
    text, modified = _read(file)
    lines = _lines(text)
    if not 1 <= line <= len(lines):
        raise QueryError(f"{file} has {len(lines)} lines here, and no line {line}.")
    around = max(0, min(around, MOST_AROUND))
    first = max(1, line - around)
    origin = recording.meta["time_origin_ns"]
    known = origin is not None and recording.meta["clock"] == "unix"
    return {
        "file": file,
        "line": line,
        "first": first,
        "lines": [shown[:_LONGEST_LINE] for shown in lines[first - 1 : line + around]],
        "changed": modified > origin if known else None,
    }


def _named(recording: Recording, file: str) -> bool:
    table = recording.table("frames")
    known = arrays.words(table, "file")
    if file not in known:
        return False
    return bool((arrays.values(table, "file") == np.int32(known.index(file))).any())


def _lines(text: str) -> list[str]:
    """The lines as compilers count them: a form feed, say, ends none, other than ``splitlines``."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def _opened(path: str, flags: int) -> int:
    """A descriptor, without waiting for what is no file: that is found out once it is open."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: str) -> tuple[str, int]:
    """The text of a file of code, and when it was written to, in ns since 1970."""
    if not os.path.isabs(file):
        raise QueryError(f"{file} is not a whole path, so it cannot be told which file is meant.")
    try:
        path = Path(file).resolve(strict=True)
        if not {Path(file).suffix.lower(), path.suffix.lower()} <= _CODE:
            raise QueryError(f"{file} is not a file of code by its name; others are not shown.")
        with open(path, "rb", opener=_opened) as opened:
            state = os.fstat(opened.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise QueryError(f"{file} is not a file.")
            if state.st_size > _LARGEST:
                raise QueryError(f"{file} is larger than {_LARGEST >> 20} MiB, which is not shown.")
            content = opened.read(_LARGEST + 1)
    except (OSError, ValueError, RuntimeError) as error:  # no such name, a circle of links
        reason = getattr(error, "strerror", None) or "no such file"
        raise QueryError(
            f"{file} cannot be read on the machine that TensorBoard runs on: {reason}."
        ) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise QueryError(f"{file} is not text.")
    return text, state.st_mtime_ns
