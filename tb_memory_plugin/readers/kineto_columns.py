"""Events of a Kineto trace, sorted into columns as they come by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.kineto_instants import Instants
from tb_memory_plugin.readers.kineto_spans import Spans
from tb_memory_plugin.readers.kineto_times import TIMES
from tb_memory_plugin.readers.trace_stream import NOT_JSON, Event

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


class OpArgs(msgspec.Struct, gc=False):
    """What is looked at of an operator's arguments."""

    calls: str = msgspec.field(name="Call stack", default="")


_CALLS = b'"Call stack"'
_op_arguments = msgspec.json.Decoder(OpArgs).decode


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
        codes = {category: spans.kinds.code(kind) for category, kind in KINDS.items()}
        op = spans.kinds.code("op")
        name_of, track_of = spans.names.code, spans.tracks.code
        names: list[int] = []
        kinds: list[int] = []
        tracks: list[int] = []
        begins: list[Any] = []
        lengths: list[Any] = []
        before = len(spans)
        for event in batch:
            if event.ph == "X":
                category = event.cat
                kind = codes.get(category) if category else None
                if kind is None:
                    kind = codes.get(category.lower()) if category else None
                    if kind is None:
                        continue
                if type(event.ts) not in TIMES or type(event.dur) not in TIMES:
                    self.strange_times += 1
                    continue
                names.append(name_of(event.name or ""))
                kinds.append(kind)
                tracks.append(track_of((str(event.pid), str(event.tid))))
                begins.append(event.ts)
                lengths.append(event.dur)
                if kind == op:
                    arguments = bytes(event.args)
                    if _CALLS in arguments:
                        row = before + len(names) - 1
                        spans.called[row] = spans.calls.code(_called(arguments))
            elif event.name == "[memory]" or event.name == "[OutOfMemory]":
                if type(event.ts) not in TIMES:
                    self.strange_times += 1
                    continue
                (self.memory if event.name == "[memory]" else self.failures).add(event)
        spans.add(names, kinds, tracks, begins, lengths)
        self.memory.settle()
        self.failures.settle()


def _called(arguments: bytes) -> str:
    """The Python calls that an operator's arguments name, innermost first, between semicolons."""
    try:
        return _op_arguments(arguments).calls
    except NOT_JSON:
        return ""


def step_of(name: str) -> int | None:
    """The number of the step that a span of this name is; None for another span."""
    found = _STEP.match(name)
    return None if found is None else int(found[1])


def module_of(name: str) -> str | None:
    """The module that a Python call of this name is the call of; None for another call."""
    return text(name[len(_MODULE) :]) if name.startswith(_MODULE) else None
