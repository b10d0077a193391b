"""The demo: one run grows with every step, the other ends every step where it began."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tb_memory_plugin
from tb_memory_plugin.api import LoadedRecording
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.torch

STEPS = 5
ONE_NUMBER = 64  # bytes: 4, rounded up as an allocator may


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's two runs, smaller than ``make demo`` makes them."""
    logdir = tmp_path_factory.mktemp("runs")
    command = [sys.executable, str(REPOSITORY / "demo" / "train.py"), "--logdir", str(logdir)]
    subprocess.run([*command, "--steps", str(STEPS), "--batch-size", "8"], check=True)
    return logdir


def recording(run: Path) -> LoadedRecording:
    """The one recording of a run."""
    (path,) = run.glob("plugins/memory/*.tbmem")
    return tb_memory_plugin.load(path)


def ends_of_steps(run: LoadedRecording) -> list[int]:
    """Bytes alive when each step ends."""
    spans = run.recording.values("spans", "end")
    kinds = run.table("spans").column("kind").to_pylist()
    ends = spans[[kind == "step" for kind in kinds]]
    usage = run.recording.values("usage", "time")
    rows = np.searchsorted(usage, ends, side="right") - 1
    return [int(value) for value in run.recording.values("usage", "allocated")[rows]]


def test_the_leak_shows_and_the_cure_too(runs: Path) -> None:
    leaky, fixed = recording(runs / "leaky"), recording(runs / "fixed")
    assert list(leaky.devices) == list(fixed.devices) == ["cpu"]
    growing, level = ends_of_steps(leaky), ends_of_steps(fixed)
    assert len(growing) == len(level) == STEPS
    assert all(later > earlier for earlier, later in pairwise(growing))
    # All that stays of a step is the number its check gave.
    assert all(later - earlier <= ONE_NUMBER for earlier, later in pairwise(level[1:]))
    assert leaky.devices["cpu"].allocated_peak > fixed.devices["cpu"].allocated_peak


def test_gradients_that_stay_are_called_gradients(runs: Path) -> None:
    def gradients(name: str) -> int:
        groups = recording(runs / name).breakdown(by="category", at=f"step:{STEPS - 1}")["groups"]
        return sum(group["bytes"] for group in groups if group["key"] == "gradient")

    assert gradients("leaky") > gradients("fixed")


def test_scalars_stand_beside_the_memory(runs: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for run in ("leaky", "fixed"):
        (events,) = (runs / run).glob("events.out.tfevents.*")
        found = EventAccumulator(str(events))
        found.Reload()
        tags = found.Tags()
        assert "loss/train" in [*tags["scalars"], *tags["tensors"]]
        assert any("memory" in tag for tag in [*tags["scalars"], *tags["tensors"]])
