"""Numbers by which operators of a Kineto trace are known to the autograd functions of them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tb_memory_plugin.readers.trace_stream import NOT_JSON
from tb_memory_plugin.recording.arrays import IntArray

_MOST = 1 << 62
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
        self._columns = array("i"), array("q"), array("q")
        self._is_wanted = True

    def add(self, texts: Sequence[bytes], joined: bytes) -> None:
        """The arguments of more spans (JSON as in the file), and all of them in one."""
        if self._is_wanted and _SAID in joined:
            places = [place for place, said in enumerate(texts) if _SAID in said]
            for place, said in zip(places, _said([texts[each] for each in places]), strict=True):
                if _is_number(said.number) and _is_number(said.thread):
                    row = self._count + place, said.number, said.thread
                    for column, value in zip(self._columns, row, strict=True):
                        column.append(value)
        self._count += len(texts)

    def drop(self) -> None:
        """Nothing of them is wanted: the file tells otherwise what is the backward of what."""
        self._is_wanted = False
        self._columns = array("i"), array("q"), array("q")

    def take(self, has_arguments: IntArray, order: IntArray) -> Numbered:
        """What is numbered, by rows in ``order``, which are not kept here.

        ``has_arguments`` are the spans, in the order of the file, whose arguments were added.
        """
        at, number, thread = (np.frombuffer(each, each.typecode) for each in self._columns)
        self.drop()
        if not len(at):
            return Numbered(at, number, thread)
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        return Numbered(place[np.flatnonzero(has_arguments)[at]], number, thread)


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
