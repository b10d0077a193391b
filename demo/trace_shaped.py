"""What PyTorch's profiler would have exported of a run whose memory a simulated GPU held.

The blocks are those of the simulated allocator, the spans those of the recording, and the clock is
another one than that of the snapshot: it shows less, and it is slower. With the snapshot it is a
pair of recordings of one process that have nothing in common but the addresses.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from allocator import CachingAllocator

from tb_memory_plugin.analysis.nesting import innermost
from tb_memory_plugin.api import LoadedRecording

Json = dict[str, Any]

#: What the profiler calls them.
CATEGORIES = {
    "op": "cpu_op",
    "module": "python_function",
    "python": "python_function",
    "annotation": "user_annotation",
    "step": "user_annotation",
}
_CUDA = 1  # c10::DeviceType


@dataclass(frozen=True)
class Clock:
    """Shows ``behind`` ns less, when the profiler starts, and then loses ``slower`` millionths."""

    behind: int = 2_345_678_901
    slower: int = 25

    def at(self, time: int, start: int) -> int:
        """What it shows at ``time``; both in ns."""
        return time - self.behind - (time - start) * self.slower // 1_000_000


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


def write(loaded: LoadedRecording, memory: Memory, path: Path, clock: Clock | None = None) -> None:
    """Write the trace of what ``memory`` took down and of the run's spans up to then."""
    shown = clock or Clock()
    origin = loaded.recording.meta["time_origin_ns"]
    spans = [row for row in loaded.table("spans").to_pylist() if row["kind"] in CATEGORIES]
    start, last = memory.moved[0][0], memory.moved[-1][0]
    threads = _threads(spans)
    begun = [
        (span, origin + span["begin"]) for span in spans if origin + (span["begin"] or 0) <= last
    ]
    base = shown.at(min([start, *(begin for _, begin in begun)]), start) // 1_000 * 1_000

    def stamp(time: int) -> float:
        return (shown.at(time, start) - base) / 1_000

    events: list[Json] = []
    for span, begin in begun:
        end = last if span["end"] is None else min(origin + span["end"], last)
        about = {"name": _name(span), "cat": CATEGORIES[span["kind"]], "pid": 1}
        times = {"ts": stamp(begin), "dur": round(stamp(end) - stamp(begin), 3)}
        events.append({"ph": "X", **about, "tid": threads[span["track"]], **times})
    at = _innermost(spans, origin, [time for time, *_ in memory.moved])
    main = max(threads.values(), key=[threads[span["track"]] for span in spans].count, default=1)
    for number, (time, address, size, allocated, reserved) in enumerate(memory.moved):
        around = at[number]
        args = {"Device Type": _CUDA, "Device Id": 0, "Bytes": size, "Addr": address}
        totals = {"Total Allocated": allocated, "Total Reserved": reserved, "Ev Idx": number}
        event = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1}
        thread = main if around < 0 else threads[spans[around]["track"]]
        events.append({**event, "tid": thread, "ts": stamp(time), "args": {**args, **totals}})
    made = {"schemaVersion": 1, "baseTimeNanoseconds": base, "traceEvents": events}
    path.write_text(json.dumps(made))


def _name(span: Json) -> str:
    if span["kind"] == "step":
        return f"ProfilerStep#{span['step']}"
    return f"nn.Module: {span['name']}" if span["kind"] == "module" else str(span["name"])


def _threads(spans: list[Json]) -> dict[str, int]:
    """Numbers of threads by track; what is no thread's, as steps are, is the main one's."""
    tracks = dict.fromkeys(span["track"] for span in spans if span["kind"] == "op")
    numbers = {track: number for number, track in enumerate(tracks, start=1)}
    counts = {track: sum(span["track"] == track for span in spans) for track in tracks}
    main = numbers[max(counts, key=lambda track: counts[track])] if counts else 1
    return {span["track"]: numbers.get(span["track"], main) for span in spans}


def _innermost(spans: list[Json], origin: int, moments: list[int]) -> list[int]:
    """The operator, of any thread, that every moment is in, -1 for none."""
    rows = [n for n, span in enumerate(spans) if span["kind"] == "op" and span["end"] is not None]
    begin, end = (np.array([origin + spans[n][name] for n in rows]) for name in ("begin", "end"))
    found = innermost(begin, end, np.array(moments, dtype=np.int64))
    return [rows[place] if place >= 0 else -1 for place in found.tolist()]
