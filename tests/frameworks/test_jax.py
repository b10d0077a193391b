"""What JAX writes on the CPU: live arrays as it lists them itself, and a trace without memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_memory_plugin import load
from tests.frameworks.conftest import Run, said

pytestmark = pytest.mark.frameworks


def test_live_arrays_are_in_the_device_memory_profile(jax_run: Run) -> None:
    found = load(jax_run.folder / "live.prof")
    assert found.format == "jax_pprof"
    # Executables are a device of their own.
    cpu, executables = found.recording.devices
    assert [cpu.key, executables.key] == ["cpu:0", "executables"]
    sizes = found.recording.values("allocations", "size", cpu).tolist()
    assert sorted(sizes) == sorted(jax_run.told["alive"])
    assert found.devices[cpu.key]["allocated_end"] == sum(jax_run.told["alive"])
    told = [*jax_run.told["parameters"].values(), jax_run.told["inputs"]]
    assert sorted(told) == sorted(sizes)


def test_the_arrays_are_told_by_the_function_that_made_them(jax_run: Run) -> None:
    found = load(jax_run.folder / "live.prof")
    frames = found.recording.table("frames").to_pylist()
    own = {frame["function"] for frame in frames if "jax_training.py" in (frame["file"] or "")}
    assert "main" in own


def test_a_trace_on_the_cpu_has_plans_and_says_that_it_holds_no_memory(jax_run: Run) -> None:
    found = load(Path(jax_run.told["trace"]))
    (missing,) = found.recording.meta["missing"]
    assert missing["what"] == "allocator events"
    assert "JAX on a CPU never writes them" in missing["remedy"] + missing["why"]
    assert "jit_step" in found.recording.table("modules").column("name").to_pylist()


def test_info_and_peak(jax_run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    path, alive = jax_run.folder / "live.prof", jax_run.told["alive"]
    found = said(capsys, "info", path)
    assert found["format"] == "jax_pprof"
    assert found["devices"]["cpu:0"]["allocated_end"] == sum(alive)
    peak = said(capsys, "peak", path, "--device", "cpu:0", "--by", "stack", "--limit", 1000)
    assert peak["total_bytes"] == sum(group["bytes"] for group in peak["groups"]) == sum(alive)
    assert sum(group["count"] for group in peak["groups"]) == len(alive)
