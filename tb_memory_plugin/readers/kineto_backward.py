"""Which operator of a Kineto trace an autograd function is of, where no flow event says it."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.readers.kineto_sequences import Numbered, Waiting
from tb_memory_plugin.recording.arrays import IntArray


def backwards(
    found: Waiting, track: IntArray, end: IntArray, process: IntArray
) -> tuple[IntArray, IntArray]:
    """Rows of forwards and of their backwards; ``process`` is of every track, by code.

    The rule is PyTorch's own (``generateForwardBackwardLink``): in the order in which all ends, a
    backward is of the forward of its number and thread that began last, of those since the last
    backward of that number. Where rounded times begin at once, the inner began later and ended
    before. A thread's number is not that of a track: which it is has to be certain.
    """
    threads = _threads(found, track, process)
    pairs = [_pairs(part, threads, track, end, process) for part in found.parts()]
    nothing = np.zeros(0, dtype=np.int32)
    forward, backward = zip((nothing, nothing), *pairs, strict=True)
    return np.concatenate(forward), np.concatenate(backward)


def _pairs(
    found: Numbered, threads: IntArray, track: IntArray, end: IntArray, process: IntArray
) -> tuple[IntArray, IntArray]:
    is_forward = found.thread == 0
    own = track[found.row].astype(np.int64)
    own[~is_forward] = _tracks(threads, process[own[~is_forward]], found.thread[~is_forward])
    chosen = np.flatnonzero(own >= 0)
    row, number, own, is_forward = (
        each[chosen] for each in (found.row, found.number, own, is_forward)
    )
    order = np.lexsort((-row, ~is_forward, end[row], number, own))
    row, number, own, is_forward = (each[order] for each in (row, number, own, is_forward))
    first = np.append(True, (np.diff(own) != 0) | (np.diff(number) != 0))[: len(row)]
    first[1:] |= ~is_forward[:-1]
    begins = np.flatnonzero(first)
    ends = np.append(begins[1:], len(row)) - 1
    if not len(begins):
        return row, row
    source = np.maximum.reduceat(np.where(is_forward, row, -1), begins)
    fits = ~is_forward[ends] & (source >= 0)
    return source[fits], row[ends[fits]]


def _threads(found: Waiting, track: IntArray, process: IntArray) -> IntArray:
    """Threads in order: columns of process, thread, and its track; -1 where that is not certain.

    A thread of a process is the one track of it that alone has forwards of numbers of the thread's
    backwards: where these are of several tracks, or of the track of another thread, it is not.
    """
    told = [np.zeros((3, 0), dtype=np.int64)]
    for part in found.parts():
        is_forward = part.thread == 0
        own = track[part.row].astype(np.int64)
        of = process[own]
        key = _codes(of, part.number)
        low, high = _extremes(key[is_forward], own[is_forward], int(key.max(initial=-1)) + 1)
        asked = key[~is_forward]
        only = np.where(low[asked] == high[asked], low[asked], -1)
        told.append(_distinct(np.stack([of[~is_forward], part.thread[~is_forward], only])))
    of, thread, only = _distinct(np.concatenate(told, axis=1))
    code = _codes(of, thread)
    known = only >= 0
    low, high = _extremes(code[known], only[known], int(code.max(initial=-1)) + 1)
    certain = np.where(low == high, low, -1)
    led = np.bincount(certain[certain >= 0], minlength=int(certain.max(initial=0)) + 1)
    certain = np.where((certain >= 0) & (led[certain] == 1), certain, -1)
    return _distinct(np.stack([of, thread, certain[code]]))


def _tracks(threads: IntArray, process: IntArray, thread: IntArray) -> IntArray:
    """Of every thread of a process its track."""
    whole = np.concatenate([threads[:2], np.stack([process, thread])], axis=1)
    code = _codes(*whole)
    known = threads.shape[1]
    track = np.full(int(code.max(initial=-1)) + 1, -1)
    track[code[:known]] = threads[2]
    found: IntArray = track[code[known:]]
    return found


def _distinct(columns: IntArray) -> IntArray:
    """Every triple once, in order."""
    columns = columns[:, np.lexsort(columns[::-1])]
    new = np.append(True, (np.diff(columns) != 0).any(axis=0))[: columns.shape[1]]
    return columns[:, new]


def _codes(one: IntArray, two: IntArray) -> IntArray:
    """A code for every pair, from 0 on."""
    order = np.lexsort((two, one))
    other = (np.diff(one[order]) != 0) | (np.diff(two[order]) != 0)
    code = np.empty(len(order), dtype=np.int64)
    code[order] = np.cumsum(np.append(0, other)[: len(order)])
    return code


def _extremes(code: IntArray, value: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """The least and the greatest value of every code; -1 and -2 for a code of none."""
    most = np.iinfo(np.int64).max
    low, high = np.full(count, most), np.full(count, -2)
    np.minimum.at(low, code, value)
    np.maximum.at(high, code, value)
    return np.where(low == most, -1, low), high
