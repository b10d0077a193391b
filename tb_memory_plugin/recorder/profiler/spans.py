"""Spans as they are found, kept in flat arrays."""

from __future__ import annotations

from array import array

from tb_memory_plugin.recording.vocabulary import Vocabulary

#: Different arguments that are kept, of so many operators with as many shapes.
MOST_ARGUMENTS = 50_000


class SpanRows:
    """Columns of the table ``spans``; times are unix nanoseconds."""

    def __init__(self) -> None:
        self.kinds, self.names, self.tracks = Vocabulary(), Vocabulary(), Vocabulary()
        self.kind, self.name, self.track = array("b"), array("i"), array("i")
        self.begin, self.end = array("q"), array("q")
        self.parent, self.depth = array("i"), array("i")
        self.arguments, self.args = Vocabulary(), array("i")
        self.sources, self.targets = array("i"), array("i")  # forward op, backward function

    def __len__(self) -> int:
        return len(self.begin)

    def add(
        self,
        kind: str,
        name: str,
        begin: int,
        end: int,
        thread: int,
        parent: int,
        depth: int,
        args: str | None = None,
    ) -> int:
        """A new span; its row. ``args`` are JSON."""
        self.kind.append(self.kinds.code(kind))
        self.name.append(self.names.code(name))
        self.track.append(self.tracks.code(f"thread {thread}"))
        self.begin.append(begin)
        self.end.append(end)
        self.parent.append(parent)
        self.depth.append(depth)
        if args is not None and len(self.arguments.codes) >= MOST_ARGUMENTS:
            args = args if args in self.arguments.codes else None
        self.args.append(self.arguments.code(args))
        return len(self.begin) - 1

    def link(self, source: int, target: int) -> None:
        """A backward function was made by a forward op."""
        self.sources.append(source)
        self.targets.append(target)
