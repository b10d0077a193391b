"""The allocations of a device in the order of any of their columns, worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import bytes_column
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import frame_labels, named_by
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.ordering import stable_order
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER, Category, sentinel

#: Columns of text, in which words are in the order of the alphabet.
_TEXTS = ("op", "name", "module", "region", "dtype", "shape", "annotation")
#: What lives can be sorted by. Before the window is the earliest birth, not freed the latest death.
SORTS = (
    "label",
    "bytes",
    "size",
    "requested",
    "birth",
    "death",
    "duration",
    "category",
    "step",
    *_TEXTS,
)
_PART = 1 << 16
#: The key of what is not known.
UNKNOWN_LAST = np.iinfo(np.int64).max
_UNBORN = sentinel("birth_time")


@dataclass(frozen=True)
class Order:
    """Rows, within the device's allocations, in rising order; unknown from ``known`` on."""

    rows: IntArray
    known: int

    def parts(self, *, falling: bool) -> tuple[IntArray, IntArray]:
        """Those that are known, rising or falling, and the others."""
        known = self.rows[: self.known]
        return (known[::-1] if falling else known), self.rows[self.known :]


def order(recording: Recording, device: Device, sort: str) -> tuple[IntArray, IntArray]:
    """All allocations of a device sorted by ``sort``, one of ``SORTS``, with ``-`` falling.

    First those of which that is known, then the others. Of equals the first born comes first, or,
    falling, last. Raises QueryError.
    """
    column, falling = direction(sort)
    found = memo(
        recording, ("life_order", device.index, column), lambda: _order(recording, device, column)
    )
    return found.parts(falling=falling)


def direction(sort: str) -> tuple[str, bool]:
    """The column of ``sort``, and whether it falls. Raises QueryError for no column of these."""
    column = sort.removeprefix("-")
    if column not in SORTS:
        raise QueryError(f"Cannot sort by {column!r}; choose one of {', '.join(SORTS)}.")
    return column, sort.startswith("-")


def _order(recording: Recording, device: Device, column: str) -> Order:
    keys = sort_keys(recording, device, column)
    rows = stable_order(keys).astype(np.int32)
    return Order(rows, int(np.searchsorted(keys[rows], UNKNOWN_LAST)))


def sort_keys(recording: Recording, device: Device, column: str) -> IntArray:
    """A number for every allocation that sorts as its value; ``UNKNOWN_LAST`` for null."""

    def values(name: str) -> IntArray:
        return recording.values("allocations", name, device)

    if column == "birth":
        return np.arange(len(values("birth")), dtype=np.int64)  # that is their order
    if column == "death":
        return np.minimum(values("death"), UNKNOWN_LAST - 1)
    if column == "duration":
        return _durations(values("birth_time"), values("death_time"))
    if column == "label":
        return _label_keys(recording, device)
    if column == "category":
        words = [category.label for category in Category]
        return _ranked(values("category"), words)
    if column in _TEXTS:
        words = arrays.words(recording.table("allocations"), column)
        return _ranked(values(column), words)
    if column == "step":
        step = values("step")
        return np.where(step < 0, UNKNOWN_LAST, step)
    name = bytes_column(recording) if column == "bytes" else column
    rows = recording.rows("allocations", device)
    valid = arrays.valid(recording.table("allocations"), name)[rows]
    return np.where(valid, values(name), UNKNOWN_LAST)


def _durations(birth: IntArray, death: IntArray) -> IntArray:
    found = np.full(len(birth), UNKNOWN_LAST, dtype=np.int64)
    for begin in range(0, len(birth), _PART):
        part = slice(begin, begin + _PART)
        known = (birth[part] != _UNBORN) & (death[part] != AFTER)
        found[part][known] = death[part][known] - birth[part][known]
    return found


def _label_keys(recording: Recording, device: Device) -> IntArray:
    """By what ``views.words.allocation_labels`` calls them: name, else frame, else op."""
    table = recording.table("allocations")
    names, ops = arrays.words(table, "name"), arrays.words(table, "op")
    frames = len(recording.table("frames"))
    first_frame, first_op = len(names), len(names) + frames
    nothing = first_op + len(ops)
    # One number for everything that an allocation can be called by, -1 for no such thing.
    own = named_by(recording)
    called = (
        ("name", np.array([code if word else -1 for code, word in enumerate(names)])),
        ("birth_stack", np.where(own < 0, -1, own + first_frame)),
        ("op", np.array([code + first_op if word else -1 for code, word in enumerate(ops)])),
    )
    birth = recording.values("allocations", "birth", device)
    place = np.full(len(birth), -1, dtype=np.int32)
    for column, places in called:
        if (places >= 0).any():
            codes = recording.values("allocations", column, device)
            of = np.append(places, -1).astype(np.int32)
            for begin in range(0, len(place), _PART):
                part = place[begin : begin + _PART]
                np.copyto(part, of[codes[begin : begin + _PART]], where=part < 0)
    np.copyto(place, nothing + (birth >= 0), where=place < 0)
    seen = np.flatnonzero(np.bincount(place, minlength=nothing + 2))
    made_at = frame_labels(
        recording, [int(p) - first_frame for p in seen if first_frame <= p < first_op]
    )

    def label(place: int) -> str:
        if place < first_frame:
            return names[place]
        if place < first_op:
            return made_at[place - first_frame]
        if place < nothing:
            return ops[place - first_op]
        return "before the window" if place == nothing else "no stack recorded"

    rank = np.zeros(nothing + 2, dtype=np.int64)
    rank[seen] = _ranks([label(place) for place in seen.tolist()])
    return rank[place]


def _ranked(codes: IntArray, words: Sequence[str]) -> IntArray:
    ranks = np.append(_ranks(words), UNKNOWN_LAST)
    found: IntArray = ranks[codes]
    return found


def _ranks(words: Sequence[str]) -> IntArray:
    """The place of every word in the alphabet; words that differ in case only share one."""
    folded = [word.casefold() for word in words]
    place = {word: rank for rank, word in enumerate(sorted(set(folded)))}
    return np.array([place[word] for word in folded], dtype=np.int64)
