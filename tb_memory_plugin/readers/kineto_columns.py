"""Events of a Kineto trace, sorted into columns as they come by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
import numpy as np

from tb_memory_plugin.readers.checked import Malformed, text
from tb_memory_plugin.readers.trace_stream import NOT_JSON, Event
from tb_memory_plugin.recording.arrays import IntArray

#: By category, as torch wrote it over the years, what a span is.
KINDS = {
    "cpu_op": "op",
    "operator": "op",
    "user_annotation": "annotation",
    "python_function": "python",
    "kernel": "kernel",
    "gpu_memcpy": "kernel",
    "gpu_memset": "kernel",
    "memcpy": "kernel",
    "memset": "kernel",
}
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,9})")
_MODULE = "nn.Module: "
_LATEST = 1 << 62  # nanoseconds: no time stamp is as late


class MemoryArgs(msgspec.Struct, gc=False):
    """The arguments of a ``[memory]`` event; those of the first era have three of them."""

    device_type: int = msgspec.field(name="Device Type", default=1)
    device: int = msgspec.field(name="Device Id", default=-1)
    bytes: int = msgspec.field(name="Bytes", default=0)
    address: int | None = msgspec.field(name="Addr", default=None)
    allocated: int | None = msgspec.field(name="Total Allocated", default=None)
    reserved: int | None = msgspec.field(name="Total Reserved", default=None)
    index: int | None = msgspec.field(name="Ev Idx", default=None)


class OpArgs(msgspec.Struct, gc=False):
    """What is looked at of an operator's arguments."""

    calls: str = msgspec.field(name="Call stack", default="")


_CALLS = b'"Call stack"'
_op_arguments = msgspec.json.Decoder(OpArgs).decode
_arguments = msgspec.json.Decoder(list[MemoryArgs]).decode


class Vocabulary:
    """Words and their codes, in order of appearance."""

    def __init__(self) -> None:
        self.codes: dict[Any, int] = {}

    def code(self, word: Any) -> int:
        """The code of ``word``."""
        return self.codes.setdefault(word, len(self.codes))

    @property
    def words(self) -> list[Any]:
        """The words, by code."""
        return list(self.codes)


class Spans:
    """What took time: a row each, in the order of the file. Times are nanoseconds of the file."""

    def __init__(self) -> None:
        self.names, self.kinds, self.tracks = Vocabulary(), Vocabulary(), Vocabulary()
        self.name: list[int] = []
        self.kind: list[int] = []
        self.track: list[int] = []
        self.begin: list[Any] = []
        self.length: list[Any] = []
        #: Of an operator the Python calls it was made in, where it says so (until torch 1.13).
        self.calls = Vocabulary()
        self.called: dict[int, int] = {}

    def columns(self) -> dict[str, IntArray]:
        """The columns as arrays: ``name``, ``kind``, ``track``, ``begin``, ``end``."""
        begin, length = nanoseconds(self.begin), nanoseconds(self.length)
        return {
            "name": np.array(self.name, dtype=np.int32),
            "kind": np.array(self.kind, dtype=np.int32),
            "track": np.array(self.track, dtype=np.int32),
            "begin": begin,
            "end": begin + np.maximum(length, 0),
        }


class Instants:
    """Events of the allocator: a row each, in the order of the file."""

    def __init__(self, tracks: Vocabulary) -> None:
        self.tracks = tracks
        self.track: list[int] = []
        self.time: list[Any] = []
        self._waiting: list[bytes] = []
        self._arguments: list[MemoryArgs] = []

    def add(self, event: Event) -> None:
        """One more."""
        self.track.append(self.tracks.code((str(event.pid), str(event.tid))))
        self.time.append(event.ts)
        self._waiting.append(bytes(event.args) or b"{}")

    def settle(self) -> None:
        """Decode the arguments of those that came since the last time. Raises Malformed."""
        if not self._waiting:
            return
        try:
            self._arguments += _arguments(b"[" + b",".join(self._waiting) + b"]")
        except NOT_JSON as error:
            raise Malformed(f"has a [memory] event that makes no sense: {error}") from None
        self._waiting.clear()

    def __len__(self) -> int:
        return len(self.track)

    def column(self, name: str) -> list[Any]:
        """One of the fields of :class:`MemoryArgs`, a value each."""
        return [getattr(one, name) for one in self._arguments]


class Columns:
    """A trace's spans and allocator events.

    ``strange_times`` of them have no valid time stamp and are left out; ``mended`` pieces of the
    file were not quite JSON.
    """

    def __init__(self) -> None:
        self.spans = Spans()
        self.memory = Instants(self.spans.tracks)
        self.failures = Instants(self.spans.tracks)
        self.strange_times = 0
        self.mended = 0

    def add(self, batch: Iterable[Event]) -> None:
        """Take in a batch. Raises Malformed."""
        spans = self.spans
        kinds = {category: spans.kinds.code(kind) for category, kind in KINDS.items()}
        op = spans.kinds.code("op")
        name_of, track_of = spans.names.code, spans.tracks.code
        names, kind_column, tracks = spans.name.append, spans.kind.append, spans.track.append
        begins, lengths = spans.begin.append, spans.length.append
        for event in batch:
            if event.ph == "X":
                category = event.cat
                kind = kinds.get(category) if category else None
                if kind is None:
                    kind = kinds.get(category.lower()) if category else None
                    if kind is None:
                        continue
                if type(event.ts) not in _TIMES or type(event.dur) not in _TIMES:
                    self.strange_times += 1
                    continue
                names(name_of(event.name or ""))
                kind_column(kind)
                tracks(track_of((str(event.pid), str(event.tid))))
                begins(event.ts)
                lengths(event.dur)
                if kind == op:
                    arguments = bytes(event.args)
                    if _CALLS in arguments:
                        spans.called[len(spans.name) - 1] = spans.calls.code(_called(arguments))
            elif event.name == "[memory]" or event.name == "[OutOfMemory]":
                if type(event.ts) not in _TIMES:
                    self.strange_times += 1
                    continue
                (self.memory if event.name == "[memory]" else self.failures).add(event)
        self.memory.settle()
        self.failures.settle()


def _called(arguments: bytes) -> str:
    """The Python calls that an operator's arguments name, innermost first, between semicolons."""
    try:
        return _op_arguments(arguments).calls
    except NOT_JSON:
        return ""


_TIMES = {int, float, Decimal}


def nanoseconds(micros: list[Any]) -> IntArray:
    """Microseconds (integers, floats, decimals) as integers of nanoseconds. Raises Malformed."""
    kinds = set(map(type, micros))
    try:
        if kinds <= {int}:
            found = np.array(micros, dtype=np.int64)
            if len(found) and max(abs(int(found.min())), int(found.max())) * 1000 > _LATEST:
                raise OverflowError
            return found * 1000
        if kinds <= {int, float}:
            exact = np.rint(np.array(micros, dtype=np.float64) * 1000)
            if len(exact) and not np.abs(exact).max() <= _LATEST:
                raise OverflowError
            return exact.astype(np.int64)
        return np.array([int((Decimal(each) * 1000).to_integral_value()) for each in micros], "i8")
    except (OverflowError, InvalidOperation):
        raise Malformed("has time stamps that are none") from None


def step_of(name: str) -> int | None:
    """The number of the step that a span of this name is; None for another span."""
    found = _STEP.match(name)
    return None if found is None else int(found[1])


def module_of(name: str) -> str | None:
    """The module that a Python call of this name is the call of; None for another call."""
    return text(name[len(_MODULE) :]) if name.startswith(_MODULE) else None
