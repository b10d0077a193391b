"""Indexing a trace of PyTorch's profiler beside a plain ``json.load`` of it: time and peak memory.

Every measurement is a whole process, start-up and exit included: indexing is the import child that
TensorBoard starts, from its start to the entry in the cache. Then larger ones, whether time and
memory are linear, up to a file of 2 GB; and files of 2 GB with the calls of Python of four threads,
plain and compressed.

    python -m benchmarks.trace_index [--rounds N] [--events N] [--most N] [--bytes N]
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks._measure import by_turns, spawned
from benchmarks._stack_traces import make as with_stacks
from benchmarks._traces import make
from benchmarks.growth import exponent
from benchmarks.snapshot_index import imported

LOAD = "import json, sys; made = json.load(open(sys.argv[1]))"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=216_000)
    parser.add_argument("--most", type=int, default=2_000_000)
    parser.add_argument("--bytes", type=int, default=2_000_000_000, help="of the largest file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder) / "rank0.pt.trace.json", Path(folder) / "cache"
        spawned(make, path, chosen.events)
        found = by_turns(
            {
                "json.load": [sys.executable, "-c", LOAD, str(path)],
                "indexing": partial(imported, path, cache),
            },
            chosen.rounds,
        )
        plain, ours = found["json.load"], found["indexing"]
        print(f"{chosen.events:,} events, {path.stat().st_size >> 20} MiB")
        print(f"  {'':16}{'wall s':>9}{'processor s':>13}{'peak MiB':>10}")
        for name, each in found.items():
            print(f"  {name:16}{each.wall:9.2f}{each.processor:13.2f}{each.peak / 2**20:10.0f}")
        print(f"  {ours.wall / plain.wall:5.2f} × indexing / json.load")
        print(f"  {ours.peak / plain.peak:5.2f} × indexing, peak memory / json.load")
        print("Larger ones, processor time")
        counts = [chosen.most // part for part in (4, 2, 1)]
        times = []
        for events in counts:
            spawned(make, path, events)
            times.append(_printed(path, cache, events))
        if chosen.bytes:
            counts.append(_made(make, path, None, chosen.bytes))
            times.append(_printed(path, cache, counts[-1]))
        print(f"  exponent of time by events: {exponent(counts, times):.2f}")
        if chosen.bytes:
            print("With the calls of Python, plain and compressed, processor time")
            for name in ("stacks.pt.trace.json", "stacks.pt.trace.json.gz"):
                path.unlink()
                path = path.with_name(name)
                _printed(path, cache, _made(with_stacks, path, chosen.bytes))


def _made(make: Callable[..., int], *arguments: object) -> int:
    """The events of a trace made by another process, which has its memory to itself."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(make, arguments)


def _printed(path: Path, cache: Path, events: int) -> float:
    """Seconds of processor time, printed with what else was measured."""
    one = imported(path, cache)
    print(
        f"  {events:>10,} events  {path.stat().st_size >> 20:5} MiB  {one.processor:7.2f} s  "
        f"{1e6 * one.processor / events:6.2f} µs an event  {one.peak >> 20:6} MiB"
    )
    return one.processor


if __name__ == "__main__":
    main()
