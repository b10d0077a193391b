"""Moves and levels of a memory timeline, made into a history whose sums are theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import INT64_MAX, Malformed
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.schema import Action, BlockState, Category

#: By its number in the file (torch/profiler/_memory_profiler.py).
CATEGORIES = (
    Category.PARAMETER,
    Category.OPTIMIZER_STATE,
    Category.INPUT,
    Category.TEMPORARY,
    Category.ACTIVATION,
    Category.GRADIENT,
    Category.AUTOGRAD_DETAIL,
    Category.UNKNOWN,
)
_PREEXISTING, _CREATE, _INCREMENT_VERSION, _DESTROY = 1, 2, 3, 4
_BEFORE = -1


@dataclass
class Histories:
    """Events so far. An address is a number that no other life has."""

    origin: int = 0  # ns since 1970
    problems: list[str] = field(default_factory=list)
    _events: list[tuple[int, Action, int, int]] = field(default_factory=list)
    _labels: list[tuple[int, int, Category]] = field(default_factory=list)  # event, address
    _blocks: dict[int, int] = field(default_factory=dict)  # alive before and at the end
    _addresses: int = 0

    def before(self, size: int, category: Category) -> int:
        """The address of what was alive before the window."""
        self._addresses += 1
        self._labels.append((-1, self._addresses, category))
        self._blocks[self._addresses] = size
        return self._addresses

    def born(self, time: int, size: int, category: Category) -> int:
        """The address of what is allocated."""
        self._addresses += 1
        self._labels.append((len(self._events), self._addresses, category))
        self._events.append((time, Action.ALLOC, self._addresses, size))
        return self._addresses

    def died(self, time: int, address: int, size: int) -> None:
        """What is at ``address`` is freed."""
        self._blocks.pop(address, None)
        self._events.append((time, Action.FREE_COMPLETED, address, size))

    def tables(self) -> dict[str, pa.Table]:
        """The tables ``events``, ``labels`` and ``blocks``."""
        labels = sorted(self._labels)
        events, blocks = self._events, self._blocks
        return {
            "events": builder.table(
                "events",
                {
                    "device": np.zeros(len(events), dtype=np.int16),
                    "time": np.array([event[0] - self.origin for event in events], np.int64),
                    "action": np.array([int(event[1]) for event in events], np.uint8),
                    "address": np.array([event[2] for event in events], np.uint64),
                    "size": np.array([event[3] for event in events], np.int64),
                },
            ),
            "labels": builder.table(
                "labels",
                {
                    "device": np.zeros(len(labels), dtype=np.int16),
                    "event": np.array([event for event, *_ in labels], np.int64),
                    "address": np.array([address for _, address, _ in labels], np.uint64),
                    "category": np.array([int(each) for *_, each in labels], np.int8),
                },
            ),
            "blocks": builder.table(
                "blocks",
                {
                    "device": np.zeros(len(blocks), dtype=np.int16),
                    "address": np.array(list(blocks), np.uint64),
                    "size": np.array(list(blocks.values()), np.int64),
                    "state": np.full(len(blocks), int(BlockState.ACTIVE), np.uint8),
                },
            ),
        }


def of_moves(moves: Sequence[tuple[int, int, int, int]]) -> Histories:
    """The history of raw rows: time in ns, action, bytes, category. Raises Malformed."""
    timed = [time for time, *_ in moves if time != _BEFORE]
    if not timed:
        raise Malformed("it holds nothing that was allocated or freed while it was recorded")
    _check_times(timed, 1)
    found = Histories(origin=min(timed))
    alive: dict[tuple[int, Category], list[int]] = defaultdict(list)
    unknown = 0
    for time, action, size, number in sorted(moves, key=lambda move: move[0]):
        category, amount = _category(number), abs(size)
        if amount > INT64_MAX:
            raise Malformed(f"an allocation has {size} bytes")
        same = alive[amount, category]
        if action == _PREEXISTING:
            same.append(found.before(amount, category))
        elif action == _CREATE or (action == _INCREMENT_VERSION and size >= 0):
            same.append(found.born(time, amount, category))
        elif action in (_DESTROY, _INCREMENT_VERSION):
            address = same.pop() if same else found.before(amount, category)
            found.died(time, address, amount)
        else:
            unknown += 1
    if unknown:
        found.problems.append(f"{unknown} rows of an action that is not known are left out.")
    return found


def of_levels(times: Sequence[int], levels: Sequence[Sequence[int]]) -> Histories:
    """The history of levels: times in µs, and bytes by category after an empty first column.

    A rise is an allocation, a fall frees the latest of its category; one that is not freed whole
    had been two. Raises Malformed.
    """
    if not times or len(times) != len(levels):
        raise Malformed(f"it has {len(times)} times and {len(levels)} levels")
    _check_times(times, 1_000)
    if any(later < earlier for earlier, later in pairwise(times)):
        raise Malformed("its times are not in order")
    pieces: list[_Piece] = []
    for column, category in enumerate(CATEGORIES, start=1):
        pieces += _pieces([_level(level, column) for level in levels], category)
    found = Histories(origin=min(times) * 1_000)
    moves: dict[int, tuple[list[_Piece], list[_Piece]]] = defaultdict(lambda: ([], []))
    for piece in pieces:
        if piece.end is not None:
            moves[piece.end][0].append(piece)
        if piece.begin == 0:
            piece.address = found.before(piece.size, piece.category)
        else:
            moves[piece.begin][1].append(piece)
    for place in sorted(moves):
        # Falls before rises: between them there is nothing that was not there.
        for piece in moves[place][0]:
            found.died(times[place] * 1_000, piece.address, piece.size)
        for piece in moves[place][1]:
            piece.address = found.born(times[place] * 1_000, piece.size, piece.category)
    return found


@dataclass
class _Piece:
    """Bytes of a category from one place in the list of times to another."""

    category: Category
    size: int
    begin: int
    end: int | None = None
    address: int = 0


def _pieces(level: Sequence[int], category: Category) -> list[_Piece]:
    found: list[_Piece] = []
    alive: list[_Piece] = []
    before = 0
    for place, now in enumerate(level):
        left = before - now
        while left > 0:
            piece = alive[-1]
            if piece.size > left:
                piece.size -= left
                piece = _Piece(category, left, piece.begin)
                found.append(piece)
            else:
                alive.pop()
            piece.end = place
            left -= piece.size
        if now > before:
            alive.append(_Piece(category, now - before, place))
            found.append(alive[-1])
        before = now
    return found


def _level(level: Sequence[int], column: int) -> int:
    size = level[column] if column < len(level) else 0
    if not 0 <= size <= INT64_MAX:
        raise Malformed(f"a category has {size} bytes")
    return size


def _check_times(times: Sequence[Any], unit: int) -> None:
    if min(times) < 0 or max(times) * unit > INT64_MAX:
        raise Malformed("it has time stamps that are none")


def _category(number: int) -> Category:
    return CATEGORIES[number] if 0 <= number < len(CATEGORIES) else Category.UNKNOWN
