"""Indexing the plan of an HLO module beside XProf's own converter (C++) of its Memory Viewer.

Every measurement is a whole process, start-up and exit included: indexing is the import child that
TensorBoard starts, from its start to the entry in the cache; the converter is pip's ``xprof``,
looked for in the interpreter that the variable XPROF_PYTHON names, else in this one; plain is
nothing but protobuf's own parsing of the file. Then larger modules, and many in one profile: are
time and memory linear?

    python -m benchmarks.plan_index [--rounds N] [--buffers N] [--modules N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks._measure import by_turns, compared, spawned
from benchmarks._plans import make
from benchmarks.snapshot_index import imported
from benchmarks.xplane_index import converter
from tests.fixtures.hlo import profile
from tests.fixtures.xplane import Plane, space

MODULE = "jit_train_step(7)"
CONVERT = (
    "import sys; from xprof.convert import raw_to_tool_data as made; "
    f"answer, _ = made.xspace_to_tool_data([sys.argv[1]], 'memory_viewer', "
    f"{{'module_name': '{MODULE}', 'memory_space': '0'}}); "
    "assert b'peakHeapMib' in answer, answer[:200]"
)
PARSE = (
    "import sys; from tb_memory_plugin.proto.hlo import hlo_classes; "
    "made = hlo_classes()['HloProto'].FromString(open(sys.argv[1], 'rb').read())"
)


def several(count: int, buffers: int, path: Path) -> None:
    """Write a profile of ``count`` modules of ``buffers`` buffers each."""
    make(buffers, path)
    data = path.read_bytes()
    path.write_bytes(profile({f"jit_train_step({number})": data for number in range(count)}))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--buffers", type=int, default=50_000)
    parser.add_argument("--modules", type=int, default=500)
    chosen = parser.parse_args()
    python = converter()
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder) / f"{MODULE}.hlo_proto.pb", Path(folder) / "cache"
        trace = Path(folder) / "host.xplane.pb"
        trace.write_bytes(space(Plane()))
        spawned(make, chosen.buffers, path)
        found = by_turns(
            {
                "xprof": [python, "-c", CONVERT, str(trace)],
                "protobuf": [sys.executable, "-c", PARSE, str(path)],
                "indexing": partial(imported, path, cache),
            },
            chosen.rounds,
        )
        print(f"{chosen.buffers:,} logical buffers, {path.stat().st_size >> 20} MiB")
        compared(found, "indexing", "xprof")
        print("Larger ones, processor time")
        spawned(make, chosen.buffers * 4, path)
        _print(f"{chosen.buffers * 4:,} buffers", path, cache, chosen.buffers * 4)
        path.unlink()
        each = chosen.buffers * 4 // chosen.modules
        spawned(several, chosen.modules, each, trace)
        _print(f"{chosen.modules:,} modules", trace, cache, chosen.modules * each)


def _print(what: str, path: Path, cache: Path, buffers: int) -> None:
    one = imported(path, cache)
    print(
        f"  {what:>16}  {path.stat().st_size >> 20:5} MiB  {one.processor:7.2f} s  "
        f"{1e6 * one.processor / buffers:6.2f} µs a buffer  {one.peak >> 20:6} MiB"
    )


if __name__ == "__main__":
    main()
