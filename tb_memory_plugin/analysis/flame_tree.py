"""Stacks, made into one tree of calls; what it weighs is added up by ``totals``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import frame_contents, mixed, stack_layout, text_hashes
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import Weights
from tb_memory_plugin.analysis.frames import named_by
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.telling import OWN
from tb_memory_plugin.recording.recording import Recording

#: What stands in ``Calls.frame`` for nodes that are not one frame.
ROOT, BEFORE, NONE, LIBRARY = -1, -2, -3, -4

#: A single library frame is shorter than what would say that it is folded.
_FOLD_FROM = 2
_PRIME = np.uint64(0x100000001B3)


@dataclass(frozen=True)
class Calls:
    """A tree of calls. Node 0 is the root; every node comes after its parent.

    ``order`` puts the places of ``Weights`` in a row in which those below node k are at
    ``first[k]`` … ``stop[k]`` - 1; of them, those whose stack ends at the node come first, up to
    ``own[k]``. ``frame`` is a row of ``frames``, or one of ``ROOT`` …; ``shortest`` and
    ``longest`` say how many frames a ``LIBRARY`` node stands for. ``key`` names a node by the
    frames on its way, the same in every recording.
    """

    order: IntArray
    parent: IntArray
    frame: IntArray
    first: IntArray
    own: IntArray
    stop: IntArray
    shortest: IntArray
    longest: IntArray
    key: IntArray


@dataclass(frozen=True)
class Paths:
    """Sequences of symbols, one a place, from the root on; and what the symbols stand for."""

    places: IntArray
    symbols: IntArray
    starts: IntArray  # one more than places
    lengths: IntArray  # frames that an element stands for
    frame: IntArray  # by symbol
    content: IntArray  # by symbol


def calls(recording: Recording, *, inverted: bool = False, folded: bool = False) -> Calls:
    """The tree of all stacks that an allocation was born with.

    From the outermost frame inwards; ``inverted``, from the innermost outwards. Frames that have
    function, file and line in common are one. ``folded``: two and more library frames one after
    the other are one node, and such runs below the same node are the same node; a stack's frame
    that tells most is never in one, so that stacks of library frames alone stay apart.
    """
    key = ("calls", inverted, folded)
    return memo(recording, key, lambda: _tree(_paths(recording, inverted, folded)))


@dataclass(frozen=True)
class Totals:
    """What every node weighs and how many allocations that is; ``own``: what ends at it."""

    value: IntArray
    own: IntArray
    count: IntArray
    own_count: IntArray


def totals(tree: Calls, weighed: Weights) -> Totals:
    """The weights of the nodes of ``tree``: exactly their own and those of the nodes below."""
    value, count = (_running(column[tree.order]) for column in (weighed.value, weighed.count))
    return Totals(
        *(
            sums[edge] - sums[tree.first]
            for sums in (value, count)
            for edge in (tree.stop, tree.own)
        )
    )


def _running(values: IntArray) -> IntArray:
    sums = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=sums[1:])
    return sums


def symbols(recording: Recording) -> tuple[IntArray, IntArray]:
    """For every frame a number that those which say the same share, and a frame for each number."""
    columns = [recording.values("frames", name) for name in ("function", "file", "line")]
    if not len(columns[0]):
        return columns[0], columns[0]
    _, first, same = np.unique(
        np.stack(columns, axis=1).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    return same.reshape(-1), first


def born_with(recording: Recording) -> IntArray:
    """The stacks that allocations were born with, of those that say the same the first."""
    same = recording.values("stack_names", "same")
    used = np.zeros(len(same) + 1, dtype=bool)
    used[recording.values("allocations", "birth_stack")] = True  # -1: the last, left out
    found = same[used[:-1]]
    distinct: IntArray = np.unique(found[found >= 0])
    return distinct


def elements(recording: Recording, stacks: IntArray) -> tuple[IntArray, IntArray]:
    """The frames of ``stacks`` in a row, innermost first, and the place in ``stacks`` of each."""
    frames, offsets = stack_layout(recording)
    lengths = offsets[stacks + 1] - offsets[stacks]
    owner = np.repeat(np.arange(len(stacks)), lengths)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return frames[offsets[stacks][owner] + within], owner


def _paths(recording: Recording, inverted: bool, folded: bool) -> Paths:
    stacks = born_with(recording)
    frames, owner = elements(recording, stacks)
    if not inverted:
        frames, owner = frames[::-1], owner[::-1]
        owner = len(stacks) - 1 - owner
        stacks = stacks[::-1]
    same, representative = symbols(recording)
    library = len(representative)
    found = same[frames] if len(same) else frames.astype(np.int64)
    lengths = np.ones(len(found), dtype=np.int64)
    if folded:
        foldable = recording.values("frame_kinds", "kind")[frames] != OWN
        foldable &= frames != named_by(recording)[stacks[owner]]
        found, owner, lengths = _fold(found, owner, foldable, library)
    count = len(recording.table("stacks"))
    before, nothing = library + 1, library + 2
    sizes = np.append(np.bincount(owner, minlength=len(stacks)), [1, 1])
    contents = frame_contents(recording)[representative] if library else np.zeros(0, np.uint64)
    return Paths(
        places=np.append(stacks, [count, count + 1]).astype(np.int64),
        symbols=np.append(found, [before, nothing]).astype(np.int64),
        starts=np.append(0, np.cumsum(sizes)),
        lengths=np.append(lengths, [1, 1]),
        frame=np.append(representative, [LIBRARY, BEFORE, NONE]).astype(np.int64),
        content=np.append(contents, text_hashes(["library", "before", "none"])),
    )


def _fold(
    found: IntArray, owner: IntArray, foldable: IntArray, library: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Every long enough run of foldable elements of one stack as one element, ``library``."""
    if not len(found):
        return found, owner, found.astype(np.int64)
    new = np.append(True, (foldable[1:] != foldable[:-1]) | (owner[1:] != owner[:-1]))
    run = np.cumsum(new) - 1
    length = np.bincount(run)[run]
    folds = foldable & (length >= _FOLD_FROM)
    kept = new | ~folds
    return (
        np.where(folds, library, found)[kept],
        owner[kept],
        np.where(folds, length, 1)[kept],
    )


def _tree(paths: Paths) -> Calls:
    """The tree of ``paths``, level by level: those with the same way so far share a node."""
    width = len(paths.frame)
    sizes = np.diff(paths.starts)
    at = np.zeros(len(sizes), dtype=np.int64)  # the node each path has come to
    parents, said = [np.array([-1])], [np.array([-1])]
    counts, shortest, longest = [np.array([len(sizes)])], [np.zeros(1, int)], [np.zeros(1, int)]
    keys = [mixed(np.ones(1, np.uint64))]
    nodes, active = 1, np.arange(len(sizes))
    for depth in range(int(sizes.max(initial=0))):
        active = active[sizes[active] > depth]
        element = paths.starts[active] + depth
        ways, place, count = np.unique(
            at[active] * width + paths.symbols[element], return_inverse=True, return_counts=True
        )
        parent, symbol = ways // width, ways % width
        length = paths.lengths[element]
        least, most = np.full(len(ways), np.iinfo(np.int64).max), np.zeros(len(ways), np.int64)
        np.minimum.at(least, place, length)
        np.maximum.at(most, place, length)
        above = keys[-1][parent - (nodes - len(keys[-1]))]
        for column, values in zip(
            (parents, said, counts, shortest, longest, keys),
            (parent, symbol, count, least, most, mixed(above * _PRIME + paths.content[symbol])),
            strict=True,
        ):
            column.append(values)
        at[active] = nodes + place
        nodes += len(ways)
    parent, symbol, count = (np.concatenate(column) for column in (parents, said, counts))
    first, ending = _spread(parent, count, [len(level) for level in parents])
    return Calls(
        order=paths.places[np.argsort(first[at], kind="stable")],
        parent=parent,
        frame=np.where(symbol < 0, ROOT, paths.frame[symbol]),
        first=first,
        own=first + ending,
        stop=first + count,
        shortest=np.concatenate(shortest),
        longest=np.concatenate(longest),
        key=np.concatenate(keys),
    )


def _spread(parent: IntArray, count: IntArray, levels: list[int]) -> tuple[IntArray, IntArray]:
    """Where the paths below every node begin, and how many end at it; ``count`` come through.

    Those that end at a node come before those that go on to the nodes below it.
    """
    below = np.bincount(parent[1:], count[1:], len(parent)).astype(np.int64)
    ending = count - below
    first = np.zeros(len(parent), dtype=np.int64)
    begin = 1
    for size in levels[1:]:
        level = slice(begin, begin + size)
        above = parent[level]  # siblings lie side by side
        before = np.cumsum(count[level]) - count[level]
        eldest = np.append(True, above[1:] != above[:-1])
        since = before - before[eldest][np.cumsum(eldest) - 1]
        first[level] = first[above] + ending[above] + since
        begin += size
    return first, ending
