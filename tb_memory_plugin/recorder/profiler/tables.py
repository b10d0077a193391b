"""A ledger of profiler events, made into the recorded tables."""

from __future__ import annotations

import json
from array import array
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tb_memory_plugin.recorder.labels import Storage
from tb_memory_plugin.recorder.profiler.ledger import Ledger
from tb_memory_plugin.recorder.program import Program
from tb_memory_plugin.recorder.programspans import span_table
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.schema import BlockState
from tb_memory_plugin.recording.vocabulary import Vocabulary

Numbers = npt.NDArray[Any]
_ADDRESS = (1 << 64) - 1


def tables(ledger: Ledger, program: Program) -> dict[str, pa.Table]:
    """The tables of what ``ledger`` holds, times relative to the program's origin."""
    ordinals, events = _events(ledger, program.origin)
    return {
        "events": events,
        "labels": _labels(ledger, program, ordinals),
        "blocks": _blocks(ledger),
        "spans": span_table(program, ledger.spans),
        "links": builder.table(
            "links",
            {
                "source": _numbers(ledger.spans.sources),
                "target": _numbers(ledger.spans.targets),
                "kind": ["forward_backward"] * len(ledger.spans.sources),
            },
        ),
        "marks": _marks(ledger, program.origin, ordinals),
        **ledger.stacks.tables(),
    }


def _events(ledger: Ledger, origin: int) -> tuple[Numbers, pa.Table]:
    """The place of every event in its device's history, and the table."""
    events = ledger.events
    device = _numbers(events.device)
    order = np.argsort(device, kind="stable")
    ordinals = np.empty(len(device), dtype=np.int64)
    starts = np.searchsorted(device[order], device)
    ordinals[order] = np.arange(len(device))
    ordinals -= starts
    stack, forward = _numbers(events.stack)[order], _numbers(events.forward_stack)[order]
    span = _numbers(events.span)[order]
    table = builder.table(
        "events",
        {
            "device": device[order],
            "time": _numbers(events.time)[order] - origin,
            "action": _numbers(events.action)[order],
            "address": _numbers(events.address)[order],
            "size": _numbers(events.size)[order],
            "stack": (stack, stack < 0),
            "span": (span, span < 0),
            "forward_stack": (forward, forward < 0),
        },
    )
    return ordinals, table


def _labels(ledger: Ledger, program: Program, ordinals: Numbers) -> pa.Table:
    """A row a life: from before the window first, by address, then by birth."""
    lives, events = ledger.lives, ledger.events
    before = [*ledger.before.values(), *ledger.before_freed]
    known = _Words()
    rows = _numbers(lives.event)
    device = [ledger.devices.index(storage.device) for storage in before]
    device_column = np.concatenate(
        [np.array(device, dtype=np.int64), _numbers(events.device)[rows]]
    )
    event = np.concatenate([np.full(len(before), -1, dtype=np.int64), ordinals[rows]])
    address = np.concatenate(
        [
            np.array([storage.address for storage in before], dtype=np.uint64),
            _numbers(events.address)[rows],
        ]
    )
    order = np.lexsort((address, event, device_column))
    step = _steps(program, _numbers(events.time)[rows])
    step = np.concatenate([np.full(len(before), -1, dtype=np.int64), step])[order]
    guessed = np.concatenate([np.zeros(len(before), dtype=np.int8), _numbers(lives.guessed)])
    category = np.concatenate(
        [
            np.array([storage.name.category for storage in before], dtype=np.int64),
            _numbers(lives.category),
        ]
    )
    return builder.table(
        "labels",
        {
            "device": device_column[order],
            "event": event[order],
            "address": address[order],
            "category": category[order],
            "inferred": arrays.masked_booleans(guessed[order] != 0, np.zeros(len(order), bool)),
            "name": known.column(before, "name", lives.names, lives.name, order),
            "dtype": known.column(before, "dtype", lives.dtypes, lives.dtype, order),
            "shape": known.column(before, "shape", lives.shapes, lives.shape, order),
            "op": known.column(before, None, lives.ops, lives.op, order),
            "module": known.column(before, None, lives.modules, lives.module, order),
            "step": (step, step < 0),
        },
    )


class _Words:
    """Text columns of labels."""

    def column(
        self,
        before: list[Storage],
        attribute: str | None,
        vocabulary: Vocabulary,
        codes: array[int],
        order: Numbers,
    ) -> pa.Array:
        """The words of ``before`` followed by those of the lives, in ``order``."""
        first = [
            -1 if attribute is None else vocabulary.code(getattr(storage.name, attribute))
            for storage in before
        ]
        both = np.concatenate([np.array(first, dtype=np.int32), _numbers(codes)])
        return arrays.text(both[order], vocabulary.words)


def _steps(program: Program, times: Numbers) -> Numbers:
    """The number of the step that each moment lies in; -1 for none."""
    if not program.steps:
        return np.full(len(times), -1, dtype=np.int64)
    ends = np.array([span.end for span in program.steps], dtype=np.int64)
    begins = np.array([span.begin for span in program.steps], dtype=np.int64)
    numbers = np.array([span.step for span in program.steps], dtype=np.int64)
    place = np.minimum(np.searchsorted(ends, times), len(ends) - 1)
    inside = (times >= begins[place]) & (times <= ends[place])
    return np.where(inside, numbers[place], -1)


def _blocks(ledger: Ledger) -> pa.Table:
    """What is alive at the end, that from before the window included."""
    rows = [
        (key >> 64, key & _ADDRESS, ledger.events.size[event], ledger.events.stack[event])
        for key, life in ledger.live.items()
        for event in (ledger.lives.event[life],)
    ]
    rows += [
        (key >> 64, key & _ADDRESS, ledger.given(kept), -1) for key, kept in ledger.before.items()
    ]
    rows.sort()
    sizes = [row[2] for row in rows]
    return builder.table(
        "blocks",
        {
            "device": [row[0] for row in rows],
            "address": np.array([row[1] for row in rows], dtype=np.uint64),
            "size": sizes,
            "requested": sizes,
            "state": [int(BlockState.ACTIVE)] * len(rows),
            "stack": [row[3] if row[3] >= 0 else None for row in rows],
        },
    )


def _marks(ledger: Ledger, origin: int, ordinals: Numbers) -> pa.Table:
    """Failed allocations; the profiler does not say on which device, so only one can be named."""
    failures = ledger.failures
    device = 0 if len(ledger.devices) == 1 else None
    placed = [device is not None and failure.event >= 0 for failure in failures]
    return builder.table(
        "marks",
        {
            "device": [device] * len(failures),
            "event": [
                int(ordinals[failure.event]) if known else None
                for failure, known in zip(failures, placed, strict=True)
            ],
            "time": [failure.time - origin for failure in failures],
            "kind": ["out_of_memory"] * len(failures),
            "text": [failure.text or "an allocation failed" for failure in failures],
            "values": [json.dumps(failure.values) for failure in failures],
        },
    )


def _numbers(column: array[int]) -> Numbers:
    """A copy, so that the column can go on growing."""
    return np.array(column, dtype=column.typecode)
