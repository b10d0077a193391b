"""Programs of any length as recordings: threads of nested calls, kernels, and what is allocated.

Two threads call modules, operators in them and operators in those, five deep, in steps; a stream
runs kernels that the operators launched. Everything is made as columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tb_memory_plugin.recording import arrays, builder, nesting
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action

Numbers = npt.NDArray[np.int64]

#: Nanoseconds from one innermost operator of a thread to the next; calls that one is around.
_SLOT, _BELOW, _DEPTH = 10_000, 4, 5
_OPS, _MODULES, _KERNELS = 400, 40, 60
_STEPS = 100
_TRACKS = ["thread 1", "thread 2", "cuda:0 stream 7"]
_KINDS = ["op", "module", "kernel", "step"]
_OP, _MODULE, _KERNEL, _STEP = range(4)


@dataclass
class _Spans:
    track: Numbers
    kind: Numbers
    name: Numbers
    begin: Numbers
    end: Numbers


def program(events: int, spans: int | None = None) -> Recording:
    """A recording of so many events of memory, and as many spans or ``spans``; nothing derived."""
    count = events if spans is None else spans
    chance = np.random.default_rng(5)
    parts = [_thread(chance, 0, count // 2), _thread(chance, 1, count // 4)]
    launched = parts[0]
    ops = np.flatnonzero(launched.kind == _OP)[: count // 4]
    kernels = _kernels(chance, launched.begin[ops])
    whole = [*parts, kernels]
    track, kind, name, begin, end = (
        np.concatenate([getattr(part, column) for part in whole])
        for column in ("track", "kind", "name", "begin", "end")
    )
    order = nesting.in_order(track, begin, end)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    track, kind, name, begin, end = (each[order] for each in (track, kind, name, begin, end))
    nested = nesting.nested_in_order(track, begin, end)
    first_kernel = len(parts[0].track) + len(parts[1].track)
    steps = np.where(kind == _STEP, name - (_OPS + _MODULES + _KERNELS), -1)
    tables = {
        "events": _events(chance, events, nested, int(end.max())),
        "spans": builder.table(
            "spans",
            {
                "device": (np.where(kind == _KERNEL, 0, -1), kind != _KERNEL),
                "track": arrays.text(track, _TRACKS),
                "kind": arrays.text(kind, _KINDS),
                "name": arrays.text(name, _names()),
                "begin": begin,
                "end": end,
                "parent": (nested.parent, nested.parent < 0),
                "step": (steps, steps < 0),
            },
        ),
        "links": builder.table(
            "links",
            {
                "source": place[ops],
                "target": place[first_kernel + np.arange(len(ops))],
                "kind": arrays.text(np.zeros(len(ops), dtype=np.int32), ["launch"]),
            },
        ),
    }
    device = {"key": "0", "name": "cuda:0"}
    about = {"format": "made", "basis": "size", "devices": [device], "time_origin_ns": 0}
    return builder.recording(about, tables)


def _names() -> list[str]:
    return [
        *(f"aten::operation_{number}" for number in range(_OPS)),
        *(f"Block_{number}" for number in range(_MODULES)),
        *(f"void kernel_{number}<float, 4>(float*, int)" for number in range(_KERNELS)),
        *(f"ProfilerStep#{number}" for number in range(_STEPS)),
    ]


def _thread(chance: np.random.Generator, track: int, count: int) -> _Spans:
    """Innermost operators one after the other, and around every few of them another call."""
    leaves = max(int(count * (1 - 1 / _BELOW)), _BELOW)
    begin = np.arange(leaves) * _SLOT + chance.integers(0, 2_000, leaves)
    end = begin + chance.integers(500, 7_000, leaves)
    begins, ends = [begin], [end]
    for _ in range(_DEPTH):
        first = np.arange(0, len(begins[-1]), _BELOW)
        last = np.minimum(first + _BELOW, len(begins[-1])) - 1
        begins, ends = [*begins, begins[-1][first] - 9], [*ends, ends[-1][last] + 9]
    kinds = [np.full(len(each), _MODULE if at > 3 else _OP) for at, each in enumerate(begins)]
    if track == 0:
        # Around outermost calls, as many in each.
        first = np.linspace(0, len(begins[-1]), _STEPS + 1).astype(np.int64)
        first, last = first[:-1], first[1:] - 1
        begins, ends = [*begins, begins[-1][first] - 9], [*ends, ends[-1][last] + 9]
        kinds.append(np.full(_STEPS, _STEP))
    kind = np.concatenate(kinds)
    first_name = np.array([0, _OPS, _OPS + _MODULES, _OPS + _MODULES + _KERNELS])[kind]
    names = np.array([_OPS, _MODULES, _KERNELS, _STEPS])[kind]
    name = first_name + chance.integers(0, names)
    name[kind == _STEP] = first_name[kind == _STEP] + np.arange((kind == _STEP).sum())
    return _Spans(
        np.full(len(kind), track), kind, name, np.concatenate(begins), np.concatenate(ends)
    )


def _kernels(chance: np.random.Generator, launched: Numbers) -> _Spans:
    """One a launch, after it, none before the one before has ended."""
    length = chance.integers(500, 4_000, len(launched))
    ready = np.sort(launched) + 5_000
    done = np.cumsum(length)
    begin = np.maximum.accumulate(ready - (done - length)) + done - length
    count = len(launched)
    name = _OPS + _MODULES + chance.integers(0, _KERNELS, count)
    return _Spans(np.full(count, 2), np.full(count, _KERNEL), name, begin, begin + length)


def _events(chance: np.random.Generator, count: int, nested: nesting.Nested, until: int) -> object:
    """Allocations on either thread that live for some operators, each in the span that is then."""
    made = count // 2
    birth = np.sort(chance.integers(0, until, made))
    death = birth + chance.integers(1, 200, made) * 2 * _SLOT
    thread = np.tile(chance.integers(0, 2, made), 2)
    time = np.concatenate([birth, death])
    order = np.argsort(time, kind="stable")
    at = nested.enclosing(thread, time)[order]
    actions = np.repeat([int(Action.ALLOC), int(Action.FREE_COMPLETED)], made)
    return builder.table(
        "events",
        {
            "device": np.zeros(2 * made, dtype=np.int16),
            "time": time[order],
            "action": actions.astype(np.uint8)[order],
            "address": (np.tile(np.arange(made), 2)[order] + 8).astype(np.uint64) * 512,
            "size": np.tile(chance.integers(1, 4_096, made) * 512, 2)[order],
            "span": (at, at < 0),
        },
    )
