"""The nodes of a tree of calls, made into the words they are shown with, each once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.filters import parse
from tb_memory_plugin.analysis.flame_nodes import Named
from tb_memory_plugin.analysis.flame_paths import BEFORE, LIBRARY, NONE, ROOT
from tb_memory_plugin.analysis.frames import labels_of, said
from tb_memory_plugin.analysis.matching import matching_frames
from tb_memory_plugin.analysis.telling import OWN
from tb_memory_plugin.recording.recording import Recording

#: Bytes that each of the names' columns may take in an answer, as JSON.
_ROOM = 200_000
_SMALLER = -5
_KINDS = {ROOT: "root", BEFORE: "before", NONE: "none", LIBRARY: "folded", _SMALLER: "smaller"}
WORDS = {ROOT: "all", BEFORE: "before the window", NONE: "no stack recorded"}

#: What tells two names apart: a row of ``frames`` or a kind, then counts that are in its words.
_Name = tuple[int, int, int]


class Names:
    """What the nodes of an answer are called; collected first, then given as columns."""

    def __init__(self, recording: Recording, find: str = "") -> None:
        self._recording = recording
        self._find = find
        self._known: dict[_Name, int] = {}

    def of_nodes(self, nodes: Named) -> list[int]:
        """The places, in the columns, of the names of nodes."""
        frames = nodes.frame
        # Only of what is folded does the name say how much that is.
        lengths = (
            np.where(frames == LIBRARY, column, 0).tolist()
            for column in (nodes.shortest, nodes.longest)
        )
        return [self._place(name) for name in zip(frames.tolist(), *lengths, strict=True)]

    def of_smaller(self, count: int) -> int:
        """The place of the name of ``count`` nodes that are shown as one."""
        return self._place((_SMALLER, count, 0))

    def columns(self) -> dict[str, list[Any]]:
        """``label``, ``function``, ``file``, ``line``, ``kind``, and ``hit``: found by its text."""
        known = np.array([name[0] for name in self._known], dtype=np.int64)
        rows = known[known >= 0]
        told = said(self._recording, rows)
        library = np.ones(len(known), dtype=bool)
        library[known >= 0] = told.kind != OWN
        at = np.where(known >= 0, np.cumsum(known >= 0) - 1, len(rows)).tolist()
        labels = [*labels_of(told), None]
        columns = {
            "label": [
                labels[place] or words(*name) for place, name in zip(at, self._known, strict=True)
            ],
            **{
                name: [values[place] for place in at]
                for name, values in (
                    ("function", [*told.function, None]),
                    ("file", [*told.file, None]),
                    ("line", [*told.line, None]),
                )
            },
        }
        for name in ("label", "function", "file"):
            columns[name] = cut(columns[name])
        kinds = zip(known.tolist(), library.tolist(), strict=True)
        hits = np.append(self._hits(), False)  # -1 … : the last
        found = hits[np.where(known >= 0, known, -1)]
        return {
            **columns,
            "kind": [_KINDS.get(row, "library" if other else "own") for row, other in kinds],
            "hit": found.tolist(),
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
    if _json_size("".join(text for text in texts if text)) <= room:
        return list(texts)
    sizes = [_json_size(text) if text else 0 for text in texts]
    most = max(room // len(texts), 16)
    return [
        text if not text or size <= most else text[: max(most * len(text) // size - 1, 4)] + "…"
        for text, size in zip(texts, sizes, strict=True)
    ]


def _json_size(text: str) -> int:
    """Bytes of a text that JSON may take: what is not ASCII is spelled out."""
    if not text.isprintable():
        return 6 * len(text)
    return len(text) if text.isascii() else 6 * len(text) - 5 * len(text.encode("ascii", "ignore"))
