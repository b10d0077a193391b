"""Exports of Nsight Systems: every device's lives and sums, against a slow walk."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.readers import nsys
from tb_memory_plugin.readers.nsys_database import combinations
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.nsys import GIB, PID, START, THREAD, Row, call, export, memory, nvtx
from tests.formats.test_snapshot_fuzz import check

_numbers = itertools.count()


def read(tmp_path: Path, events: list[Row], **more: Any) -> Recording:
    path = export(tmp_path / f"{next(_numbers)}.sqlite", events, **more)
    recording = derive(nsys.read(path))
    check(recording)
    return recording


def rows(recording: Recording, table: str) -> list[Row]:
    found: list[Row] = recording.table(table).to_pylist()
    return found


def lives(recording: Recording) -> list[tuple[Any, ...]]:
    return [
        (row["device"], row["address"], row["requested"], row["birth"], row["death"])
        for row in rows(recording, "allocations")
    ]


def test_devices_clock_host_and_versions(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        [
            memory(50, 300, 0x3000, memKind=1),
            memory(10, 1_000, 0x1000),
            memory(30, -1_000, 0x1000),
            memory(20, 2_000, 0x2000, memKind=3),
            memory(40, 70, 0x4000, memKind=4, deviceId=1),
        ],
    )

    meta = recording.meta
    assert meta["format"] == "nsight_systems" and meta["basis"] == "requested"
    assert [(each["key"], each["name"], each.get("capacity")) for each in meta["devices"]] == [
        ("device:0", "cuda:0 driver", 80 * GIB),
        ("managed", "managed memory", None),
        ("pinned", "pinned memory", None),
    ]
    assert meta["time_origin_ns"] == START + 10 and meta["clock"] == "unix"
    assert (meta["host"], meta["pid"]) == ("node7", PID)
    assert meta["versions"] == {"nsight_systems": "2026.2.1", "export_schema": "3.25.0"}
    assert lives(recording) == [
        (0, 0x1000, 1_000, 0, 2),
        (0, 0x2000, 2_000, 1, None),
        (1, 0x4000, 70, 0, None),
        (2, 0x3000, 300, 0, None),
    ]
    assert [row["region"] for row in rows(recording, "labels")] == [
        "device",
        "array",
        "managed",
        "pinned",
    ]
    device = facts(recording)["devices"]["device:0"]
    assert (device["allocated_peak"], device["allocated_end"]) == (3_000, 2_000)
    assert device["reserved_peak"] is None


def test_addresses_are_those_of_a_process(tmp_path: Path) -> None:
    other = (PID + 1) << 24
    recording = read(
        tmp_path,
        [
            memory(1, 100, 0x1000),
            memory(2, 700, 0x1000, globalPid=other),
            memory(3, -700, 0x1000, globalPid=other),
            memory(4, 10, 0x5000, globalPid=other, deviceId=1),
        ],
        TARGET_INFO_GPU=[
            {"vmId": 0, "id": 0, "name": "A", "totalMemory": 8 * GIB},
            {"vmId": 0, "id": 1, "name": "B", "totalMemory": 16 * GIB},
        ],
        TARGET_INFO_CUDA_DEVICE=[
            {"gpuId": 1, "cudaId": 0, "pid": PID + 1},
            {"gpuId": 0, "cudaId": 0, "pid": PID},
        ],
    )

    devices = recording.meta["devices"]
    assert [(each["key"], each["name"], each["capacity"]) for each in devices] == [
        (f"device:0@{PID}", f"{PID}: cuda:0 driver", 8 * GIB),
        (f"device:0@{PID + 1}", f"{PID + 1}: cuda:0 driver", 16 * GIB),
        (f"device:1@{PID + 1}", f"{PID + 1}: cuda:1 driver", 16 * GIB),
    ]
    assert recording.meta["pid"] is None
    assert lives(recording) == [
        (0, 0x1000, 100, 0, None),
        (1, 0x1000, 700, 0, 1),
        (2, 0x5000, 10, 0, None),
    ]


def test_frees_without_a_size_and_with_another_device(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        [
            memory(1, 100, 0x1000),
            memory(2, None, 0x1000, deviceId=5, memKind=7),
            memory(3, 300, 0x2000),
            memory(4, -0, 0x2000, memoryOperationType=1),
            memory(5, None, 0x3000),
            memory(6, -40, 0x4000),
        ],
    )

    assert [row["size"] for row in rows(recording, "events")] == [100, 100, 300, 300, 0, 40]
    assert len(recording.meta["devices"]) == 1
    assert lives(recording) == [
        (0, 0x3000, 0, None, 4),
        (0, 0x4000, 40, None, 5),
        (0, 0x1000, 100, 0, 1),
        (0, 0x2000, 300, 2, 3),
    ]
    (problem,) = recording.meta["problems"]
    assert problem.startswith("1 frees have no size and no allocation")


def test_pools_are_reserved_whole(tmp_path: Path) -> None:
    def pooled(start: int, size: int, address: int, pool: int, whole: int) -> Row:
        return memory(
            start,
            size,
            address,
            streamId=7,
            localMemoryPoolAddress=pool,
            localMemoryPoolSize=whole,
            localMemoryPoolUtilizedSize=0,
        )

    recording = read(
        tmp_path,
        [
            memory(1, 1_000, 0x1000),
            pooled(2, 100, 0x2000, 0xAA, 4_096),
            pooled(3, 5_000, 0x3000, 0xAA, 4_096),  # as large as what is in it
            pooled(4, -5_000, 0x3000, 0xAA, 8_192),
            pooled(5, 10, 0x4000, 0xBB, 512),
            memory(6, None, 0x2000),  # of the pool that its allocation was in
            memory(7, -1_000, 0x1000),
        ],
    )

    usage = [(row["allocated"], row["reserved"]) for row in rows(recording, "usage")]
    assert usage[1:] == [
        (1_000, 1_000),
        (1_100, 5_096),
        (6_100, 6_100),
        (1_100, 9_192),
        (1_110, 9_704),
        (1_010, 9_704),  # which says nothing of its pool: as large as it was
        (10, 8_704),
    ]
    assert [row["region"] for row in rows(recording, "labels")] == [
        "device",
        "memory pool 1",
        "memory pool 1",
        "memory pool 2",
    ]
    assert [row["stream"] for row in rows(recording, "events")][:2] == [None, 7]


def test_stacks_operators_and_steps(tmp_path: Path) -> None:
    words = ["cudaMalloc_v3020", "cudaHostAlloc_v3020", "ncclCommInit", "/lib/nccl.so", "main"]
    recording = read(
        tmp_path,
        [
            memory(12, 100, 0x1000, correlationId=5),
            memory(25, 200, 0x2000, correlationId=6),
            memory(60, 300, 0x3000, correlationId=7),
            memory(61, 400, 0x4000, correlationId=99),
            memory(62, 500, 0x5000),
        ],
        StringIds=[{"id": place, "value": word} for place, word in enumerate([*words, "layer"])],
        CUPTI_ACTIVITY_KIND_RUNTIME=[
            call(5, 0),
            call(5, 1, globalTid=9 << 24),  # the same number in another process
            call(6, 1, callchainId=3),
            call(7, 0, globalTid=THREAD + 1),
        ],
        CUDA_CALLCHAINS=[
            {"id": 3, "symbol": 4, "module": 77, "stackDepth": 1},
            {"id": 3, "symbol": 2, "module": 3, "stackDepth": 0},
        ],
        NVTX_EVENTS=[
            nvtx("Iteration 4", 5, 50),
            nvtx("aten::addmm, seq = 7, sizes = [[2]]", 11, 13),
            {**nvtx("x", 10, 40), "text": None, "textId": 5},
            nvtx("never popped", 55, None, eventType=60),
            nvtx("a mark", 12, None, eventType=34),
        ],
    )

    frames = rows(recording, "frames")
    found = {
        row["address"]: (
            row["op"],
            row["step"],
            row["annotation"],
            [frames[i]["function"] for i in rows(recording, "stacks")[row["birth_stack"]]["frames"]]
            if row["birth_stack"] is not None
            else None,
        )
        for row in rows(recording, "allocations")
    }
    assert found == {
        0x1000: ("aten::addmm", 4, "layer", ["cudaMalloc", "aten::addmm", "layer", "Iteration 4"]),
        0x2000: ("cudaHostAlloc", 4, "layer", ["cudaHostAlloc", "ncclCommInit", "main"]),
        0x3000: ("cudaMalloc", None, "never popped", ["cudaMalloc"]),
        0x4000: (None, None, "never popped", None),
        0x5000: (None, None, "never popped", None),
    }
    assert {row["function"]: row["file"] for row in frames}["ncclCommInit"] == "/lib/nccl.so"
    spans = {row["name"]: row for row in rows(recording, "spans")}
    calls = {row["name"] for row in spans.values() if row["kind"] == "runtime"}
    assert calls == {"cudaMalloc", "cudaHostAlloc"}
    assert set(spans) - calls == {"Iteration 4", "aten::addmm", "layer", "never popped"}
    assert (spans["Iteration 4"]["kind"], spans["Iteration 4"]["step"]) == ("step", 4)
    assert (spans["aten::addmm"]["kind"], spans["layer"]["kind"]) == ("op", "annotation")
    assert spans["never popped"]["end"] is None
    assert spans["layer"]["depth"] == 0
    assert {each["what"] for each in recording.meta["missing"]} == {"the rest of the GPU's memory"}


def test_an_older_export_without_names_for_numbers(tmp_path: Path) -> None:
    table = "start INT, globalPid INT, deviceId INT, contextId INT, address INT, bytes INT, "
    events = [memory(1, 100, 0x1000), memory(2, -100, 0x1000), memory(3, 9, 0x2000, memKind=1)]
    recording = read(
        tmp_path,
        [{name: value for name, value in each.items() if name != "pc"} for each in events],
        without=[
            "ENUM_CUDA_MEM_KIND",
            "ENUM_CUDA_DEV_MEM_EVENT_OPER",
            "ENUM_NSYS_EVENT_TYPE",
            "TARGET_INFO_GPU",
            "TARGET_INFO_CUDA_DEVICE",
            "TARGET_INFO_SESSION_START_TIME",
            "TARGET_INFO_SYSTEM_ENV",
            "META_DATA_EXPORT",
            "NVTX_EVENTS",
            "CUPTI_ACTIVITY_KIND_RUNTIME",
        ],
        columns={"CUDA_GPU_MEMORY_USAGE_EVENTS": table + "memKind INT, memoryOperationType INT"},
    )

    assert lives(recording) == [(0, 0x1000, 100, 0, 1), (1, 0x2000, 9, 0, None)]
    assert recording.meta["clock"] == "monotonic" and recording.meta["time_origin_ns"] == 1
    assert recording.meta["host"] is None and recording.meta["versions"] == {}


def test_without_time_stamps_there_is_the_order_of_the_file(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        [memory(0, 100, 0x1000), memory(0, 50, 0x2000), memory(0, -100, 0x1000)],
        NVTX_EVENTS=[nvtx("step 1", 5, 50)],
    )

    assert recording.meta["time_origin_ns"] is None
    assert [row["time"] for row in rows(recording, "events")] == [None] * 3
    assert not rows(recording, "spans")
    assert "time" in {each["what"] for each in recording.meta["missing"]}
    assert facts(recording)["devices"]["device:0"]["allocated_peak"] == 150


def test_kinds_and_operations_nobody_knows(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        [
            memory(1, 100, 0x1000, memKind=11),
            memory(2, 50, 0x2000, memoryOperationType=4),
            memory(3, 20, 1 - (1 << 63)),
        ],
    )

    assert [each["key"] for each in recording.meta["devices"]] == ["device:0", "unknown"]
    assert lives(recording) == [(0, (1 << 63) + 1, 20, 0, None), (1, 0x1000, 100, 0, None)]
    assert rows(recording, "labels")[1]["region"] == "kind 11"
    assert recording.meta["problems"][0].startswith("1 memory events neither allocate nor free")


@pytest.mark.parametrize("seed", range(8))
def test_sums_are_those_of_a_walk(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    events: list[Row] = []
    alive: dict[tuple[int, int], Row] = {}
    time = 0
    for _ in range(400):
        time += chance.randrange(3)
        process = chance.choice([1, 2]) << 24
        if alive and chance.random() < 0.45:
            born = alive.pop(chance.choice(list(alive)))
            size = chance.choice([None, -born["bytes"]])
            where = {name: born[name] for name in ("globalPid", "memKind", "deviceId")}
            events.append(memory(time, size, born["address"], **where))
        else:
            where = {"globalPid": process, "memKind": chance.choice([1, 2, 2, 3, 4])}
            address = 0x1000 * chance.randrange(1, 200)
            if (process, address) not in alive:
                where["deviceId"] = chance.choice([0, 1])
                event = memory(time, chance.randrange(1, 9_000), address, **where)
                alive[process, address] = event
                events.append(event)
    group = {1: "pinned", 2: "device", 3: "device", 4: "managed"}

    expected: dict[tuple[str, int | None, int], list[int]] = {}
    sizes: dict[tuple[int, int], int] = {}
    for event in sorted(events, key=lambda each: each["start"]):
        kind = group[event["memKind"]]
        device = (kind, event["deviceId"] if kind == "device" else None, event["globalPid"] >> 24)
        sums = expected.setdefault(device, [0])
        key = event["globalPid"], event["address"]
        if event["memoryOperationType"]:
            sums.append(sums[-1] - sizes.pop(key))
        else:
            sizes[key] = event["bytes"]
            sums.append(sums[-1] + event["bytes"])

    recording = read(tmp_path, events)

    found = {}
    for device in recording.devices:
        entry = recording.meta["devices"][device.index]
        kind = device.key.partition("@")[0].partition(":")[0]
        ordinal = entry["ordinal"] if kind == "device" else None
        allocated = recording.values("usage", "allocated", device).tolist()
        found[kind, ordinal, entry["pid"]] = allocated
    assert found == expected


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), max_size=30))
def test_combinations_are_those_of_a_set(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    distinct, of = combinations(first, second)
    assert [tuple(each) for each in distinct.tolist()] == sorted(set(pairs))
    assert [tuple(distinct[place].tolist()) for place in of] == pairs
