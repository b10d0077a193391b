"""What MemoryWriter costs a training step: the same loop with it and without, in turn, one process.

Run it with a Python that has torch: ``python benchmarks/recorder_cost.py``. Prints a table in
Markdown: milliseconds a step, with all that reading and writing takes, and the ratio to the loop
without a writer, medians over rounds.
Torch runs on one thread, and time is the processor time of the process, which other programs
on the machine hardly change; rounds are short and alternate, so that the rest disturbs all alike.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tb_memory_plugin import MemoryWriter
from tb_memory_plugin.recording.recording import open_recording


@dataclass
class Case:
    """One way to run the loop, and what its rounds took."""

    name: str
    options: dict[str, Any] | None  # of MemoryWriter; None: no writer
    steps: list[float] = field(default_factory=list)  # seconds a step, reading and writing included
    events: int = 0
    bytes: int = 0


def network() -> nn.Module:
    """A small convolutional network for 32 × 32 images."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 16, 10),
    )  # fmt: skip


def one_round(case: Case, count: int, batch: int, logdir: Path) -> None:
    """Run ``count`` steps of a new network and note what they took."""
    torch.manual_seed(0)
    model = network()
    optimizer = torch.optim.Adam(model.parameters())
    images, classes = torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), classes).backward()
        optimizer.step()

    step()
    gc.collect()
    writer = None if case.options is None else MemoryWriter(logdir, **case.options)
    context: AbstractContextManager[Any] = nullcontext() if writer is None else writer
    ended: Callable[[], None] = (lambda: None) if writer is None else writer.step
    with context:
        if writer is not None:
            writer.track(model, optimizer)
        step()
        ended()  # the first step sets things up and writes the first file
        began = time.process_time()
        for _ in range(count):
            step()
            ended()
    case.steps.append((time.process_time() - began) / count)
    if writer is not None:
        file = writer.files[0]
        case.events = len(open_recording(file).table("events")) // (count + 1)
        case.bytes = file.stat().st_size // (count + 1)


def main() -> None:
    """Run all cases in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[16, 64, 256])
    options = parser.parse_args()
    torch.set_num_threads(1)
    out = sys.stdout
    out.write(f"torch {torch.__version__}, median of {options.rounds} rounds ")
    out.write(f"of {options.steps} steps\n\n")
    out.write("| batch | writer | ms a step | ratio | events a step | bytes a step |\n")
    out.write("|---|---|---|---|---|---|\n")
    out.flush()
    for batch in options.batch_sizes:
        cases = [
            Case("none", None),
            Case("MemoryWriter(stacks=False)", {"stacks": False, "scalars": False}),
            Case("MemoryWriter()", {"scalars": False}),
        ]
        for _ in range(options.rounds):
            for case in cases:
                with tempfile.TemporaryDirectory() as folder:
                    one_round(case, options.steps, batch, Path(folder))
        base = statistics.median(cases[0].steps)
        for case in cases:
            took = statistics.median(case.steps)
            out.write(
                f"| {batch} | {case.name} | {took * 1e3:.1f} | {took / base:.2f} | "
                f"{case.events or ''} | {case.bytes or ''} |\n"
            )


if __name__ == "__main__":
    main()
