"""A Kineto trace's columns to the tables of a recording."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.kineto_columns import (
    Columns,
    Instants,
    Spans,
    nanoseconds,
    step_of,
)
from tb_memory_plugin.readers.kineto_memory import History
from tb_memory_plugin.readers.kineto_nesting import Nested, nested
from tb_memory_plugin.readers.kineto_stacks import Surroundings, modules
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import Action, BlockState

#: Kinds of spans that everything can be on top of, and that are kept as spans.
_SHOWN = ("op", "annotation", "step", "module", "kernel")


class Program:
    """What the program did: the spans of a trace, nested, and what they say of an instant."""

    def __init__(self, columns: Columns) -> None:
        spans = columns.spans
        values = spans.columns()
        self.nested: Nested = nested(values["track"], values["begin"], values["end"])
        order = self.nested.order
        self._name = values["name"][order]
        self._track = values["track"][order]
        self._names = spans.names.words
        self._tracks = spans.tracks.words
        self._kinds = ["op", "annotation", "python", "kernel", "step", "module"]
        code = [self._kinds.index(kind) for kind in spans.kinds.words]
        kind = np.array(code, dtype=np.int8)[values["kind"][order]] if code else values["kind"]
        self._steps = [step_of(name) for name in self._names]
        self._modules = modules(self._names)
        is_step = np.array([step is not None for step in self._steps], dtype=bool)
        is_module = np.array([module is not None for module in self._modules], dtype=bool)
        if len(kind):
            host = kind != self._kinds.index("kernel")
            kind = np.where(host & is_step[self._name], self._kinds.index("step"), kind)
            python = kind == self._kinds.index("python")
            kind = np.where(python & is_module[self._name], self._kinds.index("module"), kind)
        self._kind = kind
        self._knows_calls = bool(spans.called)
        self.around = Surroundings(self.nested, self._name, self._names, self._called(spans))

    def _called(self, spans: Spans) -> dict[int, str]:
        """By row the Python calls that an operator was made in."""
        calls = spans.calls.words
        place = np.empty(len(self.nested.order), dtype=np.int64)
        place[self.nested.order] = np.arange(len(place))
        return {int(place[row]): calls[code] for row, code in spans.called.items()}

    def at(self, instants: Instants) -> IntArray:
        """The row of the innermost span of its thread at each instant, -1 for none."""
        return self.nested.enclosing(
            np.array(instants.track, dtype=np.int64), nanoseconds(instants.time)
        )

    def op(self, rows: IntArray) -> list[str | None]:
        """The innermost operator around every row."""
        found = self.around.nearest(rows, self._kind == self._kinds.index("op"))
        return [None if row < 0 else text(self._names[self._name[row]]) for row in found.tolist()]

    def module(self, rows: IntArray) -> list[str | None]:
        """The innermost module around every row."""
        found = self.around.nearest(rows, self._kind == self._kinds.index("module"))
        return [None if row < 0 else self._modules[self._name[row]] for row in found.tolist()]

    @property
    def has_steps(self) -> bool:
        """Whether a step is marked."""
        return bool((self._kind == self._kinds.index("step")).any())

    @property
    def has_python(self) -> bool:
        """Whether Python calls are known."""
        kinds = [self._kinds.index("python"), self._kinds.index("module")]
        return self._knows_calls or bool(np.isin(self._kind, kinds).any())

    def first(self) -> int | None:
        """When the first span begins."""
        return int(self.nested.begin.min()) if len(self.nested.begin) else None

    def _depths(self) -> IntArray:
        """How many spans of its own kind each span is inside of."""
        depth = np.zeros(len(self._kind), dtype=np.int32)
        for kind in range(len(self._kinds)):
            of_kind = self._kind == kind
            rows = np.flatnonzero(of_kind)
            outer = self.around.nearest(self.nested.parent[rows], of_kind)
            inside = np.flatnonzero(outer >= 0)
            for row, around in zip(rows[inside].tolist(), outer[inside].tolist(), strict=True):
                depth[row] = depth[around] + 1
        return depth

    def table(self, origin: int) -> pa.Table:
        """The table ``spans``: all but Python calls that are of no module."""
        shown = np.isin(self._kind, [self._kinds.index(kind) for kind in _SHOWN])
        rows = np.flatnonzero(shown)
        parent = self.around.nearest(self.nested.parent, shown)[rows]
        place = np.cumsum(shown) - 1
        steps = [-1 if step is None else step for step in self._steps]
        step = np.array(steps, dtype=np.int64)[self._name[rows]] if len(rows) else rows
        step = np.where(self._kind[rows] == self._kinds.index("step"), step, -1)
        words = [text(name) for name in self._names]
        return builder.table(
            "spans",
            {
                "track": arrays.text(self._track[rows], _track_names(self._tracks)),
                "kind": arrays.text(self._kind[rows], self._kinds),
                "name": arrays.text(self._name[rows], words),
                "begin": self.nested.begin[rows] - origin,
                "end": self.nested.end[rows] - origin,
                "depth": self._depths()[rows],
                "parent": (np.where(parent >= 0, place[parent], 0), parent < 0),
                "step": (step, step < 0),
            },
        )


def _track_names(tracks: Sequence[Any]) -> list[str]:
    return [
        text(f"thread {tid}" if pid == tid else f"process {pid} thread {tid}")
        for pid, tid in tracks
    ]


def tables(found: Sequence[History], program: Program, at: IntArray, origin: int) -> dict[str, Any]:
    """The tables of events; ``at`` is the row of the program around every event of the file."""
    counts = [len(history.rows) for history in found]
    device = np.repeat(np.arange(len(found), dtype=np.int16), counts)
    event = np.concatenate([np.arange(count, dtype=np.int64) for count in counts])
    moved = np.concatenate([history.bytes for history in found])
    address = np.concatenate([history.address for history in found])
    around = at[np.concatenate([history.rows for history in found])]
    stack = program.around.stacks(around)
    born = np.flatnonzero(moved >= 0)
    return {
        "events": builder.table(
            "events",
            {
                "device": device,
                "time": np.concatenate([history.time for history in found]) - origin,
                "action": np.where(moved < 0, int(Action.FREE_COMPLETED), int(Action.ALLOC)),
                "address": address,
                "size": np.abs(moved),
                "stack": (stack, stack < 0),
            },
        ),
        "labels": builder.table(
            "labels",
            {
                "device": device[born],
                "event": event[born],
                "address": address[born],
                "op": program.op(around[born]),
                "module": program.module(around[born]),
            },
        ),
        "reported": _reported(found),
        "blocks": _rest(found),
        "spans": program.table(origin),
        **program.around.tables(),
    }


def _reported(found: Sequence[History]) -> pa.Table:
    """The allocator's totals after every event, of the devices that have both."""
    totals = [
        (place, history.allocated, history.reserved)
        for place, history in enumerate(found)
        if history.allocated is not None and history.reserved is not None
    ]
    none = np.zeros(0, dtype=np.int64)
    return builder.table(
        "reported",
        {
            "device": np.repeat(
                np.array([place for place, *_ in totals], dtype=np.int16),
                [len(allocated) for _, allocated, _ in totals],
            ),
            "event": np.concatenate([none, *(np.arange(len(each)) for _, each, _ in totals)]),
            "allocated": np.concatenate([none, *(allocated for _, allocated, _ in totals)]),
            "reserved": np.concatenate([none, *(reserved for *_, reserved in totals)]),
        },
    )


def _rest(found: Sequence[History]) -> pa.Table:
    """What was alive before the window and is at its end, as far as its sum is known: one block."""
    places = [place for place, history in enumerate(found) if history.rest]
    return builder.table(
        "blocks",
        {
            "device": np.array(places, dtype=np.int16),
            "size": np.array([found[place].rest for place in places], dtype=np.int64),
            "state": np.full(len(places), int(BlockState.ACTIVE), dtype=np.uint8),
        },
    )


def marks(failures: Instants, found: Sequence[History], origin: int) -> pa.Table:
    """The table ``marks``: allocations that failed."""
    times = nanoseconds(failures.time)
    places = {history.key: place for place, history in enumerate(found)}
    rows = []
    for time, kind, ordinal, size in zip(
        times.tolist(),
        failures.column("device_type"),
        failures.column("device"),
        failures.column("bytes"),
        strict=True,
    ):
        place = places.get(f"{kind}:{ordinal}")
        if place is not None:
            event = int(np.searchsorted(found[place].time, time, side="right")) - 1
            rows.append((place, event, time - origin, abs(size)))
    rows.sort()
    return builder.table(
        "marks",
        {
            "device": np.array([row[0] for row in rows], dtype=np.int16),
            "event": np.array([row[1] for row in rows], dtype=np.int64),
            "time": np.array([row[2] for row in rows], dtype=np.int64),
            "kind": ["out_of_memory"] * len(rows),
            "text": [f"An allocation of {row[3]} bytes failed" for row in rows],
            "values": [json.dumps({"requested": row[3]}) for row in rows],
        },
    )
