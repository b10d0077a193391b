"""The call stacks of a module: an index of frames, each with the one that called it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tb_memory_plugin.readers.xplane_words import word
from tb_memory_plugin.recording.stacks import StackInterner

_DEEPEST = 1024


class Frames:
    """The stacks of one module's instructions, interned. All ids count from 1; 0 is none."""

    def __init__(self, index: Any, interner: StackInterner) -> None:
        self._index = index
        self._interner = interner
        self._files = [word(name) for name in index.file_names]
        self._functions = [word(name) for name in index.function_names]
        self._known: dict[int, int] = {}

    def stack(self, metadata: Any) -> int:
        """The row of ``stacks`` of an instruction's metadata; -1 where it tells nothing."""
        frame = metadata.stack_frame_id
        if frame:
            found = self._known.get(frame)
            if found is None:
                found = self._known[frame] = self._walked(frame)
            if found >= 0:
                return found
        if not metadata.source_file:
            return -1
        place = self._interner.frame("", word(metadata.source_file), max(0, metadata.source_line))
        return self._interner.stack([place])

    def _walked(self, frame: int) -> int:
        frames: list[int] = []
        stack_frames, locations = self._index.stack_frames, self._index.file_locations
        seen: set[int] = set()
        while 0 < frame <= len(stack_frames) and frame not in seen and len(frames) < _DEEPEST:
            seen.add(frame)
            here = stack_frames[frame - 1]
            if 0 < here.file_location_id <= len(locations):
                place = locations[here.file_location_id - 1]
                frames.append(
                    self._interner.frame(
                        _named(self._functions, place.function_name_id),
                        _named(self._files, place.file_name_id),
                        max(0, place.line),
                    )
                )
            frame = here.parent_frame_id
        return self._interner.stack(frames) if frames else -1


def _named(names: Sequence[str], number: int) -> str:
    return names[number - 1] if 0 < number <= len(names) else ""
