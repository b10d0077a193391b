"""Indexing a trace of PyTorch's profiler beside a plain ``json.load`` of it: time and peak memory.

Every measurement is a whole process, start-up and exit included: indexing is the import child that
TensorBoard starts, from its start to the entry in the cache. Then larger ones, whether time and
memory are linear.

    python -m benchmarks.trace_index [--rounds N] [--events N] [--most N]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks._measure import by_turns, spawned
from benchmarks.snapshot_index import imported

LOAD = "import json, sys; made = json.load(open(sys.argv[1]))"
#: Events of one training step, about as PyTorch writes them.
_OPS, _LAUNCHES = 1_130, 850


def make(events: int, path: Path) -> None:
    """Write a trace of about ``events`` events to ``path``: steps of operators that allocate."""
    chance = random.Random(7)
    written, step, time, total, index = 0, 0, 4_909_733_316_309, 4 << 30, 0
    alive: list[tuple[int, int]] = []
    with path.open("w") as file:
        file.write('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [\n')

        def put(fields: dict[str, object]) -> None:
            nonlocal written
            file.write("  " + json.dumps(fields, indent=2) + ",\n")
            written += 1

        def memory(size: int, address: int) -> None:
            nonlocal total, index
            total += size
            index += 1
            arguments = {"Total Reserved": 16 << 30, "Total Allocated": total, "Bytes": size}
            where = {"Device Id": 0, "Device Type": 1, "Addr": address, "Ev Idx": index}
            put(
                {
                    "ph": "i",
                    "cat": "cpu_instant_event",
                    "s": "t",
                    "name": "[memory]",
                    **_HOST,
                    "ts": time + 0.5,
                    "args": {**arguments, **where},
                }
            )

        while written < events:
            put(_span(f"ProfilerStep#{step}", "user_annotation", time, 4 * _OPS))
            for op in range(_OPS):
                time += 4
                put(_span(f"aten::op_{op % 90}", "cpu_op", time, 3, op))
                if op < _LAUNCHES:
                    put(_span("cudaLaunchKernel", "cuda_runtime", time + 0.25, 1.5, op))
                    put({**_FLOW, "ph": "s", "id": op, "ts": time + 0.25})
                    put({**_FLOW, "ph": "f", "id": op, "ts": time + 2.75, "bp": "e"})
                    put(_span("void kernel<float>(int)", "kernel", time + 2.75, 1.25, op))
                if op % 2:
                    size = 512 * chance.randrange(1, 4_096)
                    alive.append((size, (7 << 44) + 512 * written))
                    memory(*alive[-1])
                elif len(alive) > 200:
                    size, address = alive.pop(chance.randrange(len(alive)))
                    memory(-size, address)
            step += 1
        file.write(json.dumps({"ph": "i", "name": "Record Window End", "ts": time}))
        file.write('\n  ],\n  "traceName": "made"\n}\n')


_HOST = {"pid": 4242, "tid": 4242}
_FLOW = {"cat": "ac2g", "name": "ac2g", **_HOST}


def _span(
    name: str, category: str, begin: float, length: float, number: int = 0
) -> dict[str, object]:
    inputs = {"External id": number, "Ev Idx": number, "Input Dims": [[64, 256, 14, 14], [256]]}
    times = {"ts": begin, "dur": length}
    return {"ph": "X", "cat": category, "name": name, **_HOST, **times, "args": inputs}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=216_000)
    parser.add_argument("--most", type=int, default=2_000_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder) / "rank0.pt.trace.json", Path(folder) / "cache"
        spawned(make, chosen.events, path)
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
        print("Larger ones")
        events = chosen.most // 4
        while events <= chosen.most:
            spawned(make, events, path)
            one = imported(path, cache)
            print(
                f"  {events:>10,} events  {path.stat().st_size >> 20:5} MiB  {one.wall:7.2f} s  "
                f"{1e6 * one.wall / events:6.2f} µs an event  {one.peak >> 20:6} MiB"
            )
            events *= 2


if __name__ == "__main__":
    main()
