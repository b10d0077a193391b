"""A recording of many events behind a real TensorBoard, for benchmarks that ask it questions."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._recordings import training
from benchmarks.http_usage import anonymous, without_plugin
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.windows import AXES
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views import grid
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_DEEPEST = 18  # halvings of the whole axis


@dataclass
class Asked:
    """A server, what it serves, and the largest answer that it gave."""

    recording: Recording
    ask: Callable[[str, dict[str, Any]], float]  # route and parameters to seconds
    memory: Callable[[], int]
    largest: int = 0


@contextmanager
def serving(events: int, folder: Path) -> Iterator[Asked]:
    """A TensorBoard on a recording of ``events`` events that is in the cache already."""
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    logdir = folder / "logdir"
    write_scalars(logdir / "run")
    path = logdir / "run" / "plugins" / "memory" / "training.tbmem"
    save(training(events), path, compress=True)
    recording = load_path(path)
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        version = server.opened(source["id"])["version"]
        about = {"source": source["id"], "version": version, "device": "0"}

        def ask(route: str, question: dict[str, Any]) -> float:
            start = time.perf_counter()
            answer = server.get(route, **about, **question)
            took = time.perf_counter() - start
            if answer.status != 200:
                raise ValueError(f"{question}: {answer.body.decode(errors='replace')}")
            found.largest = max(found.largest, len(answer.body))
            return took

        found = Asked(recording, ask, lambda: anonymous(server.pid))
        yield found


def memory_without(folder: Path) -> int:
    """Anonymous memory of a TensorBoard on the same logdir without the plugin."""
    with without_plugin(folder / "logdir") as server:
        server.board("data/plugin/scalars/tags")
        return anonymous(server.pid)


def spans(recording: Recording, chance: random.Random) -> Iterator[tuple[grid.Axis, int, int]]:
    """Random windows of any axis, from the whole down to a few units."""
    (device,) = recording.devices
    axes = {name: grid.axis(recording, device, name) for name in AXES}
    while True:
        axis = axes[chance.choice(AXES)]
        span = max(1, int((axis.end - axis.begin) * 2 ** -chance.uniform(0, _DEEPEST)))
        begin = chance.randint(axis.begin, axis.end - span)
        yield axis, begin, begin + span


def show(events: int, found: dict[str, Any], width: int) -> None:
    """Print times, the largest answer and memory as the document has them."""
    print(f"{events:,} events, milliseconds a request")
    for name, times in found.items():
        if isinstance(times, Times):
            print(
                f"  {name:<{width}} median {times.median:7.2f}   p95 {times.p95:7.2f}   "
                f"longest {times.longest:7.2f}   of {times.queries}"
            )
    grown = found["with"] - found["without"]
    print(f"Largest answer: {found['largest'] / 2**20:.2f} MiB")
    print(
        f"Anonymous memory of TensorBoard: {found['without'] >> 20} MiB without the plugin, "
        f"{found['with'] >> 20} MiB with it and after the queries: {grown >> 20} MiB more"
    )
