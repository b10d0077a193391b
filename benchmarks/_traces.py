"""Traces of PyTorch's profiler of any length, streamed to a file: steps that allocate."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Of one training step, about as PyTorch writes them.
_OPS, _LAUNCHES = 1_130, 850
_HOST = {"pid": 4242, "tid": 4242}
_FLOW = {"cat": "ac2g", "name": "ac2g", **_HOST}


def make(path: Path, events: int | None = None, bytes_: int | None = None) -> int:
    """Write a trace of about so many events or bytes to ``path`` (``.gz``: compressed).

    How many events it has.
    """
    written = size = 0
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        file.write(b'{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [\n')
        waiting: list[bytes] = []
        for text in _events():
            waiting.append(text)
            size += len(text)
            written += 1
            if written % 4096 == 0:
                file.write(b"".join(waiting))
                waiting.clear()
            if written == events or (bytes_ is not None and size >= bytes_):
                break
        file.write(b"".join(waiting))
        file.write(b'  {"ph": "i", "name": "Record Window End", "ts": 1}\n  ],\n')
        file.write(b'  "traceName": "made"\n}\n')
    return written


def _events() -> Iterator[bytes]:
    chance = random.Random(7)
    step, time, total, index = 0, 4_909_733_316_309, 4 << 30, 0
    alive: list[tuple[int, int]] = []
    span, launch, kernel, memory = (
        _span("cpu_op"),
        _span("cuda_runtime"),
        _span("kernel"),
        _memory(),
    )
    begins, ends = _flow("s"), _flow("f")
    annotation = _span("user_annotation")
    while True:
        yield annotation % (f"ProfilerStep#{step}".encode(), time, 4 * _OPS, 0, 0)
        for op in range(_OPS):
            time += 4
            yield span % (b"aten::op_%d" % (op % 90), time, 3, op, op)
            if op < _LAUNCHES:
                yield launch % (b"cudaLaunchKernel", time + 0.25, 1.5, op, op)
                yield begins % (op, time + 0.25)
                yield ends % (op, time + 2.75)
                yield kernel % (b"void kernel<float>(int)", time + 2.75, 1.25, op, op)
            if op % 2:
                size, address = 512 * chance.randrange(1, 4_096), (7 << 44) + 512 * index
                alive.append((size, address))
            elif len(alive) > 200:
                size, address = alive.pop(chance.randrange(len(alive)))
                size = -size
            else:
                continue
            total += size
            index += 1
            yield memory % (time + 0.5, total, size, address, index)
        step += 1


def _span(category: str) -> bytes:
    """An event that took time, with places for name, ts, dur, External id and Ev Idx."""
    inputs = {"External id": "%d", "Ev Idx": "%d", "Input Dims": [[64, 256, 14, 14], [256]]}
    times = {"ts": "%r", "dur": "%r"}
    return _template({"ph": "X", "cat": category, "name": "%b", **_HOST, **times, "args": inputs})


def _memory() -> bytes:
    """An allocator's event, with places for ts, Total Allocated, Bytes, Addr and Ev Idx."""
    totals = {"Total Reserved": 16 << 30, "Total Allocated": "%d", "Bytes": "%d"}
    where = {"Device Id": 0, "Device Type": 1, "Addr": "%d", "Ev Idx": "%d"}
    kind = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]"}
    return _template({**kind, **_HOST, "ts": "%r", "args": {**totals, **where}})


def _flow(phase: str) -> bytes:
    """One end of an arrow, with places for id and ts."""
    more = {"bp": "e"} if phase == "f" else {}
    return _template({**_FLOW, "ph": phase, "id": "%d", "ts": "%r", **more})


def _template(fields: dict[str, Any]) -> bytes:
    text = "  " + json.dumps(fields, indent=2) + ",\n"
    for place in ("%d", "%r"):
        text = text.replace(f'"{place}"', place)
    return text.encode()
