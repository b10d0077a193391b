"""What ran on devices of XPlanes as spans, and what spans say of themselves."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.readers import xplane, xplane_details, xplane_events
from tb_memory_plugin.readers.xplane_names import named
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.xplane import Plane, Reference, full, space
from tests.formats.test_xplane import picked, read, rows
from tests.formats.test_xplane_links import host, walked
from tests.formats.xplane_reading import REAL, XLA, around, operations, real, walk

ON_DEVICES = ("kernel", "copy")


def work(recording: Recording) -> list[dict[str, Any]]:
    return [row for row in rows(recording, "spans") if row["kind"] in ON_DEVICES]


def args(row: dict[str, Any]) -> Any:
    return json.loads(row["args"] or "{}")


@real
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_everything_that_ran_on_real_devices_is_a_span(path: Path) -> None:
    recording = xplane.read(path)
    first = walk(path)[recording.devices[0].key][0]
    origin = first.time_ps // 1000 - int(rows(recording, "events")[0]["time"])
    expected = Counter(
        (f"{event.where.removeprefix('/device:')} {sort.partition(' ')[2]}", *event.shown[1:])
        for sort, events in walked(path)
        if sort.startswith("work ")
        for event in events
    )
    found = Counter(
        (row["track"], row["name"], row["begin"] + origin, row["end"] + origin)
        for row in work(recording)
    )
    assert found == expected


@real
def test_real_operations_say_what_they_are_of() -> None:
    recording = xplane.read(XLA / "tpu_4device.xplane.pb")
    kinds = Counter((row["kind"], row["track"], row["device"]) for row in work(recording))
    assert kinds == {
        ("kernel", "TPU:0 XLA Ops", 0): 1504,
        ("kernel", "TPU:1 XLA Ops", 1): 1503,
        ("kernel", "TPU:2 XLA Ops", 2): 1503,
        ("kernel", "TPU:3 XLA Ops", 3): 1503,
        ("copy", "TPU:0 Async XLA Ops", 0): 600,
    }
    said = args(next(row for row in work(recording) if row["name"] == "broadcast.2"))
    assert said["long_name"].startswith("%broadcast.2 = f32[5,1024,1024,256]{3,2,1,0:T(8,128)} ")
    assert said["tf_op"] == "jit(broadcast_in_dim)/jit(main)/broadcast_in_dim:"
    assert said["bytes_accessed"] == 5_368_709_120 and said["flops"] == 0
    assert said["program_id"] == "11287434908481120160"  # more than JSON's numbers are exact to
    assert said["source"].endswith("host_offload_stress_test.py:37")
    recording = xplane.read(XLA / "tf2_gpu_worker.xplane.pb")
    (said, *_) = [args(row) for row in work(recording) if row["kind"] == "kernel"]
    assert said["kernel_details"] == "regs:38 shm:0 grid:160,1,1 block:1024,1,1"
    assert said["shape"] == "(int32[3])" and "correlation_id" not in said
    (said, *_) = [args(row) for row in rows(recording, "spans") if row["kind"] == "runtime"]
    assert said == {"memcpy_details": "size:112 dest:4 async:0"}


def test_kernels_and_copies_of_a_gpu_are_inside_of_their_modules(tmp_path: Path) -> None:
    device = Plane("/device:GPU:3")
    stream = device.line("Stream #7(Kernel,MemcpyH2D)")
    stream.event("fusion_1", 0, 10_000, hlo_module="jit_f", kernel_details="grid:1,1,1")
    stream.event("MemcpyH2D", 2_000, 1_000, memcpy_details="size:4", correlation_id=3)
    stream.event("Memset", 20_000, 1_000, Memset_details="size:4")
    stream.event("Memory", 0, 90_000, MemoryResidency_details="kind:device num_bytes:4 addr:0x1")
    device.line("XLA Ops").event("of streams", 0, 10_000)
    recording = read(tmp_path, space(host(), device))
    track = "GPU:3 Stream #7(Kernel,MemcpyH2D)"
    columns = ("kind", "track", "name", "begin", "end", "device", "depth", "parent")
    assert picked(recording, "spans", *columns) == [
        ("hlo_module", track, "jit_f", 0, 10, None, 0, None),
        ("kernel", track, "fusion_1", 0, 10, None, 0, 0),
        ("copy", track, "MemcpyH2D", 2, 3, None, 0, 1),
        ("copy", track, "Memset", 20, 21, None, 0, None),
    ]
    assert [args(row) for row in work(recording)] == [
        {"hlo_module": "jit_f", "kernel_details": "grid:1,1,1"},
        {"memcpy_details": "size:4"},
        {"Memset_details": "size:4"},
    ]


def test_operations_of_a_core_are_nested_and_named_shortly(tmp_path: Path) -> None:
    device = Plane("/device:TPU:0")
    loop, fusion = "%while.1 = (s32[]) while(s32[] %a)", "%fusion.2 = f32[4] fusion(f32[4] %p)"
    device.shown = {loop: "while.1", fusion: "fusion.2", "%gather-start = x": "all-gather"}
    device.said[fusion] = {"hlo_category": "loop fusion", "flops": 1 << 40, "cost": 0.5}
    device.said["%gather-start = x"] = {"hlo_category": "all-gather-start"}
    line = device.line("XLA Ops", 1_000)
    line.event(loop, 0, 90_000).event(fusion, 1_000, 3_000).event(fusion, 5_000, 3_000, hits=4)
    device.line("Async XLA Ops").event("%gather-start = x", 0, 5_000)
    device.line("XLA TraceMe").event("barrier-cores", 0, 5_000)
    made = Plane()
    made.line("python").alloc(0, 0x100, 8, 8, allocator_name=None, index_on_host=0)
    recording = read(tmp_path, space(made, device))
    columns = ("kind", "track", "name", "begin", "depth", "parent", "device")
    assert picked(recording, "spans", *columns) == [
        ("kernel", "TPU:0 Async XLA Ops", "all-gather", 0, 0, None, 0),
        ("kernel", "TPU:0 XLA Ops", "while.1", 1_000, 0, None, 0),
        ("kernel", "TPU:0 XLA Ops", "fusion.2", 1_001, 1, 1, 0),
        ("kernel", "TPU:0 XLA Ops", "fusion.2", 1_005, 1, 1, 0),
    ]
    said = {"long_name": fusion, "hlo_category": "loop fusion", "flops": 1 << 40, "cost": 0.5}
    assert [args(row) for row in work(recording)][2:] == [said, {**said, "hits": 4}]


def test_what_begins_first_is_where_time_begins(tmp_path: Path) -> None:
    device = Plane("/device:GPU:0")
    device.line("Stream #1", 2_000).event("early", 0, 1_000)
    made = Plane()
    made.line("python", 5_000).alloc(0, 0x100, 8, 8)
    recording = read(tmp_path, space(made, device))
    assert picked(recording, "events", "time") == [(3_000,)]
    assert picked(recording, "spans", "begin") == [(0,)]


def test_annotations_say_what_they_were_given(tmp_path: Path) -> None:
    made = Plane()
    main = made.line("python")
    given = {"batch": 32, "lr": 0.5, "title": "größe", "of": Reference("text"), "empty": ""}
    main.event("forward", 0, 9_000, **given, step_num=4, _p=5, correlation_id=7, id=12)
    main.event("forward", 10_000, 9_000, nan=float("nan"), long="x" * 3_000, big=1 << 60)
    main.event("MatMul_1:MatMul", 20_000, 9_000, shape="[2,3]", type="other", raw=b"\xff")
    main.event("nothing", 30_000, 9_000)
    main.alloc(0, 0x100, 8, 8)
    found = [row["args"] for row in rows(read(tmp_path, space(made)), "spans")]
    assert json.loads(found[0]) == {**given, "of": "text"}
    said = json.loads(found[1])
    assert (said["nan"], said["big"]) == ("nan", str(1 << 60))
    assert len(said["long"]) == 1_000 and said["long"].endswith("x…")
    assert json.loads(found[2]) == {"type": "other", "shape": "[2,3]", "raw": "\\xff"}
    assert found[3] is None


def test_what_is_different_each_time_is_bounded_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Plane()
    main = made.line("python")
    for place in range(20):
        main.event("A::B", 1_000 * place, 900, note=f"number {place}")
    main.alloc(0, 0x100, 8, 8)

    def said() -> tuple[list[str | None], list[str]]:
        recording = read(tmp_path, space(made))
        missing = [one["why"] for one in recording.meta["missing"] if "arguments" in one["what"]]
        return [row["args"] for row in rows(recording, "spans")], missing

    found, missing = said()
    assert len(set(found)) == 20 and None not in found and not missing
    with monkeypatch.context() as patched:
        cost = xplane_events.COST_OF_OTHERS + 20
        patched.setattr(xplane_details, "MOST_BYTES", 5 * cost)
        found, missing = said()
        assert [row is None for row in found] == [False] * 5 + [True] * 15
        assert missing[0].startswith("What 15 operations say beyond their names is left out")
    monkeypatch.setattr(xplane_details, "MOST_WORDS", 7 * len('{"note": "number 1"}'))
    found, missing = said()
    assert [row is None for row in found] == [False] * 7 + [True] * 13
    assert missing[0].startswith("What 13 operations")


@real
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_events_are_in_the_innermost_span_of_their_thread(path: Path) -> None:
    recording = xplane.read(path)
    spans, made = rows(recording, "spans"), operations(path)
    for key, events in walk(path).items():
        written = rows(recording, "events")[recording.rows("events", recording.device(key))]
        origin = events[0].time_ps // 1000 - int(written[0]["time"])
        found = Counter(
            (row["time"] + origin, None if row["span"] is None else spans[row["span"]]["name"])
            for row in written
        )
        expected: Counter[tuple[int, str | None]] = Counter()
        for event in events:
            time = event.time_ps // 1000
            here = around(made, event.line, time)
            name = named(here[-1].name.encode()).name.removeprefix("$") if here else None
            expected[time, name] += 1
        assert found == expected


def test_a_gpu_has_kernels_whatever_else_its_streams_hold(tmp_path: Path) -> None:
    recording = read(tmp_path, full())
    assert Counter((row["kind"], row["name"], row["track"]) for row in work(recording)) == {
        ("kernel", "kernel", "GPU:0 Stream #7(Kernel)"): 6
    }
