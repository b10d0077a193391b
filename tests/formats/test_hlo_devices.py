"""Plans asked like any device: what they answer is what the plan says."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis import plan_lives
from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.readers import hlo, xplane
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import breakdown, lives
from tb_memory_plugin.views import csv as csv_views
from tb_memory_plugin.views.summary import summary

SYNTHETIC = ("basic", "share1", "share2", "twoTraces", "noTrace", "unfreed")


def every(shared_data: Path) -> dict[str, Recording]:
    xla = shared_data / "xla"
    found = {
        name: derive(hlo.read(xla / f"{name}.hlo_proto.pb"))
        for name in ("jit_train_step", *(f"synthetic/{each}" for each in SYNTHETIC))
    }
    for name in ("tpu_4device", "jax_mi300_attention", "jax_transformer_cpu"):
        found[name] = derive(xplane.read(xla / f"{name}.xplane.pb"))
    return found


@pytest.fixture(scope="module")
def recordings(shared_data: Path) -> dict[str, Recording]:
    return every(shared_data)


def test_peak_and_curve_are_those_of_the_plan(recordings: dict[str, Recording]) -> None:
    for name, recording in recordings.items():
        planned = plan_recording(recording)
        for plan, device in zip(reading.all_plans(recording), planned.devices, strict=True):
            (told,) = summary(planned, version="", run="", name="", devices=[device])["devices"]
            assert told["allocated_peak"] == plan.numbers["peak"], (name, device.name)
            assert told["events"] == plan.numbers["events"]
            if plan.numbers["peak"] > plan.numbers["indefinite"] + plan.numbers["untraced"]:
                assert told["peak_event"] == plan.numbers["peak_event"]


def test_what_is_alive_after_every_event_is_what_is_in_use(
    recordings: dict[str, Recording],
) -> None:
    for name, recording in recordings.items():
        planned = plan_recording(recording)
        for plan, device in zip(reading.all_plans(recording), planned.devices, strict=True):
            for event in range(-1, plan.numbers["events"], 7):
                answer: dict[str, Any] = breakdown.page(
                    planned, device, at=f"event:{event}", by="region", sort="-bytes"
                )
                whole = sum(group["bytes"] for group in answer["groups"])
                assert whole == reading.in_use(recording, plan, event), (name, device.name, event)


def test_an_allocation_is_the_buffer_of_its_id(recordings: dict[str, Recording]) -> None:
    for recording in recordings.values():
        planned = plan_recording(recording).table("allocations")
        order = plan_lives.in_order(recording)
        lives = recording.table("buffer_lives").take(order)
        assert len(order) == len(planned)
        for here, there in (
            ("size", "size"),
            ("birth", "birth"),
            ("death", "death"),
            ("address", "offset"),
            ("device", "plan"),
        ):
            assert planned.column(here).to_pylist() == lives.column(there).to_pylist()


def test_arguments_are_called_by_their_names(recordings: dict[str, Recording]) -> None:
    planned = plan_recording(recordings["jit_train_step"])
    rows = [row for row in planned.table("allocations").to_pylist() if row["region"] == "parameter"]
    assert len(rows) == 53
    assert all("[" in row["op"] or row["op"] == "ids" for row in rows)


def test_lists_are_kept_as_csv_in_the_words_of_plans(recordings: dict[str, Recording]) -> None:
    recording = recordings["jit_train_step"]
    planned = plan_recording(recording)
    (device,) = planned.devices
    text = "".join(lives.whole(planned, device, sort="-bytes"))
    rows = list(csv.DictReader(text.splitlines()))
    table = planned.table("allocations").to_pylist()
    assert len(rows) == len(table)
    for row in rows:
        life = table[int(row["id"])]
        sizes = int(row["size"]), int(row["unpadded"])
        assert sizes == (life["size"], life["requested"])
        assert (row["kind"], row["framework_op"]) == (life["region"], life["op"] or "")
        assert int(row["padding"]) == life["size"] - life["requested"]
        assert float(row["expansion"]) == pytest.approx(life["size"] / life["requested"], abs=1e-3)
        assert int(row["offset"], 16) == life["address"]
    # Grouped by what the instructions do.
    answer = breakdown.page(planned, device, at="peak", by="annotation", sort="-bytes")
    alive = [row for row in table if (row["birth"] or 0) <= 105 and (row["death"] or 999) > 105]
    assert sum(group["bytes"] for group in answer["groups"]) == sum(row["size"] for row in alive)
    assert "fusion" in {group["label"] for group in answer["groups"]}


def test_the_csv_of_buffers_says_of_each_what_xprof_says(
    recordings: dict[str, Recording], shared_data: Path
) -> None:
    file = shared_data / "xla" / "jax_transformer_cpu.jit_train_step.memory_viewer.json"
    heap = json.loads(file.read_text())["maxHeap"]
    wanted = {
        (
            each["instructionName"],
            each["opCode"],
            each.get("tfOpName", ""),
            round(each["logicalBufferSizeMib"] * (1 << 20)),
            f"{place['fileName']}:{place['lineNumber']}" if place else "",
        )
        for each in heap
        for place in (each.get("sourceInfo"),)
        if each.get("groupName") == "Temporary" and "{" not in each["instructionName"]
    }
    assert len([words for words in wanted if words[-1]]) > 50
    planned = plan_recording(recordings["jit_train_step"])
    (device,) = planned.devices
    for pieces in (
        lives.whole(planned, device, at="peak", sort="where"),
        csv_views.allocations(planned, device, by="region"),
    ):
        rows = list(csv.DictReader("".join(pieces).splitlines()))
        told = {
            (row["name"], row["opcode"], row["framework_op"], int(row["size"]), row["source"])
            for row in rows
        }
        assert wanted <= told


def test_lists_are_sorted_by_opcode_and_by_source_line(recordings: dict[str, Recording]) -> None:
    planned = plan_recording(recordings["jit_train_step"])
    (device,) = planned.devices
    for column, key in (("annotation", "annotation"), ("where", "where")):
        for sign in ("", "-"):
            answer = lives.page(planned, device, sort=sign + column, limit=1000)
            words = [row[key] for row in answer["rows"]]
            known = [word.casefold() for word in words if word is not None]
            assert known == sorted(known, reverse=bool(sign)) and len(set(known)) > 5
            assert words[len(known) :] == [None] * (len(words) - len(known))
