"""Peaks of steps against the totals that torch's own profiler writes into its trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tests.recorder.loops import read

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
nn = torch.nn


class Points:
    """A SummaryWriter that keeps what it is told."""

    def __init__(self) -> None:
        self.found: dict[str, dict[int, Any]] = {}

    def add_scalar(self, tag: str, value: Any, step: int) -> None:
        self.found.setdefault(tag, {})[step] = value


def steps(count: int) -> list[Callable[[], None]]:
    """``count`` training steps of different sizes, the same bytes whenever they are run."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters())
    kept: list[Any] = []

    def step(number: int) -> None:
        loss = model(torch.randn(32 * (1 + number % 3), 64)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append(torch.zeros(1001 + number))

    return [lambda number=number: step(number) for number in range(count)]


def totals(run: list[Callable[[], None]], folder: Path) -> tuple[list[int], list[int]]:
    """Highest and last "Total Allocated" of every step, as the trace of torch.profiler has it."""
    marks = []
    with torch.profiler.profile(profile_memory=True) as profile:
        for number, step in enumerate(run):
            with torch.profiler.record_function(f"mark {number}"):
                step()
    profile.export_chrome_trace(str(folder / "trace.json"))
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    marks = {e["name"]: (e["ts"], e["ts"] + e["dur"]) for e in events if "mark" in e["name"]}
    memory = sorted(
        (e["args"]["Ev Idx"], e["ts"], e["args"]["Bytes"], e["args"]["Total Allocated"])
        for e in events
        if e["name"] == "[memory]"
    )
    start = memory[0][3] - memory[0][2]  # torch counts on from what was profiled before
    peaks, ends = [], []
    held = 0
    for number in range(len(run)):
        begin, end = marks[f"mark {number}"]
        inside = [total - start for _, ts, _, total in memory if begin <= ts <= end]
        peaks.append(max([held, *inside]))
        held = ends.append(inside[-1]) or inside[-1]
    return peaks, ends


@pytest.mark.usefixtures("every_step")
def test_steps_have_the_peaks_and_ends_of_torch_profiler(tmp_path: Path) -> None:
    warm = steps(1)
    warm[0]()
    theirs = totals(steps(6), tmp_path)
    points = Points()
    run = steps(6)
    with MemoryWriter(tmp_path, writer=points) as memory:
        for step in run:
            step()
            memory.step()
    peaks = list(points.found["memory/peak_allocated/cpu"].values())
    ends = list(points.found["memory/end_allocated/cpu"].values())
    assert (peaks, ends) == theirs

    recorded = read(memory.files[0])
    usage = recorded.rows("usage")
    spans = [row for row in recorded.rows("spans") if row["kind"] == "step"]
    inside = [
        [row["allocated"] for row in usage if span["begin"] <= (row["time"] or -1) <= span["end"]]
        for span in spans
    ]
    assert [values[-1] for values in inside] == ends
    before = [0, *ends]
    assert [max([held, *values]) for held, values in zip(before, inside, strict=False)] == peaks


def test_tracked_memory_from_before_the_window_is_counted(tmp_path: Path) -> None:
    model = nn.Linear(10, 10)
    points = Points()
    with MemoryWriter(tmp_path, writer=points) as memory:
        memory.track(model)
        memory.step()
    assert points.found["memory/peak_allocated/cpu"] == {0: 440}
    assert points.found["memory/end_allocated/cpu"] == {0: 440}
    assert read(memory.files[0]).rows("usage")[0]["allocated"] == 440
