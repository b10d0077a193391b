"""``tb-memory index``: files and folders of runs, read into the cache one after the other."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.progress import Progress
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.store.discovery import walk
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.store.probing import Probes
from tb_memory_plugin.store.roots import roots_of
from tb_memory_plugin.store.storage import is_remote
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views.summary import brief


@dataclass(frozen=True)
class Outcome:
    """What became of a source; ``error`` is the sentence if it could not be read."""

    path: str
    error: str | None
    events: int | None = None
    peak_bytes: int | None = None
    seconds: float | None = None


def run(arguments: argparse.Namespace) -> int:
    """Read all of ``arguments.paths``; status 1 if one could not be read."""
    outcomes = []
    for path, fault in _sources(arguments.paths):
        outcomes.append(Outcome(path, fault) if fault else _read(path, quiet=arguments.json))
        if not arguments.json:
            _say(outcomes[-1])
    if arguments.json:
        text.say_json({"sources": [asdict(outcome) for outcome in outcomes]})
    elif not outcomes:
        text.say("No recordings or snapshots there.")
    return 1 if any(outcome.error for outcome in outcomes) else 0


def _sources(paths: list[str]) -> Iterator[tuple[str, str | None]]:
    """Every source under ``paths``, with a sentence where it is known not to be readable."""
    probes = Probes()
    for path in paths:
        if is_remote(path):
            fault = "is not on this machine"
            yield path, str(SourceError(path, fault, "open it in TensorBoard, which fetches it"))
        elif not os.path.isdir(path):
            yield path, None
        else:
            (root,) = roots_of(path)
            for found in walk(root, probes, _no_rest):
                yield found.address, found.fault


def _read(path: str, *, quiet: bool) -> Outcome:
    start = time.perf_counter()
    try:
        with Progress(Path(path).name, sys.stderr, hidden=quiet) as shown:
            recording = load_path(Path(path), shown.report)
    except SourceError as error:
        return Outcome(path, str(error))
    seconds = round(time.perf_counter() - start, 3)
    told = brief(recording)
    return Outcome(path, None, told["events"], told["peak_bytes"], seconds)


def _say(outcome: Outcome) -> None:
    if outcome.error is not None:
        text.warn(f"tb-memory: {outcome.error}")
        return
    events, peak = text.grouped(outcome.events or 0), format_bytes(outcome.peak_bytes or 0)
    took = format_duration(int((outcome.seconds or 0) * 1e9))
    text.say(f"{outcome.path}: {events} events, peak {peak}, {took}")


def _no_rest() -> None:
    """Nobody else waits for this process."""
