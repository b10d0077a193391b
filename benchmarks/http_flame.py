"""Flame graphs and lines of code of 2 700 000 events through HTTP, and the memory they take.

A real TensorBoard serves a recording of 900 000 allocations that is in the cache already: random
windows and moments of every zoom, weighed in every way, inverted, folded, searched and filtered,
from the first one after the start (cold) and again (warm). The alternative walks the stack of every
allocation that is alive, as a viewer without interned stacks has to.

    python -m benchmarks.http_flame [--events N] [--queries N]
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._recordings import training
from benchmarks.http_usage import anonymous, without_plugin
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of
from tb_memory_plugin.analysis.flame import OF
from tb_memory_plugin.analysis.windows import AXES
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views import grid
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_WALKS = 3


def questions(recording: Recording, of: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Random moments, and windows from the whole down to a few events, in every shape."""
    (device,) = recording.devices
    chance = random.Random(f"{of} {seed}")
    axes = {name: grid.axis(recording, device, name) for name in AXES}
    for _ in range(count):
        axis = axes[chance.choice(AXES)]
        span = max(1, int((axis.end - axis.begin) * 2 ** -chance.uniform(0, 18)))
        begin = chance.randint(axis.begin, axis.end - span)
        yield {
            "of": of,
            "at": chance.randrange(axes["event"].end),
            "axis": axis.name,
            "begin": begin,
            "end": begin + span,
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
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    logdir = folder / "logdir"
    write_scalars(logdir / "run")
    path = logdir / "run" / "plugins" / "memory" / "training.tbmem"
    save(training(events), path, compress=True)
    recording = load_path(path)
    found: dict[str, Any] = {}
    largest = 0
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        version = server.opened(source["id"])["version"]
        about = {"source": source["id"], "version": version, "device": "0"}
        for name, seed in (("cold", 0), ("warm", 1)):
            for of in OF:
                taken = []
                for question in questions(recording, of, count, seed):
                    start = time.perf_counter()
                    answer = server.get("flame", **about, **question)
                    taken.append(time.perf_counter() - start)
                    if answer.status != 200:
                        raise ValueError(f"{question}: {answer.body.decode(errors='replace')}")
                    largest = max(largest, len(answer.body))
                found[f"{of}, {name}"] = Times.of(taken)
        taken = []
        for question in questions(recording, "lifetime", count, 2):
            kept = {name: question[name] for name in ("of", "axis", "begin", "end", "filter")}
            start = time.perf_counter()
            largest = max(largest, len(server.get("lines", **about, **kept).body))
            taken.append(time.perf_counter() - start)
        found["lines of lifetime, warm"] = Times.of(taken)
        found["with"] = anonymous(server.pid)
    with without_plugin(logdir) as server:
        server.board("data/plugin/scalars/tags")
        found["without"] = anonymous(server.pid)
    last = len(recording.table("events")) - 1
    walks = [walked(recording, event) for event in random.Random(0).choices(range(last), k=_WALKS)]
    return {**found, "walking every stack": Times.of(walks), "largest": largest}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    parser.add_argument("--queries", type=int, default=60)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(chosen.events, chosen.queries, Path(folder))
    print(f"{chosen.events:,} events, milliseconds a request")
    for name, times in found.items():
        if isinstance(times, Times):
            print(
                f"  {name:<24} median {times.median:7.2f}   p95 {times.p95:7.2f}   "
                f"longest {times.longest:7.2f}   of {times.queries}"
            )
    grown = found["with"] - found["without"]
    print(f"Largest answer: {found['largest'] / 2**20:.2f} MiB")
    print(
        f"Anonymous memory of TensorBoard: {found['without'] >> 20} MiB without the plugin, "
        f"{found['with'] >> 20} MiB with it and after the queries: {grown >> 20} MiB more"
    )


if __name__ == "__main__":
    main()
