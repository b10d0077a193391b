"""The trace of 2 000 000 spans and 1 000 000 allocations through HTTP, and the memory it takes.

A real TensorBoard serves a recording that is in the cache already: random windows of every zoom of
all tracks, with and without a search, from the first one after the start (cold) and again (warm);
memory by span of everything (once and again) and of random windows; steps laid over each other;
spans and allocations explained. The alternative looks at all spans for every window, as a viewer
without lanes in order has to: which are in it, which of those share a pixel, how long these last
and what they allocated; without a request, an answer or its bytes.

    python -m benchmarks.http_trace [--events N] [--queries N]
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._http import Asked, memory_without, run, serving
from benchmarks._programs import program
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.trace.memory import memory_of
from tb_memory_plugin.recording.recording import Recording

_WIDTH = 1600
_DEEPEST = 18  # halvings of the whole
_SCANS = 10


def windows(recording: Recording, count: int, seed: int) -> Iterator[dict[str, int]]:
    """Random windows of time, from the whole down to some microseconds."""
    chance = random.Random(seed)
    end = int(recording.values("span_tracks", "end").max())
    for _ in range(count):
        length = max(int(end * 2 ** -chance.uniform(0, _DEEPEST)), 2)
        begin = chance.randint(0, end - length)
        yield {"begin": begin, "end": begin + length}


def scanned(recording: Recording, begin: int, end: int) -> float:
    """Seconds to find the same items, and the same numbers of each, by looking at every span."""
    (device,) = recording.devices
    begins, ends, track, depth = (
        recording.values("spans", name) for name in ("begin", "end", "track", "depth")
    )
    start = time.perf_counter()
    pixel = 1 << max(((end - begin) // _WIDTH).bit_length() - 1, 0)
    seen = np.flatnonzero((ends >= begin) & (begins < end))
    seen = seen[np.lexsort((begins[seen], depth[seen], track[seen]))]
    lasts, column = ends[seen] - begins[seen], begins[seen] // pixel
    new = lasts >= pixel
    for values in (column, depth[seen], track[seen]):
        new[1:] |= values[1:] != values[:-1]
    new[:1] = True
    first = np.flatnonzero(new)
    memory = memory_of(recording, device, seen)
    if len(first):
        for values in (lasts, memory["allocated"] - memory["freed"]):
            np.add.reduceat(values, first)
        np.maximum.reduceat(lasts << 20 | np.arange(len(lasts)) % (1 << 20), first)
    return time.perf_counter() - start


def measured(events: int, count: int, folder: Path) -> dict[str, Any]:
    """Times by question, cold and warm, the largest answer, and anonymous memory."""
    found: dict[str, Any] = {}
    with serving(events, folder, partial(program, spans=events)) as asked:
        recording = asked.recording
        tracks = ",".join(map(str, range(recording.table("span_tracks").num_rows)))
        shown = {"width": _WIDTH, "tracks": tracks}
        for name, seed in (("cold", 0), ("warm", 1)):
            found[f"window, {name}"] = Times.of(
                [
                    asked.ask("trace.window", {**shown, **each})
                    for each in windows(recording, count, seed)
                ]
            )
        found["window with a search"] = Times.of(
            [
                asked.ask("trace.window", {**shown, **each, "find": "operation_7"})
                for each in windows(recording, count, 2)
            ]
        )
        sums = {"kind": "op"}
        found["memory by span, all, once"] = Times.of([asked.ask("trace.sums", sums)])
        found["memory by span, all, again"] = Times.of(
            [asked.ask("trace.sums", {**sums, "sort": sort}) for sort in ("net", "-peak", "calls")]
        )
        found["memory by span, windows"] = Times.of(
            [asked.ask("trace.sums", {**sums, **each}) for each in windows(recording, count, 3)]
        )
        found |= _explained(asked, recording, count)
        found["with"], found["most"] = asked.memory(), asked.most
    scans = [scanned(recording, **each) for each in windows(recording, _SCANS, 0)]
    found["looking at all spans"] = Times.of(scans)
    return {**found, "largest": asked.largest, "without": memory_without(folder)}


def _explained(asked: Asked, recording: Recording, count: int) -> dict[str, Times]:
    """Steps laid over each other, and single spans and allocations."""
    chance = random.Random(4)
    kinds = recording.table("spans").column("kind").to_pylist()
    steps = [str(row) for row, kind in enumerate(kinds) if kind == "step"]
    spans, lives = (recording.table(name).num_rows for name in ("spans", "allocations"))
    return {
        "ten steps over each other": Times.of(
            [
                asked.ask(
                    "trace.steps", {"steps": ",".join(chance.sample(steps, 10)), "width": 1600}
                )
                for _ in range(count)
            ]
        ),
        "a span explained": Times.of(
            [asked.ask("span", {"id": chance.randrange(spans)}) for _ in range(count)]
        ),
        "an allocation explained": Times.of(
            [asked.ask("allocation", {"id": chance.randrange(lives)}) for _ in range(count)]
        ),
    }


def main() -> None:
    """Measure and print."""
    run(measured, __doc__, 28, 2_000_000)


if __name__ == "__main__":
    main()
