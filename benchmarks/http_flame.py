"""Flame graphs and lines of code of 2 700 000 events through HTTP, and the memory they take.

A real TensorBoard serves a recording of 900 000 allocations that is in the cache already: random
windows and moments of every zoom, weighed in every way, inverted, folded, searched and filtered,
from the first one after the start (cold) and again (warm). The alternative walks the stack of every
allocation that is alive, as a viewer without interned stacks has to.

    python -m benchmarks.http_flame [--events N] [--queries N]
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._http import memory_without, run, serving, spans
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of
from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.recording.recording import Recording

_WALKS = 3


def questions(recording: Recording, of: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Random moments, and windows from the whole down to a few events, in every shape."""
    chance = random.Random(f"{of} {seed}")
    last = len(recording.table("events"))
    for axis, begin, end in itertools.islice(spans(recording, chance), count):
        yield {
            "of": of,
            "at": chance.randrange(last),
            "axis": axis.name,
            "begin": begin,
            "end": end,
            "inverted": chance.randint(0, 1),
            "folded": chance.randint(0, 1),
            "find": chance.choice(("", "", "model1", "size>1MiB")),
            "filter": chance.choice(("", "", "", "model2 size>4KiB")),
            "width": chance.choice((800, 1200, 1600)),
        }


def walked(recording: Recording, event: int) -> float:
    """Seconds to add up what is alive after ``event`` by walking the stack of each allocation."""
    (device,) = recording.devices
    rows = alive_rows(recording, device, event)
    sizes = bytes_of(recording, device)[rows].tolist()
    stacks = recording.values("allocations", "birth_stack", device)[rows].tolist()
    frames = recording.table("stacks").column("frames").to_pylist()
    start = time.perf_counter()
    sums: Counter[tuple[int, ...]] = Counter()
    for size, stack in zip(sizes, stacks, strict=True):
        way: tuple[int, ...] = ()
        for frame in reversed(frames[stack] if stack >= 0 else ()):
            way = (*way, frame)
            sums[way] += size
    return time.perf_counter() - start


def measured(events: int, count: int, folder: Path) -> dict[str, Any]:
    """Times by what is weighed, cold and warm, the largest answer, and anonymous memory."""
    found: dict[str, Any] = {}
    with serving(events, folder) as asked:
        recording = asked.recording
        for name, seed in (("cold", 0), ("warm", 1)):
            for of in OF:
                found[f"{of}, {name}"] = Times.of(
                    [asked.ask("flame", each) for each in questions(recording, of, count, seed)]
                )
        kept = ("of", "axis", "begin", "end", "filter")
        found["lines of lifetime, warm"] = Times.of(
            [
                asked.ask("lines", {name: each[name] for name in kept})
                for each in questions(recording, "lifetime", count, 2)
            ]
        )
        found["with"], found["most"] = asked.memory(), asked.most
    last = len(recording.table("events")) - 1
    walks = [walked(recording, event) for event in random.Random(0).choices(range(last), k=_WALKS)]
    found["walking every stack"] = Times.of(walks)
    return {**found, "largest": asked.largest, "without": memory_without(folder)}


def main() -> None:
    """Measure and print."""
    run(measured, __doc__, 24)


if __name__ == "__main__":
    main()
