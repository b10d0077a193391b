"""Tiles of the picture of all lives through HTTP, and the memory TensorBoard takes for them.

A real TensorBoard serves a recording of 2 700 000 events (900 000 allocations) that is in the cache
already; random windows of every zoom, layout, axis and grouping, and random windows of bytes, from
the first one after the start (cold) and again (warm). Every tile that a window 1600 pixels wide
needs is asked for, one after the other, as the page does.
The alternative for memory is the same TensorBoard without the plugin.

    python -m benchmarks.http_tiles [--events N] [--windows N]
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._recordings import training
from benchmarks.http_usage import anonymous, without_plugin
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.windows import AXES
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views import grid
from tb_memory_plugin.views.tile.window import BINS, LAYOUTS
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_WIDTH, _HEIGHT = 1600, 800
_GROUPINGS = ("category", "stack", "op", "module", "step", "size")


def windows(recording: Recording, count: int, seed: int) -> Iterator[list[dict[str, Any]]]:
    """Random windows, each the questions for its tiles."""
    (device,) = recording.devices
    chance = random.Random(seed)
    axes = {name: grid.axis(recording, device, name) for name in AXES}
    peak = int(recording.values("usage", "allocated", device).max())
    for _ in range(count):
        axis = axes[chance.choice(AXES)]
        span = max(1, int((axis.end - axis.begin) * 2 ** -chance.uniform(0, 18)))
        begin = chance.randint(axis.begin, axis.end - span)
        level = max((span // _WIDTH).bit_length() - 1, 0)
        question: dict[str, Any] = {
            "axis": axis.name,
            "level": level,
            "layout": chance.choice(LAYOUTS),
            "by": chance.choice(_GROUPINGS),
            "height": _HEIGHT,
        }
        if chance.random() < 0.5:  # closer in bytes, too
            shown = max(1, int(peak * 2 ** -chance.uniform(0, 8)))
            question["low"] = chance.randint(0, peak - shown)
            question["high"] = question["low"] + shown
        first, last = (begin >> level) // BINS, ((begin + span - 1) >> level) // BINS
        yield [{**question, "index": index} for index in range(first, last + 1)]


def measured(events: int, count: int, folder: Path) -> dict[str, Any]:
    """Times by tile and by window, the largest answer, and anonymous memory."""
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    logdir = folder / "logdir"
    write_scalars(logdir / "run")
    path = logdir / "run" / "plugins" / "memory" / "training.tbmem"
    save(training(events), path, compress=True)
    recording = load_path(path)
    found: dict[str, Any] = {"largest": 0}
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        version = server.opened(source["id"])["version"]
        about = {"source": source["id"], "version": version, "device": "0"}
        for name, seed in (("cold", 0), ("warm", 1)):
            tiles, whole = [], []
            for questions in windows(recording, count, seed):
                began = time.perf_counter()
                for question in questions:
                    start = time.perf_counter()
                    answer = server.get("tile", **about, **question)
                    tiles.append(time.perf_counter() - start)
                    if answer.status != 200:
                        raise ValueError(f"{question}: {answer.body.decode(errors='replace')}")
                    found["largest"] = max(found["largest"], len(answer.body))
                whole.append(time.perf_counter() - began)
            found[name] = Times.of(tiles)
            found[f"{name}, all tiles of a window"] = Times.of(whole)
        found["with"] = anonymous(server.pid)
    with without_plugin(logdir) as server:
        server.board("data/plugin/scalars/tags")
        found["without"] = anonymous(server.pid)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    parser.add_argument("--windows", type=int, default=150)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(chosen.events, chosen.windows, Path(folder))
    print(f"{chosen.events:,} events, milliseconds a request")
    for name, times in found.items():
        if isinstance(times, Times):
            print(
                f"  {name:<32} median {times.median:7.2f}   p95 {times.p95:7.2f}   "
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
