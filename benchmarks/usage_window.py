"""Window queries on a recording of a million events, at every zoom, cold and warm.

In process, beside what answers without an index: one pass over the window for every query. The
bar is 20 ms at the 95th percentile through HTTP.

    python -m benchmarks.usage_window [--events N] [--queries N] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._recordings import write
from tb_memory_plugin.analysis.grouping import GROUPINGS, group_ids
from tb_memory_plugin.analysis.ranking import ranking
from tb_memory_plugin.analysis.windows import AXES
from tb_memory_plugin.recording.recording import Device, Recording, open_recording
from tb_memory_plugin.views import grid
from tb_memory_plugin.views.usage import window

PATTERNS = "model1.py,/f(3|5)\\b/"


@dataclass(frozen=True)
class Times:
    """Milliseconds."""

    queries: int
    median: float
    p95: float
    longest: float

    @staticmethod
    def of(seconds: Sequence[float]) -> Times:
        values = np.array(seconds) * 1000
        return Times(
            len(values), *(round(float(np.percentile(values, q)), 2) for q in (50, 95, 100))
        )


def questions(recording: Recording, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Windows from the whole down to a few events, anywhere, by every grouping, on both axes."""
    chance = random.Random(seed)
    (device,) = recording.devices
    whole = {name: grid.axis(recording, device, name) for name in AXES}
    for _ in range(count):
        axis = whole[chance.choice(AXES)]
        length = axis.end - axis.begin
        span = max(1, int(length * 2 ** -chance.uniform(0, 18)))
        begin = axis.begin + chance.randint(0, length - span)
        yield {
            "axis": axis.name,
            "begin": begin,
            "end": begin + span,
            "width": chance.randint(600, 2000),
            **grouped(chance.choice(list(GROUPINGS))),
        }


def grouped(by: str) -> dict[str, str]:
    """The words of a question for a grouping: patterns to group by, a moment to tell ages at."""
    return {"by": by, "pattern": {"pattern": PATTERNS, "age": "peak"}.get(by, "")}


def one_pass(recording: Recording, device: Device, **question: Any) -> object:
    """The same sums by going through the window's rows (and those before it, for the start)."""
    of = grid.axis(recording, device, question["axis"])
    found = grid.bins(of, question["begin"], question["end"], question["width"])
    allocated = recording.values("usage", "allocated", device)
    groups = group_ids(recording, device, question["by"], question["pattern"])
    ranked = ranking(recording, device, question["by"], question["pattern"])
    last = int(found.stop[-1]) if len(found.stop) else 0
    allocation = recording.values("usage", "allocation", device)[:last]
    band = np.where(allocation >= 0, ranked.band[groups.ids[allocation]], 0)
    delta = np.diff(allocated[:last], prepend=0)
    pairs = np.stack([found.start, np.minimum(found.stop, last - 1)], axis=1).ravel()
    highest = np.maximum.reduceat(allocated[:last], pairs)[::2]
    place = np.searchsorted(found.start, np.arange(last), side="right")
    size = (len(found.start) + 1) * max(ranked.bands, 1)
    sums = np.bincount(place * max(ranked.bands, 1) + band, weights=delta, minlength=size)
    return highest, sums.reshape(-1, max(ranked.bands, 1)).cumsum(axis=0)


def timed(ask: Callable[[dict[str, Any]], object], asked: Iterator[dict[str, Any]]) -> list[float]:
    """Seconds that every question took."""
    taken = []
    for question in asked:
        start = time.perf_counter()
        ask(question)
        taken.append(time.perf_counter() - start)
    return taken


def measured(path: Path, queries: int) -> dict[str, Times]:
    """The index cold (each grouping's first query included), warm, and one pass a query."""
    recording = open_recording(path)
    (device,) = recording.devices

    def ask(question: dict[str, Any]) -> object:
        return window(recording, device, **question)

    def naive(question: dict[str, Any]) -> object:
        return one_pass(recording, device, **question)

    first = timed(ask, questions(recording, queries))
    return {
        "cold": Times.of(first),
        "warm": Times.of(timed(ask, questions(recording, queries, seed=1))),
        "one pass": Times.of(timed(naive, questions(recording, max(queries // 10, 1), seed=2))),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = write(chosen.events, Path(folder) / "recording.tbmem")
        found = measured(path, chosen.queries)
    if chosen.json:
        print(json.dumps({name: asdict(times) for name, times in found.items()}))
        return
    print(f"{chosen.events:,} events, milliseconds a window query, in process")
    for name, times in found.items():
        print(
            f"  {name:<9} median {times.median:7.2f}   p95 {times.p95:7.2f}   "
            f"longest {times.longest:7.2f}   of {times.queries}"
        )


if __name__ == "__main__":
    main()
