"""Stacks, made into sequences of symbols: the ways that a tree of calls is made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import frame_contents, stack_layout, text_hashes
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import named_by
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.telling import OWN
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

#: What a symbol stands for where that is not one frame; ``ROOT`` is before every sequence.
ROOT, BEFORE, NONE, LIBRARY = -1, -2, -3, -4

#: A single library frame is shorter than what would say that it is folded.
_FOLD_FROM = 2


@dataclass(frozen=True)
class Paths:
    """Sequences of symbols, one a place, from the root on; and what the symbols stand for."""

    places: IntArray
    symbols: IntArray
    starts: IntArray  # one more than places
    lengths: IntArray  # frames that an element stands for
    frame: IntArray  # by symbol
    content: IntArray  # by symbol


def paths(
    recording: Recording, inverted: bool, folded: bool, stacks: IntArray | None = None
) -> Paths:
    """The ways of all stacks that allocations were born with, and those of the two without.

    With ``stacks``, places below that of the two, of these instead.
    """
    if stacks is None:
        stacks = born_with(recording)
    frames, owner = elements(recording, stacks)
    if not inverted:
        frames, owner = frames[::-1], owner[::-1]
        owner = len(stacks) - 1 - owner
        stacks = stacks[::-1]
    same, representative = symbols(recording)
    library = len(representative)
    found = same[frames] if len(same) else frames
    lengths = np.ones(len(found), dtype=np.int32)
    if folded:
        foldable = recording.values("frame_kinds", "kind")[frames] != OWN
        foldable &= frames != named_by(recording)[stacks[owner]]
        found, owner, lengths = _fold(found, owner, foldable, library)
    count = len(recording.table("stacks"))
    before, nothing = library + 1, library + 2
    sizes = np.append(np.bincount(owner, minlength=len(stacks)), [1, 1])
    contents = memo(recording, ("frame_contents",), lambda: frame_contents(recording))
    return Paths(
        places=np.append(stacks, [count, count + 1]).astype(np.int64),
        symbols=np.append(found, np.array([before, nothing], dtype=np.int32)),
        starts=np.append(0, np.cumsum(sizes)),
        lengths=np.append(lengths, np.ones(2, dtype=np.int32)),
        frame=np.append(representative, [LIBRARY, BEFORE, NONE]).astype(np.int32),
        content=np.append(contents[representative], text_hashes(["library", "before", "none"])),
    )


def symbols(recording: Recording) -> tuple[IntArray, IntArray]:
    """For every frame a number that those which say the same share, and a frame for each number."""
    return memo(recording, ("frame_symbols",), lambda: _symbols(recording))


def _symbols(recording: Recording) -> tuple[IntArray, IntArray]:
    columns = [recording.values("frames", name) for name in ("function", "file", "line")]
    if not len(columns[0]):
        return columns[0], columns[0]
    same, first = columns[0].astype(np.int64), columns[0]
    for column in columns[1:]:
        least, most = int(column.min()), int(column.max())
        both = same * (most - least + 1) + (column - least)  # in order: at most 63 bits
        _, first, same = np.unique(both, return_index=True, return_inverse=True)
    return same.astype(np.int32), first


def born_with(recording: Recording) -> IntArray:
    """The stacks that allocations were born with, of those that say the same the first."""
    same = recording.values("stack_names", "same")
    used = np.zeros(len(same) + 1, dtype=bool)
    used[recording.values("allocations", "birth_stack")] = True  # -1: the last, left out
    found = same[used[:-1]]
    distinct: IntArray = arrays.distinct(found[found >= 0])
    return distinct


def elements(recording: Recording, stacks: IntArray) -> tuple[IntArray, IntArray]:
    """The frames of ``stacks`` in a row, innermost first, and the place in ``stacks`` of each."""
    frames, offsets = stack_layout(recording)
    lengths = offsets[stacks + 1] - offsets[stacks]
    # Narrow, and few of them at a time: there may be many millions of elements.
    owner = np.repeat(np.arange(len(stacks), dtype=np.int32), lengths)
    element = np.repeat(offsets[stacks] - (np.cumsum(lengths) - lengths), lengths)
    element += np.arange(len(owner))
    return frames[element], owner


def _fold(
    found: IntArray, owner: IntArray, foldable: IntArray, library: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Every long enough run of foldable elements of one stack as one element, ``library``."""
    if not len(found):
        return found, owner, found
    new = np.append(True, (foldable[1:] != foldable[:-1]) | (owner[1:] != owner[:-1]))
    first = np.flatnonzero(new)
    sizes = np.diff(np.append(first, len(found))).astype(np.int32)
    length = np.repeat(sizes, sizes)
    folds = foldable & (length >= _FOLD_FROM)
    kept = new | ~folds
    one, long = found.dtype.type(library), folds[kept]
    return (
        np.where(long, one, found[kept]),
        owner[kept],
        np.where(long, length[kept], np.int32(1)),
    )
