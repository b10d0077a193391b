"""Births and deaths at the same address, in history order, made into lives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ordering import stable_order

#: What an event does to the life at its key.
BEGIN, REQUEST, END = 0, 1, 2


@dataclass(frozen=True)
class Pairs:
    """One element a life, ordered by key and then by history.

    ``begin``, ``request`` and ``end`` are rows of what was paired, -1 for none. A life without
    ``begin`` is older than the history. ``displaced`` marks lives that no event ended, whose key
    began again: their ``end`` is that beginning.
    """

    key: IntArray
    begin: IntArray
    request: IntArray
    end: IntArray
    displaced: IntArray
    unmatched_ends: int  # events that ended nothing, and are in no life


def pair(key: IntArray, role: IntArray) -> Pairs:
    """Pair the events of each ``key``, given in history order, by their ``role``.

    One stable sort, no loop. An end without a beginning ends a life older than the history if it
    is the first event of its key, and nothing otherwise.
    """
    order = stable_order(key)
    key, role = key[order], role[order]
    first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    starts = np.flatnonzero(first | (role == BEGIN))
    life = np.zeros(len(key), dtype=np.int32)
    life[starts[1:]] = 1
    np.cumsum(life, out=life)
    begin = np.where(role[starts] == BEGIN, order[starts], -1)
    end, at_end, unmatched = _first(life, order, role == END, len(starts))
    request, at_request, _ = _first(life, order, role == REQUEST, len(starts))
    request[(at_request > at_end) & (at_end >= 0)] = -1
    successor = np.zeros(len(starts), dtype=bool)
    successor[:-1] = ~first[starts[1:]]
    displaced = successor & (end < 0)
    end[displaced] = order[starts[1:]][displaced[:-1]]
    return Pairs(key[starts], begin, request, end, displaced, unmatched)


def _first(
    life: IntArray, order: IntArray, chosen: IntArray, count: int
) -> tuple[IntArray, IntArray, int]:
    """Of the ``chosen`` events the first in each life: its row and its place; how many others."""
    places = np.flatnonzero(chosen)
    lives = life[places]
    leading = np.ones(len(places), dtype=bool)
    np.not_equal(lives[1:], lives[:-1], out=leading[1:])
    row = np.full(count, -1, dtype=np.int64)
    place = np.full(count, -1, dtype=np.int64)
    row[lives[leading]] = order[places[leading]]
    place[lives[leading]] = places[leading]
    return row, place, int(len(places) - leading.sum())
