"""Numbers by which operators of a Kineto trace are known to the autograd functions of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.trace_stream import NOT_JSON
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.aside import let_go, set_aside

_MOST = 1 << 62
#: Numbers that are in memory while the file is read.
_MANY = 1 << 18
#: And those that are looked at together.
_PART = 1 << 18
#: Bytes of what is set aside.
_LARGE = 1 << 21
_SCHEMA = pa.schema({"row": pa.int32(), "number": pa.int64(), "thread": pa.int64()})
_SAID = b'"Fwd thread id"'


class SequenceArgs(msgspec.Struct, gc=False):
    """What is looked at of their arguments, whatever it is there."""

    number: Any = msgspec.field(name="Sequence number", default=None)
    thread: Any = msgspec.field(name="Fwd thread id", default=None)


_arguments = msgspec.json.Decoder(list[SequenceArgs]).decode
_one = msgspec.json.Decoder(SequenceArgs).decode


class Numbered(NamedTuple):
    """Rows of spans, the ``number`` that each has, and the ``thread`` of its forward.

    The latter is PyTorch's own number of a thread, not that of a track; 0 for a forward itself.
    """

    row: IntArray
    number: IntArray
    thread: IntArray


class Sequences:
    """The numbers that spans with arguments have, in the order of the file."""

    def __init__(self) -> None:
        self._count = 0
        self._is_wanted = True
        self._clear()

    def _clear(self) -> None:
        self._columns = array("i"), array("q"), array("q")
        self._full: list[pa.Table] = []

    def add(self, texts: Sequence[bytes], joined: bytes) -> None:
        """The arguments of more spans (JSON as in the file), and all of them in one."""
        if self._is_wanted and _SAID in joined:
            places = [place for place, said in enumerate(texts) if _SAID in said]
            for place, said in zip(places, _said([texts[each] for each in places]), strict=True):
                if _is_number(said.number) and _is_number(said.thread):
                    row = self._count + place, said.number, said.thread
                    for column, value in zip(self._columns, row, strict=True):
                        column.append(value)
            if len(self._columns[0]) >= _MANY:
                self._set_aside()
        self._count += len(texts)

    def _set_aside(self) -> None:
        columns = [
            arrays.adopted(np.frombuffer(each, each.typecode), kind)
            for each, kind in zip(self._columns, _SCHEMA.types, strict=True)
        ]
        self._full.append(set_aside(pa.table(columns, schema=_SCHEMA), _LARGE))
        self._columns = array("i"), array("q"), array("q")

    def drop(self) -> None:
        """Nothing of them is wanted: the file tells otherwise what is the backward of what."""
        self._is_wanted = False
        self._clear()

    def take(self, has_arguments: IntArray, order: IntArray) -> Waiting:
        """What is numbered, by rows in ``order``; all that is large is set aside.

        ``has_arguments`` are the spans, in the order of the file, whose arguments were added.
        """
        self._set_aside()
        full = [table for table in self._full if len(table)]
        self.drop()
        if not full:
            return Waiting(
                full, np.zeros(0, np.uint8), pa.table({"order": pa.array([], pa.int32())})
            )
        rows = pa.table({"order": arrays.adopted(order, pa.int32())})
        return Waiting(full, np.packbits(has_arguments), set_aside(rows, least=0))


@dataclass
class Waiting:
    """What is numbered, in a file until it is wanted, and part by part then."""

    numbers: list[pa.Table]
    has_arguments: IntArray  # a bit each
    order: pa.Table

    def parts(self) -> Iterator[Numbered]:
        """All of it, what has one number together."""
        count = -(-sum(len(table) for table in self.numbers) // _PART)
        for one in range(count):
            found = [
                [arrays.values(table, name)[chosen] for name in _SCHEMA.names]
                for table in self.numbers
                for chosen in [np.flatnonzero(arrays.values(table, "number") % count == one)]
            ]
            let_go()
            row, number, thread = (np.concatenate(each) for each in zip(*found, strict=True))
            yield Numbered(self._rows[row], number, thread)

    @cached_property
    def _rows(self) -> IntArray:
        """Of everything that was added the row."""
        order = arrays.values(self.order, "order")
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        rows: IntArray = place[np.unpackbits(self.has_arguments, count=len(order)).view(bool)]
        let_go()
        return rows


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _said(texts: Sequence[bytes]) -> list[SequenceArgs]:
    try:
        return _arguments(b"[" + b",".join(texts) + b"]")
    except NOT_JSON:
        return [_alone(each) for each in texts]


def _alone(arguments: bytes) -> SequenceArgs:
    try:
        return _one(arguments)
    except NOT_JSON:
        return SequenceArgs()
