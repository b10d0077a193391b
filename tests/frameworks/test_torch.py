"""What PyTorch's profiler has just written, against its own list of events."""

from __future__ import annotations

import pytest

from tb_memory_plugin import load
from tests.frameworks.conftest import Run, said

pytestmark = pytest.mark.frameworks


def test_a_trace_has_every_event_of_the_profiler(torch_run: Run) -> None:
    found = load(torch_run.folder / "run.pt.trace.json")
    (device,) = found.devices.values()
    for name in ("allocs", "frees", "bytes_allocated", "bytes_freed"):
        assert device[name] == torch_run.told[name], name
    assert found.format == "kineto_trace"


def test_a_trace_has_operators_stacks_and_steps(torch_run: Run) -> None:
    found = load(torch_run.folder / "run.pt.trace.json")
    lives = found.recording.table("allocations").to_pylist()
    assert {"aten::addmm", "aten::empty"} & {life["op"] for life in lives}
    frames = found.recording.table("frames").to_pylist()
    assert any("torch_training.py" in (frame["file"] or "") for frame in frames)
    spans = found.recording.table("spans").to_pylist()
    steps = {span["step"] for span in spans if span["kind"] == "step"}
    assert len(steps) == torch_run.told["steps"]
    assert sum(span["name"] == "forward" for span in spans) == torch_run.told["steps"]


def test_both_timelines_tell_the_same_peak(torch_run: Run) -> None:
    levels = load(torch_run.folder / "timeline.json")
    raw = load(torch_run.folder / "timeline.raw.json.gz")
    (by_level,), (by_move,) = levels.devices.values(), raw.devices.values()
    assert by_level["allocated_peak"] == by_move["allocated_peak"] > torch_run.told["parameters"]


def test_the_peak_is_made_of_what_the_model_holds(torch_run: Run) -> None:
    raw = load(torch_run.folder / "timeline.raw.json.gz")
    groups = {group["key"]: group["bytes"] for group in raw.breakdown("category")["groups"]}
    parameters, tensors = torch_run.told["parameters"], torch_run.told["tensors"]
    assert groups["parameter"] == groups["gradient"] == parameters
    # Adam keeps two averages a parameter, and the number of its steps in four bytes.
    assert groups["optimizer state"] == 2 * parameters + 4 * tensors


def test_info_and_peak_of_the_trace(torch_run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    path = torch_run.folder / "run.pt.trace.json"
    found = said(capsys, "info", path)
    assert found["format"] == "kineto_trace"
    (device,) = found["devices"].values()
    for name in ("allocs", "frees", "bytes_allocated", "bytes_freed"):
        assert device[name] == torch_run.told[name], name
    peak = said(capsys, "peak", path, "--by", "op", "--limit", 1000)
    assert peak["total_bytes"] == sum(group["bytes"] for group in peak["groups"])
    assert peak["total_bytes"] == device["allocated_peak"] > torch_run.told["parameters"]


@pytest.mark.parametrize("name", ["timeline.json", "timeline.raw.json.gz"])
def test_info_and_peak_of_a_timeline(
    torch_run: Run, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = torch_run.folder / name
    found = said(capsys, "info", path)
    (device,) = found["devices"].values()
    assert found["format"] == "memory_timeline"
    peak = said(capsys, "peak", path, "--by", "category", "--limit", 1000)
    groups = {group["key"]: group["bytes"] for group in peak["groups"]}
    assert sum(groups.values()) == peak["total_bytes"] == device["allocated_peak"]
    assert groups["parameter"] == torch_run.told["parameters"]
