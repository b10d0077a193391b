"""Indexing an XPlane beside XProf's own converter (C++) of its Memory Profile: time and memory.

Every measurement is a whole process, start-up and exit included: indexing is the import child that
TensorBoard starts, from its start to the entry in the cache, with and without the C module; the
converter is pip's ``xprof``, which answers with a thousand samples of the events. It is looked for
in the interpreter that the variable XPROF_PYTHON names, else in this one. Then a larger one: are
time and memory linear?

    python -m benchmarks.xplane_index [--rounds N] [--events N] [--most N]
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks._measure import by_turns, compared, spawned
from benchmarks.snapshot_index import imported
from tests.fixtures.pprof import varint
from tests.fixtures.xplane import ALLOCATION, DEALLOCATION, Plane, space

CONVERT = (
    "import sys; from xprof.convert import raw_to_tool_data as made; "
    "answer, _ = made.xspace_to_tool_data([sys.argv[1]], 'memory_profile', {}); "
    "assert answer, 'no answer'"
)
_LINES, _STEP = 8, 2_000
_ALLOCATORS = ("GPU_0_bfc", "GPU_1_bfc", "gpu_host_bfc", "cpu_bfc")
_LIMIT = 16 << 30
_INTEGER, _REFERENCE = b"\x20", b"\x38"  # fields 4 and 7 of XStat


def make(events: int, path: Path) -> None:
    """Write an XPlane of ``events`` allocator events to ``path``: threads that run steps of
    operators on four devices, with everything that TensorFlow's allocator says of each.
    """
    chance, host = random.Random(7), Plane()
    born, freed = host.kind(ALLOCATION), host.kind(DEALLOCATION)
    lines = [host.line(f"tf_gpu_private_{number}/{number}", 1_000) for number in range(_LINES)]
    stat = {name: _writer(host.stat(name)) for name in _STATS}
    refers = {name: _writer(host.stat(name), _REFERENCE) for name in _TEXTS}
    allocators = [refers["allocator_name"](host.stat(name)) for name in _ALLOCATORS]
    regions = [refers["region_type"](host.stat(name)) for name in ("output", "temp")]
    shapes = [
        refers["shape"](host.stat(f"[{rows},{columns}]"))
        for rows in (8, 16, 32, 64)
        for columns in range(256, 8_192, 256)
    ]
    ops = [
        refers["tf_op"](host.stat(f"model/layer_{layer}/{op}"))
        for layer in range(24)
        for op in ("attention/MatMul", "attention/Softmax", "dense/MatMul", "dense/Relu", "add")
    ]
    fragmentation = b"\x08" + varint(host.stat("fragmentation")) + b"\x11"
    alive: list[list[tuple[int, int, bytes]]] = [[] for _ in allocators]
    allocated, peak = [0] * len(allocators), [0] * len(allocators)
    for event in range(events):
        device = event % len(allocators) if event % 3 else 0
        living = alive[device]
        if living and (len(living) > 400 or chance.random() < 0.48):
            kind = freed
            address, size, about = living.pop(chance.randrange(len(living)))
            allocated[device] -= size
        else:
            kind, address, size = born, (7 << 44) + 256 * event, 256 * chance.randrange(1, 40_000)
            about = ops[event % len(ops)] + regions[event & 1] + shapes[event % len(shapes)]
            living.append((address, size, about))
            allocated[device] += size
        peak[device] = max(peak[device], allocated[device])
        made = (
            b"\x08" + varint(kind) + b"\x10" + varint(event * 700_000),
            allocators[device],
            stat["bytes_reserved"](0),
            stat["bytes_allocated"](allocated[device]),
            stat["bytes_available"](_LIMIT - allocated[device]),
            b"\x22" + varint(len(fragmentation) + 8) + fragmentation,
            struct.pack("<d", (event % 997) / 1_000),
            stat["peak_bytes_in_use"](peak[device]),
            stat["requested_bytes"](size - 3),
            stat["allocation_bytes"](size),
            stat["addr"](address),
            stat["id"](event // _STEP),
            stat["data_type"](1),
            about,
        )
        lines[event % _LINES].events.append(b"".join(made))
    path.write_bytes(space(host, host="made"))


_TEXTS = ("allocator_name", "tf_op", "region_type", "shape")
_STATS = (
    *("bytes_reserved", "bytes_allocated", "bytes_available", "peak_bytes_in_use"),
    *("requested_bytes", "allocation_bytes", "addr", "id", "data_type"),
)


def _writer(stat: int, field: bytes = _INTEGER) -> Callable[[int], bytes]:
    """What makes a stat of an event from its value, as ``tests.fixtures.xplane`` does, faster."""
    begin = b"\x08" + varint(stat) + field

    def write(value: int) -> bytes:
        groups = []
        while value > 0x7F:
            groups.append(value & 0x7F | 0x80)
            value >>= 7
        groups.append(value)
        return bytes((0x22, len(begin) + len(groups))) + begin + bytes(groups)

    return write


def converter() -> str:
    """The interpreter that has ``xprof``. Raises SystemExit, saying how to get one."""
    python = os.environ.get("XPROF_PYTHON", sys.executable)
    try:
        found = subprocess.run([python, "-c", "import xprof"], capture_output=True).returncode == 0
    except OSError:
        found = False
    if not found:
        sys.exit(
            f"{python} has no xprof to compare with: pip install xprof into an environment of its "
            "own and name that one's interpreter in XPROF_PYTHON."
        )
    return python


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--most", type=int, default=2_000_000)
    chosen = parser.parse_args()
    python = converter()
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder) / "host.xplane.pb", Path(folder) / "cache"
        spawned(make, chosen.events, path)
        found = by_turns(
            {
                "xprof": [python, "-c", CONVERT, str(path)],
                "indexing": partial(imported, path, cache),
                "without C": partial(imported, path, cache, pure=True),
            },
            chosen.rounds,
        )
        print(f"{chosen.events:,} allocator events, {path.stat().st_size >> 20} MiB")
        compared(found, "indexing", "xprof")
        slower = found["without C"].processor / found["indexing"].processor
        print(f"  {slower:5.2f} × without C / indexing, processor time")
        print("Larger ones")
        events = chosen.events * 2
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
