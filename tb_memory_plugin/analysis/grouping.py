"""Allocations, sorted into groups by what a user asks for: category, stack, op, a pattern …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.alive import bytes_column
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.lifetimes import ages, lifetimes
from tb_memory_plugin.analysis.matching import matching
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.ordering import stable_order
from tb_memory_plugin.analysis.rounding_classes import roundings
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Category

#: What can be grouped by, and how the page calls it.
GROUPINGS = {
    "category": "category",
    "stack": "stack",
    "op": "op",
    "module": "module",
    "region": "region",
    "dtype_shape": "dtype · shape",
    "step": "step",
    "annotation": "annotation",
    "pool": "pool",
    "stream": "stream",
    "size": "size",
    "rounding": "rounding",
    "lifetime": "lifetime",
    "age": "age at the cursor",
    "pattern": "pattern",
}

#: Of those the ones whose groups have an order, that of their values.
ORDERED = ("step", "size", "rounding", "lifetime", "age")

#: Groups of what a source says nothing of: older than the window, and in it.
BEFORE, UNKNOWN = 0, 1
#: Groups of what it does say something of begin here.
FIRST = 2

_MOST_PATTERNS = 20
_DENSE = 4


@dataclass(frozen=True)
class Groups:
    """The group of every allocation of a device.

    ``ids`` holds ``BEFORE``, ``UNKNOWN`` or ``FIRST`` + a place in ``values``: what is common to
    the group (a word, a row of ``stacks``, a number; for dtype and shape, a pair of codes).
    """

    by: str
    ids: IntArray
    values: Sequence[Any] | IntArray

    @property
    def count(self) -> int:
        """One more than the largest id there can be."""
        return FIRST + len(self.values)


def group_ids(recording: Recording, device: Device, by: str, pattern: str = "") -> Groups:
    """The groups of a device's allocations. Raises QueryError for unknown ``by`` and ``pattern``.

    By age ``pattern`` is the moment that it is meant at, as ``resolve`` takes it; else the peak.
    An unknown stack is one group whether it is older than the window or not, the group
    ``BEFORE`` if all are older. Grouped by pattern, ``UNKNOWN`` is all that matches none.
    """
    if by not in GROUPINGS:
        raise QueryError(f"Cannot group by {by!r}; choose one of {', '.join(GROUPINGS)}.")
    pattern = argument(by, pattern)
    key = ("groups", device.index, by, pattern)
    return memo(recording, key, lambda: _groups(recording, device, by, pattern))


def argument(by: str, pattern: str) -> str:
    """What of ``pattern`` matters to grouping ``by``: nothing to most."""
    if by == "age":
        return pattern or "peak"
    return pattern if by == "pattern" else ""


def patterns(text: str) -> list[str]:
    """The patterns a user typed, separated by commas or line ends.

    A comma between the slashes of a ``/…/`` belongs to the expression. Raises QueryError.
    """
    found: list[str] = []
    for line in text.splitlines():
        pieces = line.split(",")
        while pieces:
            piece = pieces.pop(0)
            while piece.strip().startswith("/") and not _closed(piece) and pieces:
                piece += "," + pieces.pop(0)
            if piece.strip() and piece.strip() not in found:
                found.append(piece.strip())
    if not found:
        raise QueryError("Grouping by pattern needs a pattern: words, or /a regular expression/.")
    if len(found) > _MOST_PATTERNS:
        raise QueryError(f"At most {_MOST_PATTERNS} patterns at once; these are {len(found)}.")
    return found


def _narrowest(count: int) -> type[np.uint16] | type[np.int32]:
    """The type for ids below ``count``: they are kept for as long as there is room."""
    return np.uint16 if count <= np.iinfo(np.uint16).max else np.int32


def _closed(piece: str) -> bool:
    stripped = piece.strip()
    return len(stripped) > 1 and stripped.endswith("/")


def _groups(recording: Recording, device: Device, by: str, pattern: str) -> Groups:
    if by == "pattern":
        return _by_pattern(recording, device, patterns(pattern))
    codes, values = _codes(recording, device, by, pattern)
    ids: IntArray = codes.astype(_narrowest(FIRST + len(values)))
    ids += FIRST  # an unknown one, -1, wraps around to UNKNOWN
    born = int(np.searchsorted(recording.values("allocations", "birth", device), 0))
    older = ids[:born]  # nulls of birth are first
    if by != "stack" or not (ids[born:] == UNKNOWN).any():
        older[older == UNKNOWN] = BEFORE
    return Groups(by, ids, values)


def _codes(
    recording: Recording, device: Device, by: str, pattern: str
) -> tuple[IntArray, Sequence[Any] | IntArray]:
    """A code for every allocation, -1 where nothing is known, and what the codes stand for."""
    table = recording.table("allocations")
    if by in ("op", "module", "region", "annotation"):
        return recording.values("allocations", by, device), arrays.words(table, by)
    if by == "category":
        codes = recording.values("allocations", "category", device)
        known = codes != int(Category.UNKNOWN)
        return np.where(known, codes, codes.dtype.type(-1)), [int(each) for each in Category]
    if by == "stack":
        return _stack_codes(recording, recording.values("allocations", "birth_stack", device))
    if by == "dtype_shape":
        dtype = recording.values("allocations", "dtype", device).astype(np.int64)
        shape = recording.values("allocations", "shape", device).astype(np.int64)
        width = len(arrays.dictionary(table, "shape")) + 1
        both = (dtype + 1) * width + shape + 1  # 0 where neither is known
        distinct, codes = _distinct(both, both > 0)
        return codes, np.stack([distinct // width - 1, distinct % width - 1], axis=1)
    if by == "rounding":
        return roundings(recording, device)
    if by == "lifetime":
        return lifetimes(recording, device)
    if by == "age":
        return ages(recording, device, pattern)
    if by == "pool":
        codes = recording.values("allocations", "pool", device)
        return codes, [tuple(pool) for pool in recording.meta["pools"]]
    if by == "stream":
        rows = recording.rows("allocations", device)
        known = arrays.valid(table, "stream")[rows]
        streams, codes = _distinct(recording.values("allocations", "stream", device), known)
        return codes, streams
    column_name = "step" if by == "step" else bytes_column(recording)
    numbers = recording.values("allocations", column_name, device)
    distinct, codes = _distinct(numbers, numbers >= 0)
    return codes, distinct.astype(np.int64, copy=False)


def _distinct(numbers: IntArray, known: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct of the ``known`` numbers, and for each number its place there, -1: unknown."""
    if len(numbers) and int(numbers.min()) >= -1 and ((numbers >= 0) == known).all():
        # Sizes are multiples of what the allocator rounds to: what they have in common is left out.
        shift = _zeros_at_end(int(np.bitwise_or.reduce(numbers)))
        most = int(numbers.max()) >> shift
        if most < _DENSE * len(numbers):
            small = numbers >> shift if shift else numbers
            seen = np.zeros(most + 2, dtype=bool)  # marking is faster than sorting; -1 is the last
            seen[small] = True
            seen[-1] = False
            places = np.cumsum(seen, dtype=np.int32) - np.int32(1)
            places[-1] = -1
            return np.flatnonzero(seen) << shift, places[small]
    rows = slice(None) if known.all() else known
    chosen = numbers[rows]
    codes = np.full(len(numbers), -1, dtype=np.int32)
    order = stable_order(chosen)
    ordered = chosen[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    values = ordered[new]
    del ordered  # columns are large, and memory is what they cost
    places = np.cumsum(new, dtype=np.int32) - np.int32(1)
    own = codes if isinstance(rows, slice) else np.empty(len(chosen), dtype=np.int32)
    own[order] = places
    if own is not codes:
        codes[rows] = own
    return values, codes


def _zeros_at_end(bits: int) -> int:
    """How many of the lowest bits are 0; none of 0 itself."""
    return (bits & -bits).bit_length() - 1 if bits else 0


def _stack_codes(recording: Recording, stacks: IntArray) -> tuple[IntArray, Sequence[int]]:
    """Stacks that say the same get the same code; one without frames says nothing."""
    same = recording.values("stack_names", "same")
    return np.append(same, np.int32(-1))[stacks], range(len(same))


def _by_pattern(recording: Recording, device: Device, wanted: list[str]) -> Groups:
    rows = recording.rows("allocations", device)
    ids = np.full(rows.stop - rows.start, UNKNOWN, dtype=_narrowest(FIRST + len(wanted)))
    for place, pattern in reversed(list(enumerate(wanted))):  # the first that matches stays
        ids[matching(recording, device, pattern)] = FIRST + place
    return Groups("pattern", ids, wanted)
