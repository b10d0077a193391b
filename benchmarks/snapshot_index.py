"""Indexing a PyTorch snapshot beside a plain ``pickle.load`` of it: time and peak memory.

Every measurement is a whole process, start-up and exit included: reading is the reader alone,
indexing is the import child that TensorBoard starts, from its start to the entry in the cache.
(It runs at a low priority: on a busy machine its processor time tells more than its wall time.)
Ratios are to
``pickle.load`` as Python runs it (collector on) and with its collector off.

    python -m benchmarks.snapshot_index [--rounds N] [--json] [--events N]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._measure import LOAD, ROOT, Sample, Summary, by_turns, spawned
from tests.fixtures.snapshots import Options, snapshot, write_pickle

_LOAD_OFF = "import gc; gc.disable(); " + LOAD
_READ = (
    "import sys, pathlib; from tb_memory_plugin.readers import torch_snapshot; "
    "read = torch_snapshot.read(pathlib.Path(sys.argv[1]))"
)
_PLAIN, _PLAIN_OFF, _READER, _WHOLE = "pickle.load", "collector off", "reading", "indexing"


def cases(events: int) -> dict[str, Options]:
    """What is measured, by title."""
    shape: dict[str, Any] = {
        "stacks": 800,
        "depth": 40,
        "step_events": 8_000,
        "shared_lists": False,
    }
    return {
        f"{events:,} events, 40 deep, frames shared": Options(events=events, **shape),
        f"{events // 20:,} events, 40 deep, nothing shared": Options(
            events=events // 20, shared_frames=False, **shape
        ),
        f"{events // 20:,} events, 70 deep, frames shared": Options(
            events=events // 20, **{**shape, "depth": 70}
        ),
    }


def make(options: Options, path: Path) -> None:
    """Write the snapshot of ``options`` to ``path``."""
    gc.disable()  # a million dictionaries, none of which is garbage
    write_pickle(snapshot(options), path)


def imported(path: Path, folder: Path, *, pure: bool = False) -> Sample:
    """What the import child took, as the process that asked for it saw. See ``_import_child``.

    ``pure`` is without the C modules.
    """
    command = [sys.executable, "-m", "benchmarks._import_child", str(path), str(folder)]
    told = {"TB_MEMORY_PURE_PYTHON": "1"} if pure else {}
    environment = {**os.environ, **told}
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, env=environment)
    wall, processor, peak = json.loads(done.stdout)
    return Sample(wall, processor, peak)


def measured(options: Options, rounds: int, folder: Path) -> dict[str, Summary]:
    """The four ways to take in a snapshot made from ``options``."""
    path = folder / "snapshot.pickle"
    spawned(make, options, path)  # a child's peak memory counts from its parent's
    python = [sys.executable, "-c"]
    return by_turns(
        {
            _PLAIN: [*python, LOAD, str(path)],
            _PLAIN_OFF: [*python, _LOAD_OFF, str(path)],
            _READER: [*python, _READ, str(path)],
            _WHOLE: partial(imported, path, folder / "cache"),
        },
        rounds,
    )


def ratios(found: dict[str, Summary]) -> dict[str, float]:
    """The numbers that are promised, and those of the reader alone."""
    plain, off = found[_PLAIN], found[_PLAIN_OFF]
    made = {}
    for name in (_READER, _WHOLE):
        made[f"{name} / pickle.load"] = found[name].wall / plain.wall
        made[f"{name} / pickle.load, collector off"] = found[name].wall / off.wall
        made[f"{name}, processor time / collector off"] = found[name].processor / off.processor
        made[f"{name}, peak memory / pickle.load"] = found[name].peak / plain.peak
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    results = {}
    for title, options in cases(chosen.events).items():
        with tempfile.TemporaryDirectory() as folder:
            found = measured(options, chosen.rounds, Path(folder))
        results[title] = {
            "measured": {name: vars(summary) for name, summary in found.items()},
            "ratios": ratios(found),
        }
        if not chosen.json:
            sys.stdout.write(_table(title, found))
    if chosen.json:
        sys.stdout.write(json.dumps(results, indent=1) + "\n")


def _table(title: str, found: dict[str, Summary]) -> str:
    lines = [title, f"  {'':16}{'wall s':>9}{'processor s':>13}{'peak MiB':>10}"]
    lines += [
        f"  {name:16}{s.wall:9.2f}{s.processor:13.2f}{s.peak / 2**20:10.0f}"
        for name, s in found.items()
    ]
    lines += [f"  {ratio:5.2f} × {name}" for name, ratio in ratios(found).items()]
    return "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    main()
