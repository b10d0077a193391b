"""Call stacks, kept once each by content: frames become ids, stacks become lists of frame ids."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.schema import SCHEMAS

#: function, file, line, and JSON of whatever else the source knows of the frame.
FrameKey = tuple[str, str, int, str | None]


class StackInterner:
    """Gives every distinct frame and every distinct stack an id, in order of appearance."""

    def __init__(self) -> None:
        self._frames: dict[FrameKey, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}

    def frame(self, function: str, file: str, line: int, extra: str | None = None) -> int:
        """The id of a frame."""
        return self._frames.setdefault((function, file, line, extra), len(self._frames))

    def stack(self, frames: Iterable[int]) -> int:
        """The id of a stack of frame ids, innermost first."""
        return self._stacks.setdefault(tuple(frames), len(self._stacks))

    def tables(self) -> dict[str, pa.Table]:
        """The tables ``frames`` and ``stacks``."""
        functions, files, lines, extras = (
            zip(*self._frames, strict=True) if self._frames else ((), (), (), ())
        )
        frames = pa.table(
            [
                arrays.encoded_text(functions),
                arrays.encoded_text(files),
                arrays.column(lines, pa.int32()),
                arrays.encoded_text(extras),
            ],
            schema=SCHEMAS["frames"],
        )
        ids = list(self._stacks)
        offsets = np.zeros(len(ids) + 1, dtype=np.int32)
        np.cumsum([len(stack) for stack in ids], out=offsets[1:])
        flat = [frame for stack in ids for frame in stack]
        lists = pa.ListArray.from_arrays(
            arrays.column(offsets, pa.int32()), arrays.column(flat, pa.int32())
        )
        return {"frames": frames, "stacks": pa.table([lists], schema=SCHEMAS["stacks"])}
