"""What the Memory Viewer draws of a plan: bars of buffers and the curve, held against the plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.readers import hlo, xplane
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import breakdown, plan_bars, plan_buffers


@pytest.fixture(scope="module", params=["jit_train_step", "tpu_4device"])
def recording(request: pytest.FixtureRequest, shared_data: Path) -> Recording:
    xla = shared_data / "xla"
    if request.param == "tpu_4device":
        return derive(xplane.read(xla / "tpu_4device.xplane.pb"))
    return derive(hlo.read(xla / "jit_train_step.hlo_proto.pb"))


def told(content: bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of an answer, and what it says of itself."""
    table = pa.ipc.open_stream(content).read_all()
    metadata = table.schema.metadata or {}
    return table.to_pylist(), json.loads(metadata.get(b"alive", b"{}"))


def test_bars_are_of_the_groups_that_the_breakdown_has(recording: Recording) -> None:
    planned = plan_recording(recording)
    for plan, device in zip(reading.all_plans(recording), planned.devices, strict=True):
        for event in range(-1, plan.numbers["events"], 31):
            rows, about = told(plan_bars.bars(recording, plan, event, by="region"))
            whole = sum(row["bytes"] for row in rows)
            assert whole == about["total"] == reading.in_use(recording, plan, event)
            assert len(rows) == about["count"]
            births = [-1 if row["birth"] is None else row["birth"] for row in rows]
            assert births == sorted(births)
            found: dict[str, int] = {}
            for row in rows:
                assert row["birth"] is None or row["birth"] <= event
                assert row["death"] is None or row["death"] > event
                label = about["groups"][row["band"]]["label"]
                assert label == row["kind"]
                found[label] = found.get(label, 0) + int(row["bytes"])
            answer = breakdown.page(planned, device, at=f"event:{event}", by="region")
            wanted = {group["label"]: group["bytes"] for group in answer["groups"]}
            assert found == wanted, (device.name, event)


def test_small_buffers_of_many_are_left_out_and_counted(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = max(reading.all_plans(recording), key=lambda each: each.numbers["peak"])
    event = reading.moment(plan, "peak")
    every, _ = told(plan_bars.bars(recording, plan, event))
    monkeypatch.setattr(plan_bars, "MOST", 2)
    rows, about = told(plan_bars.bars(recording, plan, event))
    assert len(rows) == 2
    assert about["left_out"] == len(every) - 2
    assert about["left_out_bytes"] + sum(row["bytes"] for row in rows) == about["total"]
    assert min(row["bytes"] for row in rows) == sorted(row["bytes"] for row in every)[-2]


def test_the_curve_has_the_highest_moment_of_bins_of_as_many_events(recording: Recording) -> None:
    for plan in reading.all_plans(recording):
        events = plan.numbers["events"]
        whole, _ = told(plan_buffers.curve(recording, plan, 0, events, 16_384))
        assert [row["event"] for row in whole] == list(range(events))
        # A part that begins in the middle and ends after the last event: 8 events a bin.
        rows, _ = told(plan_buffers.curve(recording, plan, 3, 3 + 8 * 100, 100))
        for place, row in enumerate(rows):
            part = whole[3 + 8 * place : 11 + 8 * place]
            assert row["size"] == max(each["size"] for each in part)
            assert row == whole[int(row["event"])]
        assert len(rows) == max(0, -(-(events - 3) // 8))
