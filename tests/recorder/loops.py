"""Small training programs for the recorder's tests, and their recordings as plain rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recorder import MemoryWriter
from tb_memory_plugin.recording.recording import Recording, open_recording
from tb_memory_plugin.recording.schema import Category

Row = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """One recording, read back and derived."""

    recording: Recording
    path: Path

    def rows(self, table: str) -> list[Row]:
        return self.recording.table(table).to_pylist()

    @property
    def lives(self) -> list[Row]:
        """The allocations, categories as words."""
        return [
            {**row, "category": None if row["category"] is None else word(row["category"])}
            for row in self.rows("allocations")
        ]

    def frames(self, stack: int) -> list[tuple[str, str, int]]:
        """(function, file, line) of a stack, innermost first."""
        frames = self.rows("frames")
        chosen = self.recording.table("stacks").column("frames")[stack].as_py()
        return [
            (frames[row]["function"], frames[row]["file"], frames[row]["line"]) for row in chosen
        ]


def word(code: int) -> str:
    """The word for a category."""
    return Category(code).label


def read(path: Path) -> Recorded:
    """The recording in ``path``."""
    return Recorded(derive(open_recording(path)), path)


def record(logdir: Path, program: Callable[[MemoryWriter], None], **options: Any) -> Recorded:
    """``program`` run within a MemoryWriter, and what that wrote."""
    options.setdefault("scalars", False)
    with MemoryWriter(logdir, **options) as memory:
        program(memory)
    return read(memory.files[0])
