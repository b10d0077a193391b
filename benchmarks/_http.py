"""A recording of many events behind a real TensorBoard, for benchmarks that ask it questions."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from benchmarks._recordings import training
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.windows import AXES
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views import grid
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

#: TensorBoard with nothing but its own plugins.
_WITHOUT = (
    "import sys; from tensorboard import default, program; "
    "board = program.TensorBoard(plugins=default.get_static_plugins()); "
    "board.configure(sys.argv); sys.exit(board.main())"
)

_DEEPEST = 18  # halvings of the whole axis


class _Without(TensorBoardServer):
    """The same server without any plugin from outside."""

    program: ClassVar[tuple[str, ...]] = (sys.executable, "-c", _WITHOUT)


def without_plugin(logdir: Path) -> TensorBoardServer:
    """A TensorBoard on ``logdir`` without any plugin from outside."""
    return _Without(logdir)


def anonymous(pid: int) -> int:
    """Bytes of memory that are the process's own (Linux; 0 elsewhere)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))


@dataclass
class Asked:
    """A server, what it serves, the largest answer that it gave, and the most memory after one."""

    recording: Recording
    ask: Callable[[str, dict[str, Any]], float]  # route and parameters to seconds
    memory: Callable[[], int]
    largest: int = 0
    most: int = 0


Make = Callable[[int], Recording]


def recorded(events: int, folder: Path, make: Make = training) -> tuple[Path, Recording]:
    """A logdir with a recording of ``events`` events that is in the cache already."""
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    logdir = folder / "logdir"
    write_scalars(logdir / "run")
    path = logdir / "run" / "plugins" / "memory" / "training.tbmem"
    save(make(events), path, compress=True)
    return logdir, load_path(path)


@contextmanager
def serving(events: int, folder: Path, make: Make = training) -> Iterator[Asked]:
    """A TensorBoard on a recording of ``events`` events that is in the cache already."""
    logdir, recording = recorded(events, folder, make)
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
            found.most = max(found.most, found.memory())
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


def run(
    measured: Callable[[int, int, Path], dict[str, Any]],
    about: str | None,
    width: int,
    events: int = 2_700_000,
) -> None:
    """Measure as the command line says (events, queries of each kind) and print."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--events", type=int, default=events)
    parser.add_argument("--queries", type=int, default=150)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(chosen.events, chosen.queries, Path(folder))
    show(chosen.events, found, width)


def show(events: int, found: dict[str, Any], width: int) -> None:
    """Print times, the largest answer and memory as the document has them."""
    print(f"{events:,} events, milliseconds a request")
    for name, times in found.items():
        if isinstance(times, Times):
            print(
                f"  {name:<{width}} median {times.median:7.2f}   p95 {times.p95:7.2f}   "
                f"longest {times.longest:7.2f}   of {times.queries}"
            )
    grown, most = (found[name] - found["without"] for name in ("with", "most"))
    print(f"Largest answer: {found['largest'] / 2**20:.2f} MiB")
    print(
        f"Anonymous memory of TensorBoard: {found['without'] >> 20} MiB without the plugin, "
        f"{found['with'] >> 20} MiB with it and after the queries: {grown >> 20} MiB more "
        f"({most >> 20} after the one that left most)"
    )
