"""Train with PyTorch on the CPU under its profiler; export a trace and memory timelines.

    python torch_training.py FOLDER

Prints JSON: what the profiler's own list of events says of memory, before anything was written.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

STEPS = 2


def main(folder: Path) -> None:
    """Train, and export into ``folder``."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters())
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=0, active=STEPS),
        profile_memory=True,
        record_shapes=True,
        with_stack=True,
    ) as profiler:
        for number in range(STEPS):
            with record_function("forward"):
                loss = model(torch.randn(32 * (number + 1), 64)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number + 1 < STEPS:
                profiler.step()
    moved = [
        event.nbytes()
        for event in profiler.profiler.kineto_results.events()
        if event.name() == "[memory]"
    ]
    profiler.export_chrome_trace(str(folder / "run.pt.trace.json"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, with nothing in its place
        for name in ("timeline.json", "timeline.raw.json.gz"):
            profiler.export_memory_timeline(str(folder / name), device="cpu")
    answer = {
        "steps": STEPS,
        "allocs": sum(size > 0 for size in moved),
        "frees": sum(size < 0 for size in moved),
        "bytes_allocated": sum(size for size in moved if size > 0),
        "bytes_freed": -sum(size for size in moved if size < 0),
        "parameters": sum(each.nbytes for each in model.parameters()),
        "tensors": len(list(model.parameters())),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
