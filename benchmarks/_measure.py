"""Whole processes, run by turns: their wall time, processor time and peak memory."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What a plain ``pickle.load`` of a file is measured with: ``python -c LOAD FILE``.
LOAD = "import pickle, sys; made = pickle.load(open(sys.argv[1], 'rb'))"


@dataclass(frozen=True)
class Sample:
    """One process from start to exit."""

    wall: float  # seconds
    processor: float  # seconds, user and system
    peak: int  # bytes of resident memory


@dataclass(frozen=True)
class Summary:
    """The medians of some samples."""

    wall: float
    processor: float
    peak: int


def run(command: Sequence[str]) -> Sample:
    """Run ``command`` to its end. Raises CalledProcessError if it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    unit = 1 if sys.platform == "darwin" else 1024
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def spawned(work: Callable[..., object], *arguments: object) -> None:
    """``work`` in a process of its own: what it leaves behind must not weigh on what is measured.

    Raises RuntimeError if it fails.
    """
    process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"{work.__name__}{arguments} ended with {process.exitcode}")


def by_turns(
    commands: Mapping[str, Sequence[str] | Callable[[], Sample]], rounds: int
) -> dict[str, Summary]:
    """Run all ``commands`` once a round, so that what else the machine does hits all alike.

    What is callable measures itself.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            samples[name].append(command() if callable(command) else run(command))
    return {
        name: Summary(
            statistics.median(sample.wall for sample in found),
            statistics.median(sample.processor for sample in found),
            int(statistics.median(sample.peak for sample in found)),
        )
        for name, found in samples.items()
    }


def compared(found: Mapping[str, Summary], ours: str, theirs: str) -> None:
    """Print what was measured, and how many times what ``theirs`` takes ``ours`` does."""
    print(f"  {'':16}{'wall s':>9}{'processor s':>13}{'peak MiB':>10}")
    for name, each in found.items():
        print(f"  {name:16}{each.wall:9.2f}{each.processor:13.2f}{each.peak / 2**20:10.0f}")
    one, other = found[ours], found[theirs]
    print(f"  {one.wall / other.wall:5.2f} × {ours} / {theirs}")
    print(f"  {one.processor / other.processor:5.2f} × {ours}, processor time / {theirs}")
    print(f"  {one.peak / other.peak:5.2f} × {ours}, peak memory / {theirs}")
