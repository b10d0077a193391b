"""Calls of CUDA and what they launched, in exports of Nsight Systems, against a slow walk."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.readers import nsys_work
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.nsys import PID, THREAD, Row, call, kernel, memory, nvtx, on_device
from tests.formats.test_nsys import read, rows

WORDS = ["cudaLaunchKernel_v7000", "gemm", "void gemm<float>(float*)", "cudaMemcpyAsync_v3020"]
STRINGS = [{"id": place, "value": word} for place, word in enumerate(WORDS)]
KERNELS, COPIES = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"
SETS, CALLS = "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME"
GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"


def tables(**more: Any) -> dict[str, Any]:
    """A step that launches a kernel, copies, sets, and launches a graph."""
    return {
        "StringIds": STRINGS,
        "NVTX_EVENTS": [nvtx("step 1", 10, 100), nvtx("forward", 20, 60)],
        CALLS: [
            call(1, 0, start=22, end=30),
            call(2, 3, start=32, end=40, returnValue=2),
            call(3, 0, start=70, end=80),
            call(4, 3, start=85, end=90, globalTid=THREAD + 1),
        ],
        KERNELS: [kernel(1, 1, 50, 70, demangledName=2)],
        COPIES: [
            on_device(80, 90, correlationId=2, bytes=64, copyKind=1, srcKind=1, dstKind=2),
            on_device(90, 95, correlationId=9, bytes=8, copyKind=77, streamId=0xFFFF_FFFF),
        ],
        SETS: [on_device(95, 97, correlationId=4, bytes=32, value=0, memKind=2, streamId=9)],
        GRAPHS: [on_device(110, 150, correlationId=3, graphId=5, graphExecId=6)],
        **more,
    }


def linked(recording: Recording) -> list[tuple[str, str, str]]:
    spans = rows(recording, "spans")
    return [
        (link["kind"], spans[link["source"]]["name"], spans[link["target"]]["name"])
        for link in rows(recording, "links")
    ]


def test_calls_kernels_and_copies_are_spans(tmp_path: Path) -> None:
    recording = read(tmp_path, [memory(25, 100, 0x1000, correlationId=1)], **tables())
    columns = ("track", "kind", "name", "begin", "end", "device", "depth", "parent")
    found = [tuple(row[name] for name in columns) for row in rows(recording, "spans")]
    assert found == [
        ("thread 77", "step", "step 1", 0, 90, None, 0, None),
        ("thread 77", "annotation", "forward", 10, 50, None, 0, 0),
        ("thread 77", "runtime", "cudaLaunchKernel", 12, 20, None, 0, 1),
        ("thread 77", "runtime", "cudaMemcpyAsync", 22, 30, None, 0, 1),
        ("thread 77", "runtime", "cudaLaunchKernel", 60, 70, None, 0, 0),
        ("thread 78", "runtime", "cudaMemcpyAsync", 75, 80, None, 0, None),
        ("cuda:0 stream 7", "kernel", "gemm", 40, 60, 0, 0, None),
        ("cuda:0 stream 7", "copy", "memcpy host-to-device", 70, 80, 0, 0, None),
        ("cuda:0 stream 7", "kernel", "CUDA graph 5", 100, 140, 0, 0, None),
        ("cuda:0 stream 9", "copy", "memset", 85, 87, 0, 0, None),
        ("cuda:0", "copy", "memcpy of kind 77", 80, 85, 0, 0, None),
    ]
    said = {row["name"]: json.loads(row["args"]) for row in rows(recording, "spans") if row["args"]}
    assert said == {
        "cudaMemcpyAsync": {"returnValue": 2},
        "gemm": {
            "grid": [3, 1, 1],
            "block": [256, 1, 1],
            "registersPerThread": 32,
            "staticSharedMemory": 0,
            "dynamicSharedMemory": 1024,
            "demangledName": "void gemm<float>(float*)",
        },
        "memcpy host-to-device": {"bytes": 64, "srcKind": "pinned", "dstKind": "device"},
        "memcpy of kind 77": {"bytes": 8},
        "memset": {"bytes": 32, "value": 0, "memKind": "device"},
    }
    assert linked(recording) == [
        ("launch", "cudaLaunchKernel", "gemm"),
        ("launch", "cudaMemcpyAsync", "memcpy host-to-device"),
        ("launch", "cudaLaunchKernel", "CUDA graph 5"),
        ("launch", "cudaMemcpyAsync", "memset"),
    ]


def test_launches_of_collectives_are_called_so(tmp_path: Path) -> None:
    strings = [dict(each) for each in STRINGS]
    strings[1]["value"] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    recording = read(tmp_path, [memory(25, 1, 0x1000)], **tables(StringIds=strings))
    kinds = {target: kind for kind, _, target in linked(recording)}
    assert kinds.pop("ncclDevKernel_AllReduce_Sum_f32_RING_LL") == "collective"
    assert len(kinds) == 3 and set(kinds.values()) == {"launch"}


def test_ways_of_copying_are_called_as_the_export_says(tmp_path: Path) -> None:
    ways = [{"id": 77, "name": "CUDA_MEMCPY_KIND_X", "label": "Sideways"}]
    recording = read(tmp_path, [memory(25, 1, 0x1000)], **tables(ENUM_CUDA_MEMCPY_OPER=ways))
    names = {row["name"] for row in rows(recording, "spans") if row["kind"] == "copy"}
    assert names == {"memcpy host-to-device", "memcpy sideways", "memset"}


def test_events_are_in_their_call_or_the_range_of_their_thread(tmp_path: Path) -> None:
    events = [
        memory(25, 100, 0x1000, correlationId=1),
        memory(45, 100, 0x2000, correlationId=12),
        memory(99, -100, 0x1000),
        memory(120, -100, 0x2000, correlationId=12, globalPid=(PID + 1) << 24),
    ]
    given = tables()
    given[CALLS].append(call(12, 0, start=-1, end=-1))  # without a time
    recording = read(tmp_path, events, **given)
    spans = rows(recording, "spans")
    found = [
        None if row["span"] is None else spans[row["span"]]["name"]
        for row in rows(recording, "events")
    ]
    assert found == ["cudaLaunchKernel", "forward", None, None]


def test_ids_are_those_of_a_process_and_so_are_devices(tmp_path: Path) -> None:
    other = {"globalPid": (PID + 1) << 24}
    given = {
        "StringIds": STRINGS,
        CALLS: [call(1, 0, start=5, end=6), call(1, 3, start=7, end=8, globalTid=(PID + 1) << 24)],
        KERNELS: [
            kernel(1, 1, 10, 11, **other),
            kernel(1, 2, 12, 13),
            kernel(1, 2, 14, 15, globalPid=None),
        ],
    }
    events = [memory(1, 100, 0x1000), memory(2, 100, 0x1000, **other)]
    recording = read(tmp_path, events, **given)
    assert linked(recording) == [
        ("launch", "cudaLaunchKernel", WORDS[2]),
        ("launch", "cudaMemcpyAsync", "gemm"),
    ]
    found = {
        (row["track"], row["device"]) for row in rows(recording, "spans") if row["kind"] == "kernel"
    }
    assert found == {
        (f"process {PID} cuda:0 stream 7", 0),
        (f"process {PID + 1} cuda:0 stream 7", 1),
        ("cuda:0 stream 7", None),
    }
    del events[1], given[CALLS][1], given[KERNELS][0]
    assert len(linked(read(tmp_path, events, **given))) == 2  # of the only process there is


def test_more_rows_than_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "StringIds": STRINGS,
        CALLS: [call(place, 0, start=10 * place, end=10 * place + 1) for place in range(6)],
        KERNELS: [
            kernel(place, 1, 10 * place, 10 * place + (3, 8, 5, 8, 5, 5)[place], gridX=place)
            for place in range(6)
        ],
    }

    def told() -> tuple[list[int], list[str], int]:
        recording = read(tmp_path, [memory(1, 100, 0x1000)], **given)
        kernels = [row for row in rows(recording, "spans") if row["kind"] == "kernel"]
        unsaid = sum(row["args"] is None for row in kernels)
        whys = [one["why"] for one in recording.meta["missing"]]
        return [row["begin"] for row in kernels], whys, unsaid

    monkeypatch.setattr(nsys_work, "MOST_ROWS", 4)
    begins, missing, unsaid = told()
    assert begins == [10, 20, 30, 40] and unsaid == 0
    assert "Of the kernels the 2 shortest are left out" in missing
    assert "Of the calls of CUDA the 2 shortest are left out" in missing
    monkeypatch.setattr(nsys_work, "MOST_WORDS", 400)
    begins, missing, unsaid = told()
    assert unsaid == 2 and any(one.startswith("What 2 kernels, copies") for one in missing)


@pytest.mark.parametrize("seed", range(6))
def test_what_a_walk_finds(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    given: dict[str, list[Row]] = {CALLS: [], KERNELS: [], COPIES: []}
    processes = [PID, PID + 1]
    for number in range(150):
        process, start = chance.choice(processes), chance.randrange(10_000)
        thread = (process << 24) + chance.randrange(3)
        if chance.random() < 0.9:
            row = call(number // 2, 0, start=start, end=start + chance.randrange(90))
            given[CALLS].append({**row, "globalTid": thread})
        where = {"globalPid": process << 24, "deviceId": chance.randrange(2)}
        begin = start + chance.randrange(500)
        row = kernel(number // 2, 1, begin, begin + chance.randrange(50), **where)
        if chance.random() < 0.6:
            given[KERNELS].append({**row, "streamId": chance.randrange(3)})
        elif chance.random() < 0.8:
            where |= {"correlationId": number // 2, "bytes": 4, "copyKind": 1}
            given[COPIES].append(on_device(begin, begin + 3, **where))
    events = [memory(5, 100, 0x1000), memory(6, 7, 0x1000, globalPid=(PID + 1) << 24)]
    recording = read(tmp_path, events, StringIds=STRINGS, **given)
    origin = recording.meta["time_origin_ns"] - read(tmp_path, events).meta["time_origin_ns"] + 5
    spans = rows(recording, "spans")

    first: dict[tuple[int, int], Row] = {}
    for row in given[CALLS]:
        first.setdefault((row["globalTid"] >> 24, row["correlationId"]), row)
    expected = sorted(
        (first[key]["start"], first[key]["end"], row["start"], row["end"])
        for row in [*given[KERNELS], *given[COPIES]]
        if (key := (row["globalPid"] >> 24, row["correlationId"])) in first
    )
    found = sorted(
        tuple(
            spans[link[side]][at] + origin
            for side in ("source", "target")
            for at in ("begin", "end")
        )
        for link in rows(recording, "links")
    )
    assert found == expected and len(expected) > 50
    assert len(spans) == sum(map(len, given.values()))
    for row in spans:
        if row["parent"] is not None:
            outer = spans[row["parent"]]
            assert outer["track"] == row["track"]
            assert outer["begin"] <= row["begin"] < outer["end"]
