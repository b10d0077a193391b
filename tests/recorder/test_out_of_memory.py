"""A loop that runs out of memory: what is held is written, and the exception goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tb_memory_plugin.recorder.failures import out_of_memory
from tests.recorder.conftest import Said
from tests.recorder.loops import read

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")

TOO_MUCH = 1 << 50


def test_running_out_leaves_a_mark_and_what_was_held(tmp_path: Path, said: Said) -> None:
    memory = MemoryWriter(tmp_path, scalars=False)
    kept = None
    with pytest.raises(RuntimeError, match="can't allocate memory"), memory:
        kept = torch.zeros(1003)
        memory.step()
        torch.empty(TOO_MUCH, dtype=torch.uint8)
    recorded = read(memory.files[0])
    (mark,) = recorded.rows("marks")
    assert mark["kind"] == "out_of_memory"
    assert mark["device"] == 0
    assert f"tried to allocate {TOO_MUCH} bytes" in mark["text"]
    assert json.loads(mark["values"]) == {"requested": TOO_MUCH}
    assert mark["event"] == len(recorded.rows("events")) - 1
    step = next(row for row in recorded.rows("spans") if row["kind"] == "step")
    assert mark["time"] > step["end"]
    assert any(row["size"] == 4012 and row["death"] is None for row in recorded.lives)
    assert said() == []
    assert kept is not None


def test_a_failure_that_the_loop_survives_is_marked_too(tmp_path: Path) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = torch.zeros(1003)
        with pytest.raises(RuntimeError):
            torch.empty(TOO_MUCH, dtype=torch.uint8)
        memory.step()
    (mark,) = read(memory.files[0]).rows("marks")
    assert (mark["kind"], mark["text"]) == ("out_of_memory", "an allocation failed")
    assert kept is not None


def test_which_errors_mean_out_of_memory() -> None:
    cuda = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore")
    assert out_of_memory(cuda) == ("CUDA out of memory. Tried to allocate 2.00 GiB.", {})
    assert out_of_memory(MemoryError()) == ("MemoryError", {})
    older = RuntimeError("HIP out of memory. Tried to allocate 20.00 MiB")
    assert out_of_memory(older) is not None
    assert out_of_memory(RuntimeError("shapes cannot be multiplied")) is None
    assert out_of_memory(ValueError("out of memory")) is None
    assert out_of_memory(None) is None
