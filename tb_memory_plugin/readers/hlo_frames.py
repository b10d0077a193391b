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
        self._known: dict[int, int] = {}  # stacks, by the frame that they begin with
        self._frames: dict[int, tuple[int, int]] = {}

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
        places: list[int] = []
        stack_frames = self._index.stack_frames
        seen: set[int] = set()
        while 0 < frame <= len(stack_frames) and frame not in seen and len(places) < _DEEPEST:
            seen.add(frame)
            place, parent = self._here(frame, stack_frames)
            if place >= 0:
                places.append(place)
            frame = parent
        return self._interner.stack(places) if places else -1

    def _here(self, frame: int, stack_frames: Any) -> tuple[int, int]:
        """The interned place of a frame, -1 where it is not known, and who called it."""
        found = self._frames.get(frame)
        if found is None:
            here, locations, place = stack_frames[frame - 1], self._index.file_locations, -1
            if 0 < here.file_location_id <= len(locations):
                at = locations[here.file_location_id - 1]
                place = self._interner.frame(
                    _named(self._functions, at.function_name_id),
                    _named(self._files, at.file_name_id),
                    max(0, at.line),
                )
            found = self._frames[frame] = place, here.parent_frame_id
        return found


def _named(names: Sequence[str], number: int) -> str:
    return names[number - 1] if 0 < number <= len(names) else ""
