"""Frames as a PyTorch snapshot writes them, interned: dictionaries, and lines already formatted."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import Malformed, plain, shown, text
from tb_memory_plugin.readers.identity import MOST_KEPT, StackFinder
from tb_memory_plugin.readers.torch_entries import Chunk, Known
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.stacks import StackInterner

#: What ``augment_with_fx_traces=True`` adds to a frame (torch 2.10 and later).
FX_KEYS = ("fx_node_op", "fx_node_name", "fx_node_target", "fx_node_info", "fx_original_trace")

_Key = tuple[Any, ...]
_INT32_MAX = (1 << 31) - 1
_FORMATTED = re.compile(r'\s*File "(?P<file>.*)", line (?P<line>\d{1,9}), in (?P<name>[^\n]*)')
#: Name, filename and line: what each is called in a sentence, and its type.
_PARTS = (("name", str), ("file", str), ("line", int))


class FrameStacks:
    """Stacks of one source by content; ids are rows of the tables it makes.

    ``strange`` says of every different frame what was left out of it, as it has the wrong type.
    """

    def __init__(self) -> None:
        self.strange: list[str] = []
        self._interner = StackInterner()
        self._finder = StackFinder(self._intern, _key)
        self._known = Known(MOST_KEPT)
        self._frames: dict[tuple[_Key, str | None], int] = {}
        self._formatted: dict[tuple[str, ...], int] = {}

    def numbers(self, chunk: Chunk, key: str) -> IntArray:
        """The stack of each entry of a trace, -1 where there is none. Raises Malformed."""
        found = self._known.numbers(chunk, key, self._finder.unknown)
        if found is None:
            found = np.frombuffer(array("i", self.ids(chunk.values(key))), dtype="i")
        return found

    def ids(self, column: list[Any]) -> list[int]:
        """The stack of each ``frames`` value, -1 where there is none. Raises Malformed."""
        kinds = set(map(type, column))
        if not kinds <= {list, type(None)}:
            column = [list(frames) if type(frames) is tuple else frames for frames in column]
            wrong = [value for value in column if type(value) not in (list, type(None))]
            if wrong:
                raise Malformed(f"frames is {shown(wrong[0])}, not a list")
        return self._finder.ids(column)

    def forward_ids(self, column: Sequence[Any]) -> list[int]:
        """The stack of each ``forward_frames`` value: lines of text, outermost first."""
        return [-1 if not lines else self._forward(lines) for lines in column]

    def tables(self) -> dict[str, pa.Table]:
        """The tables ``frames`` and ``stacks``."""
        return self._interner.tables()

    def _intern(self, frames: list[Any]) -> int:
        return self._interner.stack([self._frame(frame) for frame in frames])

    def _frame(self, frame: Any) -> int:
        key, extra = _key(frame), None
        if len(frame) > len(_PARTS) and type(frame) is dict:
            extra = _extra(frame)
        found = self._frames.get((key, extra))
        if found is None:
            name, file, line, *wrong = key
            self.strange += wrong
            line = line if 0 <= line <= _INT32_MAX else 0
            found = self._interner.frame(text(name), text(file), line, extra)
            self._frames[key, extra] = found
        return found

    def _forward(self, lines: Any) -> int:
        if type(lines) not in (list, tuple) or set(map(type, lines)) != {str}:
            raise Malformed("forward_frames is not a list of text")
        key = tuple(lines)
        found = self._formatted.get(key)
        if found is None:
            found = self._formatted[key] = self._intern(list(reversed(lines)))
        return found


def _key(frame: Any) -> _Key:
    """What tells a frame apart: name, file and line, and the first of these that had to be left
    out, in words, if any has the wrong type. Raises Malformed.
    """
    if type(frame) is str:
        return _parsed(frame)
    if type(frame) is not dict:
        raise Malformed(f"a frame is {shown(frame)}, not a dictionary")
    name, file, line = frame.get("name"), frame.get("filename"), frame.get("line")
    if type(name) is str and type(file) is str and type(line) is int:
        return name, file, line
    left_out = [
        f"the {what} {shown(value)}"
        for value, (what, kind) in zip((name, file, line), _PARTS, strict=True)
        if value is not None and type(value) is not kind
    ]
    return (
        name if type(name) is str else "",
        file if type(file) is str else "",
        line if type(line) is int else 0,
        *left_out[:1],
    )


def _parsed(line: str) -> _Key:
    found = _FORMATTED.match(line)
    if found is None:
        return line.strip(), "", 0
    return found["name"].strip(), found["file"], int(found["line"])


def _extra(frame: dict[Any, Any]) -> str | None:
    known = {key: plain(frame[key]) for key in FX_KEYS if frame.get(key) not in (None, "")}
    return json.dumps(known, ensure_ascii=False) if known else None
