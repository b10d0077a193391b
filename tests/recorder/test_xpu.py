"""The engine on the allocator's history, on a stand-in for ``torch.xpu``."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tests.fixtures import snapshots
from tests.recorder.conftest import Said
from tests.recorder.loops import read

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")


def test_the_history_of_an_xpu_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """torch.xpu has no way to ask whether a history is on, and tells nobody of failures."""
    asked: list[Any] = []
    structure = snapshots.snapshot(events=600, seed=3)
    stand_in = types.SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        device_count=lambda: 1,
        memory_reserved=lambda _: 9_000_000,
        memory_allocated=lambda _: 7_000_001,
        memory=types.SimpleNamespace(
            _record_memory_history=lambda enabled="all", **_: asked.append(enabled),
            _snapshot=lambda: snapshots.snapshot(events=600, seed=3),
        ),
    )
    monkeypatch.setattr(torch, "xpu", stand_in)
    with MemoryWriter(tmp_path, engines=("allocator",), scalars=False) as memory:
        memory.step()
    assert asked == ["all", None]
    (path,) = memory.files
    recorded = read(path)
    assert [device.name for device in recorded.recording.devices] == ["xpu:0"]
    births = sum(entry["action"] == "alloc" for entry in structure["device_traces"][0])
    assert sum(row["birth"] is not None for row in recorded.lives) == births
    assert said() == []
