"""Traces of PyTorch's profiler: real ones equal their facts, made ones what they were made from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import kineto_trace
from tb_memory_plugin.readers.registry import reader_of
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.kineto import Json, memory, span, totals
from tests.formats.mutating import sentence
from tests.formats.test_snapshot_fuzz import check

TRACES = Path(__file__).parents[2] / "../shared/data/traces"
FACTS: dict[str, Any] = json.loads((TRACES / "facts.json").read_text()) if TRACES.is_dir() else {}


@pytest.mark.skipif(not FACTS, reason="the shared real files (../shared/data) are not here")
@pytest.mark.parametrize("name", sorted(FACTS) or ["none"])
def test_facts_of_a_real_trace(name: str) -> None:
    with (TRACES / name).open("rb") as file:
        assert reader_of(name, file.read(65_536)) is kineto_trace
    found = facts(derive(kineto_trace.read(TRACES / name)))["devices"]
    assert set(found) == set(FACTS[name])
    for key, expected in FACTS[name].items():
        assert {field: found[key][field] for field in expected} == expected


def read(tmp_path: Path, *events: Json, **about: Any) -> Recording:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, **about, "traceEvents": list(events)}))
    recording = derive(kineto_trace.read(path))
    check(recording)
    return recording


def rows(recording: Recording, table: str) -> list[Json]:
    found: list[Json] = recording.table(table).to_pylist()
    return found


def refused(tmp_path: Path, data: bytes, name: str = "a.pt.trace.json") -> str:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        kineto_trace.read(path)
    return sentence(caught.value, name)


def test_what_was_there_before_is_its_sum_and_what_is_freed_of_it(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        memory(10, 512, 0x1000, args=totals(10_512, 20_000, 0)),
        memory(11.5, -2_048, 0x2000, args=totals(8_464, 20_000, 1)),
        memory(12, -512, 0x1000, args=totals(7_952, 12_000, 2)),
    )
    usage = rows(recording, "usage")
    assert [row["allocated"] for row in usage] == [10_000, 10_512, 8_464, 7_952]
    assert [row["reserved"] for row in usage] == [20_000, 20_000, 20_000, 12_000]
    assert [row["time"] for row in usage] == [None, 0, 1_500, 2_000]
    lives = [(row["size"], row["birth"], row["death"]) for row in rows(recording, "allocations")]
    assert sorted(lives, key=str) == [(2_048, None, 1), (512, 0, 2), (7_952, None, None)]
    assert {each["what"] for each in recording.meta["missing"]} == {
        "allocations before the window",
        "stacks",
        "steps",
    }


def test_an_allocation_is_of_what_encloses_it(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        span("ProfilerStep#7", 0, 100, "user_annotation"),
        span("train.py(12): main", 1, 98, "python_function"),
        span("nn.Module: Linear_0", 5, 50, "python_function"),
        span("torch/nn/functional.py(2000): linear", 6, 40, "python_function"),
        span("aten::linear", 10, 20),
        span("aten::empty", 12, 2),
        span("aten::other", 13, 1, tid=3),
        memory(13, 512, 0x1000),
        memory(25, 512, 0x2000),
        memory(60, 512, 0x3000),
        memory(13, 512, 0x4000, tid=3),
        memory(500, 512, 0x5000),
        span("void kernel<int>()", 30, 5, "kernel", pid=0, tid=7),
    )
    found = {row["address"]: row for row in rows(recording, "allocations")}
    told = {address: (row["op"], row["module"], row["step"]) for address, row in found.items()}
    assert told == {
        0x1000: ("aten::empty", "Linear_0", 7),
        0x2000: ("aten::linear", "Linear_0", 7),
        0x3000: (None, None, 7),
        0x4000: ("aten::other", None, 7),
        0x5000: (None, None, None),
    }
    frames = rows(recording, "frames")
    stacks = [
        [(frames[i]["function"], frames[i]["file"], frames[i]["line"]) for i in row["frames"]]
        for row in rows(recording, "stacks")
    ]
    assert stacks[found[0x1000]["birth_stack"]] == [
        ("aten::empty", "", 0),
        ("aten::linear", "", 0),
        ("linear", "torch/nn/functional.py", 2000),
        ("nn.Module: Linear_0", "", 0),
        ("main", "train.py", 12),
    ]
    assert found[0x5000]["birth_stack"] is None
    spans, events = rows(recording, "spans"), rows(recording, "events")
    by_name = {row["name"]: row for row in spans}
    assert by_name["ProfilerStep#7"]["kind"] == "step" and by_name["ProfilerStep#7"]["step"] == 7
    assert by_name["aten::empty"]["parent"] == spans.index(by_name["aten::linear"])
    call = by_name["torch/nn/functional.py(2000): linear"]
    assert by_name["aten::linear"]["parent"] == spans.index(call)
    assert call["parent"] == spans.index(by_name["nn.Module: Linear_0"])
    assert by_name["void kernel<int>()"]["kind"] == "kernel"
    assert by_name["train.py(12): main"]["kind"] == call["kind"] == "python"
    around = [row["span"] if row["span"] is None else spans[row["span"]]["name"] for row in events]
    assert around == [
        "aten::empty",
        "aten::other",
        "aten::linear",
        "train.py(12): main",
        None,
    ]
    depths = {row["name"]: row["depth"] for row in spans}
    assert depths == {
        "ProfilerStep#7": 0,
        "train.py(12): main": 0,
        "nn.Module: Linear_0": 0,
        "torch/nn/functional.py(2000): linear": 1,
        "aten::linear": 0,
        "aten::empty": 1,
        "aten::other": 0,
        "void kernel<int>()": 0,
    }


def test_enclosing_spans_are_those_of_a_search(tmp_path: Path) -> None:
    chance = random.Random(5)
    spans: list[Json] = []

    def nest(begin: int, end: int, depth: int, tid: int) -> None:
        while begin < end and depth < 6:
            begin += chance.randrange(3)
            length = chance.randrange(1, 40)
            if begin + length > end:
                return
            spans.append(span(f"op{len(spans)}", begin, length, tid=tid))
            nest(begin, begin + length, depth + 1, tid)
            begin += length

    for tid in (2, 3):
        nest(0, 400, 0, tid)
    instants = [
        memory(chance.randrange(420) + 0.5, 8, 16 * (place + 1), tid=chance.choice((2, 3)))
        for place in range(200)
    ]
    mixed = [*spans, *instants]
    chance.shuffle(mixed)
    recording = read(tmp_path, *mixed)
    found = {row["address"]: row["op"] for row in rows(recording, "allocations")}
    for instant in instants:
        around = [
            one
            for one in spans
            if one["tid"] == instant["tid"] and one["ts"] <= instant["ts"] <= one["ts"] + one["dur"]
        ]
        innermost = min(around, key=lambda one: one["dur"])["name"] if around else None
        at = found[instant["args"]["Addr"]]
        lengths = {one["name"]: one["dur"] for one in around}
        assert at == innermost or lengths[at] == lengths[innermost]  # equals: either will do


def test_the_call_that_enters_an_annotation_is_not_around_what_follows(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        span("train.py(12): main", 0, 100, "python_function"),
        span("profiler.py(811): step", 1, 20, "python_function"),
        span("profiler.py(751): __enter__", 2, 15, "python_function"),
        span("ProfilerStep#7", 5, 60, "user_annotation"),
        span("aten::rounded", 30, 10),
        span("aten::empty", 31, 10),
        memory(32, 512, 0x1000),
        span("profiler.py(811): step", 64, 20, "python_function"),
        memory(70, -512, 0x1000),
    )
    (life,) = rows(recording, "allocations")
    names = [each["function"] for each in rows(recording, "frames")]
    stacks = [[names[frame] for frame in each["frames"]] for each in rows(recording, "stacks")]
    assert (life["op"], life["step"]) == ("aten::empty", 7)
    assert stacks[life["birth_stack"]] == ["aten::empty", "aten::rounded", "main"]
    assert stacks[life["death_stack"]] == ["step", "main"]


def test_the_first_era_has_neither_addresses_nor_totals(tmp_path: Path) -> None:
    events = [
        {**memory(10, 100), "tid": "2"},
        memory(11, 300),
        memory(12, 100),
        memory(13, -100),
        memory(14, -700),
        memory(15, -300),
    ]
    for event in events:
        del event["cat"]
    calls = "model.py(3): forward;train.py(9): <module>"
    outer = span("aten::conv2d", 9, 3, "Operator", tid="2", args={"Call stack": calls})
    recording = read(tmp_path, outer, span("aten::empty", 9.5, 1, "Operator"), *events)
    usage = [row["allocated"] for row in rows(recording, "usage")]
    assert usage == [700, 800, 1_100, 1_200, 1_100, 400, 100]
    lives = [(row["size"], row["birth"], row["death"]) for row in rows(recording, "allocations")]
    # The latest of its size is the one that is freed.
    assert lives == [(700, None, 4), (100, 0, None), (300, 1, 5), (100, 2, 3)]
    assert "addresses" in {each["what"] for each in recording.meta["missing"]}
    device = facts(recording)["devices"]["1:0"]
    assert device["allocated_peak"] is None and device["net_peak"] == 500
    stack = rows(recording, "stacks")[rows(recording, "allocations")[1]["birth_stack"]]
    frames = rows(recording, "frames")
    assert [frames[i]["function"] for i in stack["frames"]] == [
        "aten::empty",
        "aten::conv2d",
        "forward",
        "<module>",
    ]


def test_devices_clock_rank_and_failures(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        memory(5.25, 512, 0x1000, args={"Device Type": 0, "Device Id": -1}),
        memory(6, 512, 0x1000, args={"Device Type": 6, "Device Id": 1}),
        {**memory(7, 99, args={"Device Type": 6, "Device Id": 1}), "name": "[OutOfMemory]"},
        memory(8, 512, 0x1000, args={"Device Type": 77, "Device Id": 0}),
        baseTimeNanoseconds=1_751_410_836_000_000_000,
        distributedInfo={"backend": "nccl", "rank": 3},
        deviceProperties=[{"id": 1, "name": "MI300X", "totalGlobalMem": 206_141_652_992}],
        hip_driver_version=60443483,
    )
    meta = recording.meta
    assert [(each["key"], each["name"]) for each in meta["devices"]] == [
        ("0:-1", "cpu"),
        ("6:1", "hip:1"),
        ("77:0", "device type 77:0"),
    ]
    assert [each.get("capacity") for each in meta["devices"]] == [None, 206_141_652_992, None]
    assert meta["time_origin_ns"] == 1_751_410_836_000_005_250 and meta["clock"] == "unix"
    assert meta["rank"] == 3
    assert meta["versions"] == {"hip_driver_version": 60443483}
    (mark,) = rows(recording, "marks")
    assert (mark["kind"], mark["device"], mark["event"], mark["time"]) == (
        "out_of_memory",
        1,
        0,
        1_750,
    )
    assert facts(recording)["devices"]["6:1"]["oom"][0]["requested"] == 99


def test_a_break_in_the_totals_is_told(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        memory(1, 512, 0x1000, args=totals(512, 1024, 0)),
        memory(2, 512, 0x2000, args=totals(2_048, 4_096, 1)),
    )
    assert any("1 times the allocator's total moves" in each for each in recording.meta["problems"])


def test_events_of_one_time_are_in_order_of_their_index(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        memory(1, -512, 0x1000, args=totals(0, 1024, 1)),
        memory(1, 512, 0x1000, args=totals(512, 1024, 0)),
    )
    assert [row["allocated"] for row in rows(recording, "usage")] == [0, 512, 0]


def test_events_without_a_time_are_left_out_and_counted(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        memory(1, 512, 0x1000),
        {**memory(1, 512, 0x2000), "ts": None},
        {**span("a", 1, 1), "dur": None},
        {**span("b", 1, 1), "ts": "soon"},
    )
    assert len(rows(recording, "events")) == 1 and not rows(recording, "spans")
    assert "3 events without a valid time stamp were left out." in recording.meta["problems"]
