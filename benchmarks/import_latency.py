"""TensorBoard's other routes while a snapshot of a million events is imported, and idle.

A real TensorBoard with scalars and a snapshot; while its child process reads the snapshot, the
routes of TensorBoard and of the scalars plugin are asked one after the other, and again when
nothing happens. The bar is 50 ms at the 95th percentile. Then the first click on a smaller
snapshot with deep stacks in a real Chromium, cold (it is read) and warm (by another server, from
the cache): until the Profile view has its curve drawn and rows in its table. The bars are 1.5 s
and 0.3 s.

    python -m benchmarks.import_latency [--events N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import _clicking
from benchmarks._measure import spawned
from benchmarks.snapshot_index import make
from benchmarks.usage_window import Times
from tests.fixtures.snapshots import Options
from tests.plugin.logdirs import write_scalars
from tests.plugin.server import TensorBoardServer

_ROUTES = (
    "data/plugins_listing",
    "data/runs",
    "data/plugin/scalars/tags",
    "data/plugin/scalars/scalars?tag=loss&run=run",
    "data/plugin/memory/sources",
)
_IDLE = 200
_CLICKED = 50_000
_COLD, _WARM = 3, 5  # times


def asked(server: TensorBoardServer, goes_on: Callable[[], bool]) -> list[float]:
    """Seconds of every request, over all routes by turns, for as long as ``goes_on``."""
    taken = []
    while goes_on():
        for route in _ROUTES:
            start = time.perf_counter()
            server.board(route)
            taken.append(time.perf_counter() - start)
            time.sleep(0.002)
    return taken


def during_import(logdir: Path) -> dict[str, Any]:
    """Times of the routes while the only source of ``logdir`` is read, and idle."""
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        left = [_IDLE]

        def a_while() -> bool:
            left[0] -= len(_ROUTES)
            return left[0] >= 0

        idle = asked(server, a_while)
        states: list[str] = []

        def reading() -> bool:
            states.append(server.get("open", source=source["id"]).json()["state"])
            return states[-1] in ("queued", "reading")

        start = time.perf_counter()
        busy = asked(server, reading)
        seconds = time.perf_counter() - start
        if states[-1] != "ready":
            raise ValueError(server.opened(source["id"])["error"])
    return {"idle": Times.of(idle), "importing": Times.of(busy), "seconds": round(seconds, 2)}


def measured(events: int, folder: Path) -> dict[str, Any]:
    """All of it."""
    shape: dict[str, Any] = {"stacks": 800, "shared_lists": False, "step_events": 8_000}
    os.environ["TB_MEMORY_CACHE"] = str(folder / "cache")
    write_scalars(folder / "import" / "run")
    large = Options(events=events, depth=40, **shape)
    spawned(make, large, folder / "import" / "run" / "snapshot.pickle")
    found = during_import(folder / "import")
    logdir = _clicking.logdir_with(
        folder / "click", make, Options(events=_CLICKED, depth=70, **shape)
    )
    with _clicking.chromium_open() as browser:

        def click() -> float:
            return round(_clicking.seconds(browser, logdir, "profile", _clicking.PROFILE), 3)

        found["cold"] = []
        for _ in range(_COLD):
            shutil.rmtree(folder / "click" / "cache", ignore_errors=True)
            found["cold"].append(click())
        found["warm"] = [click() for _ in range(_WARM)]
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(chosen.events, Path(folder))
    if chosen.json:
        plain = {n: asdict(v) if isinstance(v, Times) else v for n, v in found.items()}
        print(json.dumps(plain))
        return
    print(f"TensorBoard's routes, milliseconds a request ({', '.join(_ROUTES)})")
    for name in ("idle", "importing"):
        times = found[name]
        print(
            f"  {name:<10} median {times.median:7.2f}   p95 {times.p95:7.2f}   "
            f"longest {times.longest:7.2f}   of {times.queries}"
        )
    ratio = found["importing"].p95 / found["idle"].p95
    print(f"  importing {chosen.events:,} events took {found['seconds']} s; p95 {ratio:.2f} × idle")
    print(f"From the click to a page of {_CLICKED:,} events, 70 deep, in Chromium")
    for name in ("cold", "warm"):
        median = statistics.median(found[name])
        print(f"  {name} median {median:.2f} s   fastest {min(found[name]):.2f} s")


if __name__ == "__main__":
    main()
