"""Events of a Kineto trace, sorted into columns as they come by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.kineto_args import BETWEEN, Arguments
from tb_memory_plugin.readers.kineto_flows import PHASES, Flow, Flows
from tb_memory_plugin.readers.kineto_instants import Instants
from tb_memory_plugin.readers.kineto_kinds import PYTHON, RUNTIME, kind_of
from tb_memory_plugin.readers.kineto_sequences import Sequences
from tb_memory_plugin.readers.kineto_spans import Spans
from tb_memory_plugin.readers.kineto_times import TIMES
from tb_memory_plugin.readers.kineto_work import Work, correlations
from tb_memory_plugin.readers.trace_stream import NOT_JSON, Event
from tb_memory_plugin.recording.vocabulary import Vocabulary

_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,9})")
_MODULE = "nn.Module: "


class OpArgs(msgspec.Struct, gc=False):
    """What is looked at of an operator's arguments."""

    calls: str = msgspec.field(name="Call stack", default="")


_CALLS = b'"Call stack"'
_op_arguments = msgspec.json.Decoder(OpArgs).decode


class Columns:
    """A trace's spans, arrows and allocator events.

    ``spans`` are what the program did, ``work`` what it had devices do; their names, tracks and
    arguments are codes of the same words. By row of ``spans``, ``called`` is the code in ``calls``
    of the Python calls that an operator was made in, where it says so (until torch 1.13).
    ``sequences`` are numbers of operators, where no arrow says what is the backward of what.
    ``strange_times`` events have no valid time stamp and are left out; ``mended`` pieces of the
    file were not quite JSON.
    """

    def __init__(self) -> None:
        self.names, self.tracks, self.calls = Vocabulary(), Vocabulary(), Vocabulary()
        self.arguments = Arguments()
        self.spans, self.work, self.flows = Spans(), Work(), Flows()
        self.called: dict[int, int] = {}
        self.sequences = Sequences()
        self.memory, self.failures = Instants(self.tracks), Instants(self.tracks)
        self.strange_times = 0
        self.mended = 0
        self._kinds: dict[str | None, int] = {}
        self._tracks: dict[Any, int] = {}  # as the file writes them

    def add(self, batch: Iterable[Event]) -> None:
        """Take in a batch. Raises Malformed."""
        kinds, names = self._kinds, self.names.codes
        spans, work = _Batch(), _Batch()
        rows, made = spans.rows, work.rows
        flows: list[Flow] = []
        before = len(self.work)
        behind = -1  # the row of work that was the last event which took time, if it was one
        for event in batch:
            phase = event.ph
            if phase == "X":
                behind = -1
                kind = kinds.get(event.cat)
                if kind is None:
                    kind = kinds[event.cat] = kind_of(event.cat)
                if kind < 0:
                    continue
                if type(event.ts) not in TIMES or type(event.dur) not in TIMES:
                    self.strange_times += 1
                    continue
                track = self._track(event)
                row = (names.setdefault(event.name or "", len(names)), kind, track)
                if kind < RUNTIME:
                    if kind != PYTHON:  # whose arguments are ids
                        spans.add(event.args)
                    rows.append((*row, event.ts, event.dur))
                else:
                    self.work.meet(track, kind, event.args)
                    behind = before + len(made)
                    work.add(event.args)
                    made.append((*row, event.ts, event.dur))
            elif phase in PHASES:
                flows.append((event.id, event.cat, phase, self._track(event), event.ts, behind))
            elif event.name == "[memory]" or event.name == "[OutOfMemory]":
                if type(event.ts) not in TIMES:
                    self.strange_times += 1
                    continue
                (self.memory if event.name == "[memory]" else self.failures).add(event)
        if rows:
            self._take_calls(spans)
            self.sequences.add(spans.texts, spans.joined())
            self._take(self.spans, spans)
        if made:
            self._take(self.work, work, correlation=correlations(work.texts))
        self.flows.add(flows, self.work)
        if self.flows.tell_backwards:
            self.sequences.drop()
        self.memory.settle()
        self.failures.settle()

    def _track(self, event: Event) -> int:
        key = event.pid, event.tid
        track = self._tracks.get(key)
        if track is None:
            track = self._tracks[key] = self.tracks.code((str(event.pid), str(event.tid)))
        return track

    def _take_calls(self, batch: _Batch) -> None:
        """Keep the Python calls that operators of a batch were made in."""
        if _CALLS not in batch.joined():
            return
        for place, said in zip(batch.places, batch.texts, strict=True):
            if _CALLS in said:
                self.called[len(self.spans) + place] = self.calls.code(_called(said))

    def _take(self, spans: Spans, batch: _Batch, **more: list[int]) -> None:
        name, kind, track, begin, length = zip(*batch.rows, strict=True)
        args = np.full(len(name), -1, dtype=np.int32)
        if batch.places:
            args[batch.places] = self.arguments.codes(batch.joined())
        spans.add(begin, length, name=name, kind=kind, track=track, args=args, **more)


class _Batch:
    """Rows of spans as they are found, and the arguments of those, by place, that have any."""

    def __init__(self) -> None:
        #: Codes of name, kind and track; ts and dur of the file.
        self.rows: list[tuple[int, int, int, Any, Any]] = []
        self.places: list[int] = []
        self.texts: list[bytes] = []

    def add(self, arguments: msgspec.Raw) -> None:
        """The arguments of the row that is about to be added."""
        self.places.append(len(self.rows))
        self.texts.append(bytes(arguments) or b"{}")

    def joined(self) -> bytes:
        """All arguments, as :meth:`Arguments.codes` takes them."""
        return BETWEEN.join(self.texts)


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
