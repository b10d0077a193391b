"""What PyTorch's profiler would have exported of a run whose memory a simulated GPU held.

The blocks are those of the simulated allocator, the spans those of the recording, what the GPU did
is made up (see ``traced``), and the clock is another one than that of the snapshot: it shows less,
and it is slower. With the snapshot it is a pair of recordings of one process that have nothing in
common but the addresses.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from allocator import CachingAllocator
from traced import Clock, Program, Writer, program, work
from traced.program import MAIN

from tb_memory_plugin.analysis.nesting import innermost
from tb_memory_plugin.api import LoadedRecording

Json = dict[str, Any]

_CUDA = 1  # c10::DeviceType


class Memory:
    """The ``[memory]`` events of a simulated allocator, taken down as it goes."""

    def __init__(self, allocator: CachingAllocator) -> None:
        self.moved: list[tuple[int, int, int, int, int]] = []
        self._allocator = allocator
        self._sizes: dict[int, int] = {}
        self._seen = 0
        self._allocated = self._reserved = 0

    def look(self, time: int) -> None:
        """Take down what the allocator did since the last time; it did so at ``time``."""
        entries = self._allocator.history.entries
        for place in range(self._seen, len(entries)):
            entry = entries[place]
            action = entry["action"]
            if action in ("segment_alloc", "segment_map"):
                self._reserved += entry["size"]
            elif action in ("segment_free", "segment_unmap"):
                self._reserved -= entry["size"]
            elif action in ("alloc", "free_completed"):
                self._move(action == "alloc", entry["addr"], time)
        self._seen = len(entries)

    def begin(self) -> None:
        """What there is by now was there before the profiler was started."""
        self.moved.clear()
        self._seen = 0

    def _move(self, birth: bool, address: int, time: int) -> None:
        if birth:
            size = self._sizes[address] = self._allocator.active[address].size
        else:
            size = -self._sizes.pop(address)
        self._allocated += size
        self.moved.append((time, address, size, self._allocated, self._reserved))


def write(
    loaded: LoadedRecording,
    memory: Memory,
    path: Path,
    *,
    capacity: int,
    clock: Clock | None = None,
) -> None:
    """Write the trace of what ``memory`` took down and of what the run did up to then."""
    shown = clock or Clock()
    start, last = memory.moved[0][0], memory.moved[-1][0]
    ran = program(loaded, start, last)
    base = shown.at(ran.begin, start) // 1_000 * 1_000

    def stamp(time: int) -> float:
        return (shown.at(time, start) - base) / 1_000

    writer = Writer(ran, stamp)
    events = [*writer.about(), *writer.program()]
    events += _memory(memory, ran, stamp, first=len(ran.spans))
    events += writer.python(first=len(ran.spans) + len(memory.moved))
    events += writer.device(work(ran))
    events += writer.backward()
    device = {"id": 0, "name": "Simulated GPU", "totalGlobalMem": capacity}
    asked = {"record_shapes": 1, "profile_memory": 1, "with_stack": 1, "with_modules": 1}
    about = {"schemaVersion": 1, "deviceProperties": [device], **asked}
    made = {**about, "baseTimeNanoseconds": base, "traceEvents": events}
    path.write_text(json.dumps(made, separators=(",", ":")))


def _memory(
    memory: Memory, ran: Program, stamp: Callable[[int], float], *, first: int
) -> list[Json]:
    """The events of memory, each on the thread that did it."""
    rows = [span for span in ran.spans.values() if span.kind == "op"]
    begin, end = (np.array([getattr(span, name) for span in rows]) for name in ("begin", "end"))
    times = np.array([time for time, *_ in memory.moved], dtype=np.int64)
    events: list[Json] = []
    for number, around in enumerate(innermost(begin, end, times).tolist()):
        time, address, size, allocated, reserved = memory.moved[number]
        args = {"Device Type": _CUDA, "Device Id": 0, "Bytes": size, "Addr": address}
        args |= {"Total Allocated": allocated, "Total Reserved": reserved}
        event = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1}
        thread = rows[around].thread if around >= 0 else MAIN
        events.append(
            {**event, "tid": thread, "ts": stamp(time), "args": {**args, "Ev Idx": first + number}}
        )
    return events
