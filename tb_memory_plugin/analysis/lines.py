"""Stacks that were weighed, made into what each line of code weighs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import Weights
from tb_memory_plugin.analysis.flame_paths import born_with, elements
from tb_memory_plugin.analysis.frames import named_by
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


@dataclass(frozen=True)
class Spots:
    """Which lines, and which files, are in which stacks.

    ``frame`` gives for every line (or file) a frame that is of it, ``place`` and ``spot`` are
    pairs of a stack and a line in it, each pair once, and ``named`` is the line that a stack is
    called by: its innermost of the user's own, or else the most telling.
    """

    frame: IntArray
    place: IntArray
    spot: IntArray
    named: IntArray  # by row of stacks; -1 where no allocation was born with it


@dataclass(frozen=True)
class SpotTotals:
    """For every line or file: what was made there, and what passed through it, and how many.

    All that was ``made`` somewhere and what has no stack is everything, exactly. What passed
    through a line counts once, however often the line is in a stack. ``picked`` is the part of
    ``through`` that was asked for apart, if any was.
    """

    made: IntArray
    made_count: IntArray
    through: IntArray
    through_count: IntArray
    picked: IntArray | None = None


def line_spots(recording: Recording) -> Spots:
    """The lines, told apart by file and number."""
    return memo(recording, ("spots", "line"), lambda: _spots(recording, ("file", "line")))


def file_spots(recording: Recording) -> Spots:
    """The files."""
    return memo(recording, ("spots", "file"), lambda: _spots(recording, ("file",)))


def spot_totals(spots: Spots, weighed: Weights, picked: Weights | None = None) -> SpotTotals:
    """What the stacks weigh, by line or by file, and how much of that is of ``picked``."""
    known = np.flatnonzero(spots.named >= 0)
    made = spots.named[known]
    count = len(spots.frame)
    return SpotTotals(
        _sums(made, weighed.value[known], count),
        _sums(made, weighed.count[known], count),
        _sums(spots.spot, weighed.value[spots.place], count),
        _sums(spots.spot, weighed.count[spots.place], count),
        None if picked is None else _sums(spots.spot, picked.value[spots.place], count),
    )


def _sums(groups: IntArray, values: IntArray, count: int) -> IntArray:
    if values.dtype != object:
        return exact.sum_by(groups, values, count)
    sums = np.zeros(count, dtype=object)
    np.add.at(sums, groups, values)
    return sums


def _spots(recording: Recording, columns: tuple[str, ...]) -> Spots:
    stacks = born_with(recording)
    frames, owner = elements(recording, stacks)
    values = [recording.values("frames", name).astype(np.int64) for name in columns]
    named = np.full(len(recording.table("stacks")), -1, dtype=np.int64)
    if not len(frames):
        empty = np.zeros(0, dtype=np.int64)
        return Spots(empty, empty, empty, named)
    _, first, spot = np.unique(
        np.stack(values, axis=1), axis=0, return_index=True, return_inverse=True
    )
    spot = spot.reshape(-1)
    pairs = arrays.distinct(owner.astype(np.int64) * len(first) + spot[frames])
    named[stacks] = spot[named_by(recording)[stacks]]
    return Spots(first, stacks[pairs // len(first)], pairs % len(first), named)
