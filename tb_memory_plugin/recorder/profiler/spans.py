"""Spans as they are found, kept in flat arrays."""

from __future__ import annotations

from array import array

from tb_memory_plugin.recording.vocabulary import Vocabulary


class SpanRows:
    """Columns of the table ``spans``; times are unix nanoseconds."""

    def __init__(self) -> None:
        self.kinds, self.names, self.tracks = Vocabulary(), Vocabulary(), Vocabulary()
        self.kind, self.name, self.track = array("b"), array("i"), array("i")
        self.begin, self.end = array("q"), array("q")
        self.parent, self.depth = array("i"), array("i")
        self.sources, self.targets = array("i"), array("i")  # forward op, backward function

    def __len__(self) -> int:
        return len(self.begin)

    def add(
        self, kind: str, name: str, begin: int, end: int, thread: int, parent: int, depth: int
    ) -> int:
        """A new span; its row."""
        self.kind.append(self.kinds.code(kind))
        self.name.append(self.names.code(name))
        self.track.append(self.tracks.code(f"thread {thread}"))
        self.begin.append(begin)
        self.end.append(end)
        self.parent.append(parent)
        self.depth.append(depth)
        return len(self.begin) - 1

    def link(self, source: int, target: int) -> None:
        """A backward function was made by a forward op."""
        self.sources.append(source)
        self.targets.append(target)
