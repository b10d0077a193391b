"""What tests of JAX device memory profiles share: the real ones, and a recording by stack."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis import grouping
from tb_memory_plugin.analysis.breakdown import breakdown
from tb_memory_plugin.recording.recording import Device, Recording
from tests.conftest import SHARED_DATA
from tests.fixtures import pprof

XLA = SHARED_DATA / "xla"
REAL = sorted(XLA.glob("*.prof")) if XLA.is_dir() else []
UNSIZED = {"jax_tpu8_device_memory.prof": 149}

real = pytest.mark.skipif(not REAL, reason="the shared real files (../shared/data) are not here")
each_real = pytest.mark.parametrize("path", REAL or [None], ids=[p.name for p in REAL] or ["none"])


def written(folder: Path, made: pprof.Writer, name: str = "memory.prof") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(made.bytes(), mtime=0))
    return path


def where(sample: pprof.Read) -> str:
    """The key of the device that a sample belongs to."""
    named, kind = sample.labels.get("device", ""), sample.labels["kind"]
    return named if kind == "buffer" else f"{named} {kind}s".strip()


def stacks(recording: Recording) -> list[tuple[pprof.Frame, ...]]:
    frames = recording.table("frames").to_pylist()
    named = [(frame["function"], frame["file"], frame["line"]) for frame in frames]
    lists = recording.table("stacks").column("frames").to_pylist()
    return [tuple(named[row] for row in rows) for rows in lists]


def by_stack(recording: Recording, device: Device) -> dict[Any, tuple[int, int]]:
    """Count and bytes that the breakdown by stack has for every content of a stack."""
    groups = grouping.group_ids(recording, device, "stack")
    found = breakdown(recording, device, -1, groups)
    known = stacks(recording)
    rows = recording.values("allocations", "birth_stack", device)
    result: dict[Any, tuple[int, int]] = {}
    for place, count, total in zip(found.oldest, found.count, found.bytes, strict=True):
        row = int(rows[place])
        key = known[row] if row >= 0 else ()
        assert key not in result
        result[key] = (int(count), int(total))
    return result
