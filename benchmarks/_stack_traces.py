"""Traces as PyTorch's profiler writes them with ``with_stack=True``, of any length, to a file.

As in recorded ones nine of ten events are calls of Python, some forty deep, and events come by
kind: first all operators, then what the allocator did, then all calls, so that nothing can be
attributed before the end. Four threads work at the same time.
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

_THREADS = 4
#: Calls that last as long as the thread does, calls around every operator, modules among those.
_OUTER, _INNER, _MODULES = 24, 15, (1, 5, 9)
_SLOT = 64.0  # microseconds from one operator of a thread to the next
_START = 4_909_733_316_309
_SELDOM = 7  # one of so many operators allocates
_ALIVE = 200  # operators after which that is freed
_INSTANT = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]"}


def make(path: Path, bytes_: int) -> int:
    """Write a trace of about so many bytes to ``path`` (``.gz``: compressed).

    How many events it has.
    """
    sample = list(_lines(1_000))
    operators = 1_000 * bytes_ // sum(map(len, sample))
    written = 0
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        file.write(b'{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [\n')
        lines = _lines(operators)
        while batch := list(itertools.islice(lines, 4_096)):
            file.write(b"".join(batch))
            written += len(batch)
        file.write(b'  {"ph": "i", "name": "Record Window End", "ts": 1}\n  ],\n')
        file.write(b'  "traceName": "made"\n}\n')
    return written


def _lines(operators: int) -> Iterator[bytes]:
    yield from _operators(operators)
    yield from _memory(operators)
    yield from _calls(operators)


def _begin(operator: int) -> float:
    return _START + _SLOT * (operator // _THREADS)


def _operators(count: int) -> Iterator[bytes]:
    for number in range(count):
        name, thread = f"aten::op_{number % 90}", number % _THREADS
        more = {"External id": number, "Ev Idx": number}
        yield _span("cpu_op", name, _begin(number) + _INNER + 1, _SLOT / 4, thread, more)


def _memory(count: int) -> Iterator[bytes]:
    total = 4 << 30
    for number in range(count):
        for operator, sign in ((number, 1), (number - _ALIVE, -1)):
            if operator < 0 or operator % _SELDOM:
                continue
            size = sign * 512 * (1 + operator * 7919 % 4_096)
            total += size
            where = {"Device Id": 0, "Device Type": 1, "Addr": (7 << 44) + (operator << 21)}
            told = {"Total Reserved": 16 << 30, "Total Allocated": total, "Bytes": size}
            thread = number % _THREADS
            event = {
                **_at(_begin(number) + _INNER + 2 + thread / 2 + (sign < 0) / 4, thread),
                **_INSTANT,
                "args": {**told, **where},
            }
            yield _text(event)


def _calls(count: int) -> Iterator[bytes]:
    ids = itertools.count()
    whole = _SLOT * (count // _THREADS + 1) + 2 * _OUTER
    for thread in range(_THREADS):
        outermost: int | None = None
        for depth in range(_OUTER):
            name = f"train/loop_{depth}.py({10 * depth}): outer_{depth}"
            called = {"Python parent id": outermost, "Python id": (outermost := next(ids))}
            begin, took = _START - _OUTER + depth, whole - 2 * depth
            yield _span("python_function", name, begin, took, thread, called)
        for operator in range(thread, count, _THREADS):
            caller = outermost
            for depth in range(_INNER):
                name = f"model/layers.py({operator % 700}): call_{depth}"
                called = {"Python parent id": caller, "Python id": (caller := next(ids))}
                if depth in _MODULES:
                    name = f"nn.Module: Block{depth}_{operator % 48}"
                    called["Python module id"] = operator % 48
                begin, took = _begin(operator) + depth, _SLOT - 1 - 2 * depth
                yield _span("python_function", name, begin, took, thread, called)


def _span(
    category: str, name: str, begin: float, took: float, thread: int, more: Mapping[str, int | None]
) -> bytes:
    kind = {"ph": "X", "cat": category, "name": name}
    return _text({**kind, **_at(begin, thread), "dur": took, "args": more})


def _at(time: float, thread: int) -> dict[str, float]:
    return {"pid": 4242, "tid": 4242 + thread, "ts": time}


def _text(event: object) -> bytes:
    return b"  " + json.dumps(event).encode() + b",\n"
