"""The nodes of a tree of calls, made into the words they are shown with, each once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.filters import parse
from tb_memory_plugin.analysis.flame_tree import BEFORE, LIBRARY, NONE, ROOT, Calls
from tb_memory_plugin.analysis.frames import frame_labels, frames_of_rows
from tb_memory_plugin.analysis.matching import matching_frames
from tb_memory_plugin.recording.recording import Recording

#: Bytes that each of the names' columns may take in an answer, as JSON.
_ROOM = 80_000
_SMALLER = -5
_NOTHING = {"function": None, "file": None, "line": None, "library": False}
_KINDS = {ROOT: "root", BEFORE: "before", NONE: "none", LIBRARY: "folded", _SMALLER: "smaller"}
WORDS = {ROOT: "all", BEFORE: "before the window", NONE: "no stack recorded"}

#: What tells two names apart: a row of ``frames`` or a kind, then counts that are in its words.
_Name = tuple[int, int, int]


class Names:
    """What the nodes of an answer are called; collected first, then given as columns."""

    def __init__(self, recording: Recording, tree: Calls, find: str = "") -> None:
        self._recording = recording
        self._tree = tree
        self._find = find
        self._known: dict[_Name, int] = {}

    def of_node(self, node: int) -> int:
        """The place, in the columns, of the name of a node."""
        frame = int(self._tree.frame[node])
        if frame != LIBRARY:
            return self._place((frame, 0, 0))
        return self._place((LIBRARY, int(self._tree.shortest[node]), int(self._tree.longest[node])))

    def of_smaller(self, count: int) -> int:
        """The place of the name of ``count`` nodes that are shown as one."""
        return self._place((_SMALLER, count, 0))

    def columns(self) -> dict[str, list[Any]]:
        """``label``, ``function``, ``file``, ``line``, ``kind``, and ``hit``: found by its text."""
        rows = np.array([name[0] for name in self._known if name[0] >= 0], dtype=np.int64)
        labels = frame_labels(self._recording, rows.tolist())
        frames = frames_of_rows(self._recording, rows)
        hits = self._hits()
        told = [frames.get(name[0], _NOTHING) for name in self._known]
        return {
            "label": cut([labels.get(name[0]) or words(*name) for name in self._known]),
            "function": cut([frame["function"] for frame in told]),
            "file": cut([frame["file"] for frame in told]),
            "line": [frame["line"] for frame in told],
            "kind": [
                _KINDS.get(name[0], "library" if frame["library"] else "own")
                for name, frame in zip(self._known, told, strict=True)
            ],
            "hit": [name[0] >= 0 and bool(hits[name[0]]) for name in self._known],
        }

    def _place(self, name: _Name) -> int:
        return self._known.setdefault(name, len(self._known))

    def _hits(self) -> Any:
        """Frames whose own text is what a word of the search is about."""
        hits = np.zeros(len(self._recording.table("frames")), dtype=bool)
        for term in parse(self._find):
            if term.field in ("", "stack") and not term.negated:
                hits |= matching_frames(self._recording, term.value)
        return hits


def words(frame: int, least: int = 0, most: int = 0) -> str:
    """How a node that is not one frame is called."""
    if frame == LIBRARY:
        return f"… {least if least == most else f'{least}–{most}'} library frames"
    if frame == _SMALLER:
        return "1 smaller" if least == 1 else f"{least} smaller"
    return WORDS[frame]


def cut(texts: Sequence[str | None], room: int = _ROOM) -> list[str | None]:
    """``texts``, the longest cut so that all take ``room`` bytes as JSON, or somewhat more."""
    sizes = [0 if text is None else len(json.dumps(text)) for text in texts]
    if sum(sizes) <= room:
        return list(texts)
    most = max(room // len(texts), 16)
    short: list[str | None] = []
    for text, size in zip(texts, sizes, strict=True):
        if text is None or size <= most:
            short.append(text)
        else:
            short.append(text[: max(most * len(text) // size - 1, 4)] + "…")
    return short
