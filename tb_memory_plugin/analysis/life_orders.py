"""The allocations of a device in the order of any of their columns, worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import bytes_column
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.label_orders import Keys, label_keys, line_keys, ranks
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
    "where",
    *_TEXTS,
)
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
        return label_keys(recording, device)
    if column == "where":
        return line_keys(recording, device)
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


def _ranked(codes: IntArray, words: Sequence[str]) -> Keys:
    rank = np.append(ranks(words), UNKNOWN)
    return lambda part: rank[codes[part]]
