"""Standard output and error, made into streams that take every text and fail in words."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


def prepare() -> None:
    """Have both streams, whoever closed them before, and have them take what they cannot encode."""
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """Let what is still to be written go nowhere: the interpreter must not complain at its end."""
    with contextlib.suppress(OSError):  # a stream without a file of its own
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
