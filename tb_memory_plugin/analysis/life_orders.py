"""The allocations of a device in the order of any of their columns, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import bytes_column
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import frame_labels, named_by
from tb_memory_plugin.analysis.leading import UNKNOWN
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.ordering import stable_order
from tb_memory_plugin.analysis.padding import padding_keys
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
    "padding",
    "expansion",
    "birth",
    "death",
    "duration",
    "category",
    "step",
    *_TEXTS,
)
_PART = 1 << 16
_UNBORN = sentinel("birth_time")

#: Gives the numbers of a part of the device's allocations.
Keys = Callable[[slice], IntArray]


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
    keys = sort_keys(recording, device, column)(slice(None))
    rows = stable_order(keys).astype(np.int32)
    return Order(rows, int(np.searchsorted(keys[rows], UNKNOWN)))


def sort_keys(recording: Recording, device: Device, column: str) -> Keys:
    """Numbers of allocations that sort as their values do; ``UNKNOWN`` for null."""

    def values(name: str) -> IntArray:
        return recording.values("allocations", name, device)

    if column == "birth":
        count = len(values("birth"))
        return lambda part: np.arange(*part.indices(count), dtype=np.int64)  # that is their order
    if column == "death":
        death = values("death")
        return lambda part: np.minimum(death[part], UNKNOWN - 1)
    if column == "duration":
        begun, ended = values("birth_time"), values("death_time")
        return lambda part: _durations(begun[part], ended[part])
    if column == "label":
        ranks, places = _label_ranks(recording, device), _label_places(recording, device)
        return lambda part: ranks[places(part)]
    if column == "category":
        words = [category.label for category in Category]
        return _ranked(values("category"), words)
    if column in _TEXTS:
        words = arrays.words(recording.table("allocations"), column)
        return _ranked(values(column), words)
    if column == "step":
        step = values("step")
        return lambda part: np.where(step[part] < 0, UNKNOWN, step[part])
    if column in ("padding", "expansion"):
        return padding_keys(recording, device, column)
    name = bytes_column(recording) if column == "bytes" else column
    rows = recording.rows("allocations", device)
    valid = arrays.valid(recording.table("allocations"), name)[rows]
    numbers = values(name)
    return lambda part: np.where(valid[part], numbers[part], UNKNOWN)


def _durations(birth: IntArray, death: IntArray) -> IntArray:
    found = np.full(len(birth), UNKNOWN, dtype=np.int64)
    np.subtract(death, birth, out=found, where=(birth != _UNBORN) & (death != AFTER))
    return found


def _label_ranks(recording: Recording, device: Device) -> IntArray:
    """The place in the alphabet of every ``_label_places`` that an allocation has."""
    return memo(recording, ("label_ranks", device.index), lambda: _ranks_of(recording, device))


def _ranks_of(recording: Recording, device: Device) -> IntArray:
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

    ranks = np.zeros(nothing + 2, dtype=np.int64)
    ranks[seen] = _ranks([label(place) for place in seen])
    return ranks


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


def _ranked(codes: IntArray, words: Sequence[str]) -> Keys:
    ranks = np.append(_ranks(words), UNKNOWN)
    return lambda part: ranks[codes[part]]


def _ranks(words: Sequence[str]) -> IntArray:
    """The place of every word in the alphabet; words that differ in case only share one."""
    folded = [word.casefold() for word in words]
    place = {word: rank for rank, word in enumerate(sorted(set(folded)))}
    return np.array([place[word] for word in folded], dtype=np.int64)
