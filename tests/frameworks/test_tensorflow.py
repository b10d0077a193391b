"""A profile that TensorFlow has just written, against a walk by TensorFlow's own classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_memory_plugin import load
from tests.frameworks.conftest import Run, said

pytestmark = pytest.mark.frameworks


def test_every_allocator_has_what_its_events_say(tensorflow_run: Run) -> None:
    found = load(Path(tensorflow_run.told["path"]))
    expected = tensorflow_run.told["devices"]
    assert found.format == "xplane"
    assert found.devices.keys() == expected.keys()
    for key, told in expected.items():
        device = found.devices[key]
        for name in ("allocs", "frees", "allocated_peak", "allocated_end"):
            assert device[name] == told[name], (key, name)
        assert device["allocator"]["lifetime_peak"] == told["lifetime_peak"]


def test_allocations_have_their_operators(tensorflow_run: Run) -> None:
    found = load(Path(tensorflow_run.told["path"]))
    for device in found.recording.devices:
        sums: dict[str, int] = {}
        for life in found.recording.table("allocations").to_pylist():
            if life["device"] == device.index and life["birth"] is not None:
                op = life["op"] or ""
                sums[op] = sums.get(op, 0) + life["size"]
        assert sums == tensorflow_run.told["devices"][device.key]["allocated_by_op"]


def test_the_marked_steps_are_found(tensorflow_run: Run) -> None:
    found = load(Path(tensorflow_run.told["path"]))
    spans = found.recording.table("spans").to_pylist()
    steps = {span["step"] for span in spans if span["kind"] == "step"}
    assert steps == set(range(tensorflow_run.told["steps"]))


def test_info_and_peak(tensorflow_run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    path, expected = tensorflow_run.told["path"], tensorflow_run.told["devices"]
    found = said(capsys, "info", path)
    assert (found["format"], found["devices"].keys()) == ("xplane", expected.keys())
    for key, told in expected.items():
        device = found["devices"][key]
        for name in ("allocs", "frees", "allocated_peak", "allocated_end"):
            assert device[name] == told[name], (key, name)
        peak = said(capsys, "peak", path, "--device", key, "--by", "op", "--limit", 1000)
        assert peak["total_bytes"] == told["allocated_peak"]
        assert sum(group["bytes"] for group in peak["groups"]) == told["allocated_peak"]
