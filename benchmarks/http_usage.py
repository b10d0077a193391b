"""Window queries through HTTP, and the memory TensorBoard takes for them.

A real TensorBoard serves a recording of a million events that is in the cache already; the same
random windows as in ``usage_window``, from the first one after the start (cold) and again (warm).
The alternative for memory is the same TensorBoard without the plugin, asked as often.

    python -m benchmarks.http_usage [--events N] [--queries N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks._http import anonymous, recorded, without_plugin
from benchmarks.usage_window import Times, questions, timed
from tb_memory_plugin.analysis.windows import AXES
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import grid
from tests.plugin.server import TensorBoardServer

_TITLES = {
    "firsts": "first of each grouping",
    "whole": "warm, the whole axis",
    "deepest": "warm, the deepest zoom",
}


def processor(pid: int) -> float:
    """Seconds of processor time that a process took so far (Linux; 0 elsewhere)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(events: int, queries: int, folder: Path) -> dict[str, Any]:
    """Times by kind of query, and bytes of anonymous memory with and without the plugin."""
    logdir, recording = recorded(events, folder)
    found: dict[str, Any] = {}
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        status = server.opened(source["id"])
        ask = _asker(server, source["id"], status["version"])
        phases = {
            "cold": list(questions(recording, queries)),
            "warm": list(questions(recording, queries, seed=1)),
            "whole": list(_of_share(recording, queries // 5, 1.0)),
            "deepest": list(_of_share(recording, queries // 5, 2.0**-18)),
        }
        found["processor"] = {}
        for name, asked in phases.items():
            before = processor(server.pid)
            taken = timed(ask, iter(asked))
            found["processor"][name] = 1000 * (processor(server.pid) - before) / len(asked)
            found[name] = Times.of(taken)
            if name == "cold":
                found["firsts"] = Times.of(_firsts(asked, taken))
        found["with"] = anonymous(server.pid)
    with without_plugin(logdir) as server:

        def other(_: dict[str, Any]) -> object:
            return server.board("data/plugin/scalars/tags")

        found["scalars tags"] = Times.of(timed(other, questions(recording, 2 * queries)))
        found["without"] = anonymous(server.pid)
    return found


def _firsts(asked: list[dict[str, Any]], taken: list[float]) -> list[float]:
    """What the first question of each grouping took."""
    first: dict[str, float] = {}
    for question, seconds in zip(asked, taken, strict=True):
        first.setdefault(question["by"], seconds)
    return list(first.values())


def _of_share(recording: Recording, count: int, share: float) -> Iterator[dict[str, Any]]:
    """Questions for windows of a ``share`` of the axis."""
    (device,) = recording.devices
    whole = {name: grid.axis(recording, device, name) for name in AXES}
    for question in questions(recording, count, seed=2):
        axis = whole[question["axis"]]
        span = max(1, int((axis.end - axis.begin) * share))
        begin = min(question["begin"], axis.end - span)
        yield {**question, "begin": begin, "end": begin + span}


def _asker(
    server: TensorBoardServer, source: str, version: str
) -> Callable[[dict[str, Any]], object]:
    def ask(question: dict[str, Any]) -> object:
        given = {**question, "pattern": question["pattern"] or None}
        answer = server.get("usage", source=source, version=version, device="0", **given)
        if answer.status != 200:
            raise ValueError(f"{given}: {answer.body.decode(errors='replace')}")
        return answer

    return ask


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(chosen.events, chosen.queries, Path(folder))
    if chosen.json:
        plain = {n: asdict(v) if isinstance(v, Times) else v for n, v in found.items()}
        print(json.dumps(plain))
        return
    print(f"{chosen.events:,} events, milliseconds a request")
    for name in ("cold", "firsts", "warm", "whole", "deepest", "scalars tags"):
        times = found[name]
        print(
            f"  {_TITLES.get(name, name):<24} median {times.median:7.2f}   p95 {times.p95:7.2f}   "
            f"longest {times.longest:7.2f}   of {times.queries}"
        )
    each = ", ".join(f"{name} {taken:.2f}" for name, taken in found["processor"].items())
    print(f"Processor time of TensorBoard, milliseconds a request: {each}")
    grown = found["with"] - found["without"]
    print(
        f"Anonymous memory of TensorBoard: {found['without'] >> 20} MiB without the plugin, "
        f"{found['with'] >> 20} MiB with it and after the queries: {grown >> 20} MiB more"
    )


if __name__ == "__main__":
    main()
