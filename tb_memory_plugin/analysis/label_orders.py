"""What allocations are called, and the lines they come from, as numbers in alphabetical order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import frame_labels, named_by
from tb_memory_plugin.analysis.leading import UNKNOWN
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

_PART = 1 << 16

#: Gives the numbers of a part of the device's allocations.
Keys = Callable[[slice], IntArray]


def ranks(words: Sequence[str]) -> IntArray:
    """The place of every word in the alphabet; words that differ in case only share one."""
    folded = [word.casefold() for word in words]
    place = {word: rank for rank, word in enumerate(sorted(set(folded)))}
    return np.array([place[word] for word in folded], dtype=np.int64)


def line_keys(recording: Recording, device: Device) -> Keys:
    """The lines that allocations come from (``views.words.lines``); ``UNKNOWN`` without one."""
    rank = memo(recording, ("line_ranks", device.index), lambda: _line_ranks(recording, device))
    stack = recording.values("allocations", "birth_stack", device)
    return lambda part: rank[stack[part]]


def _line_ranks(recording: Recording, device: Device) -> IntArray:
    """By stack; the last, of what has no stack, is unknown."""
    own = np.append(named_by(recording), -1)
    seen = np.zeros(len(own), dtype=bool)
    seen[recording.values("allocations", "birth_stack", device)] = True
    stacks = np.flatnonzero(seen & (own >= 0))
    frames = arrays.distinct(own[stacks])
    made_at = frame_labels(recording, frames.tolist())
    rank = ranks([made_at[frame] for frame in frames.tolist()])
    found = np.full(len(own), UNKNOWN, dtype=np.int64)
    found[stacks] = rank[np.searchsorted(frames, own[stacks])]
    return found


def label_keys(recording: Recording, device: Device) -> Keys:
    """What allocations are called (``views.words.allocation_labels``)."""
    rank = memo(recording, ("label_ranks", device.index), lambda: _label_ranks(recording, device))
    places = _label_places(recording, device)
    return lambda part: rank[places(part)]


def _label_ranks(recording: Recording, device: Device) -> IntArray:
    """The place in the alphabet of every ``_label_places`` that an allocation has."""
    table = recording.table("allocations")
    names, ops = arrays.words(table, "name"), arrays.words(table, "op")
    first_frame = len(names)
    first_op = first_frame + len(recording.table("frames"))
    nothing = first_op + len(ops)
    places = _label_places(recording, device)
    has = np.zeros(nothing + 2, dtype=bool)
    for begin in range(0, len(recording.values("allocations", "birth", device)), _PART):
        has[places(slice(begin, begin + _PART))] = True
    seen = np.flatnonzero(has).tolist()
    made_at = frame_labels(
        recording, [p - first_frame for p in seen if first_frame <= p < first_op]
    )

    def label(place: int) -> str:
        if place < first_frame:
            return names[place]
        if place < first_op:
            return made_at[place - first_frame]
        if place < nothing:
            return ops[place - first_op]
        return "before the window" if place == nothing else "no stack recorded"

    found = np.zeros(nothing + 2, dtype=np.int64)
    found[seen] = ranks([label(place) for place in seen])
    return found


def _label_places(recording: Recording, device: Device) -> Keys:
    """A number for what allocations are called by (``views.words.allocation_labels``).

    Names come first, then rows of ``frames``, ops, what was before the window, and what has
    nothing.
    """
    table = recording.table("allocations")
    names, ops = arrays.words(table, "name"), arrays.words(table, "op")
    first_op = len(names) + len(recording.table("frames"))
    own = named_by(recording)
    called = (
        ("name", np.array([code if word else -1 for code, word in enumerate(names)])),
        ("birth_stack", np.where(own < 0, -1, own + len(names))),
        ("op", np.array([code + first_op if word else -1 for code, word in enumerate(ops)])),
    )
    columns = [
        (recording.values("allocations", column, device), np.append(places, -1).astype(np.int32))
        for column, places in called
        if (places >= 0).any()
    ]
    birth = recording.values("allocations", "birth", device)
    nothing = first_op + len(ops)

    def places(part: slice) -> IntArray:
        found = np.full(len(birth[part]), -1, dtype=np.int32)
        for codes, place_of in columns:
            np.copyto(found, place_of[codes[part]], where=found < 0)
        np.copyto(found, nothing + (birth[part] >= 0), where=found < 0)
        return found

    return places
