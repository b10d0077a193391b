"""What device planes of XPlanes hold: HLO modules, steps, and what the driver says of memory."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.readers import xplane
from tests.fixtures.xplane import Plane, full, space
from tests.formats.test_xplane import picked, read, refused, rows
from tests.formats.xplane_reading import XLA, planes, real

GPU = "GPU_0_bfc"
_SPAN = ("kind", "track", "name", "begin", "end", "device", "step")


def host(**stats: Any) -> Plane:
    made = Plane()
    made.line("python").alloc(0, 0x100, 8, 8, **stats)
    return made


def test_kernels_of_a_gpu_become_modules_and_steps_are_its_own(tmp_path: Path) -> None:
    recording = read(tmp_path, full())
    place = [device.key for device in recording.devices].index(GPU)
    spans = picked(recording, "spans", *_SPAN)
    track = "GPU:0 Stream #7(Kernel)"
    assert [span for span in spans if span[0] in ("hlo_module", "step")] == [
        ("hlo_module", track, "jit_f(3)", 0, 350, place, None),
        ("step", "GPU:0", "step 4", 5, 605, place, 4),
        ("hlo_module", track, "jit_g(3)", 400, 450, place, None),
        ("hlo_module", track, "jit_f(3)", 500, 550, place, None),
    ]
    (born,) = [row for row in rows(recording, "allocations") if row["device"] == place]
    assert born["step"] == 4 and born["op"] == "model/MatMul" and born["annotation"] == "forward"


def test_a_line_of_modules_is_believed_before_kernels(tmp_path: Path) -> None:
    device = Plane("/device:GPU:0")
    device.line("Stream #1").event("kernel", 0, 10_000, hlo_module="jit_f")
    device.line("XLA Modules").event("jit_f(7)", 0, 20_000)
    spans = picked(read(tmp_path, space(host(), device)), "spans", *_SPAN[:5])
    assert spans == [
        ("hlo_module", "GPU:0", "jit_f(7)", 0, 20),
        ("kernel", "GPU:0 Stream #1", "kernel", 0, 10),
    ]


def test_kernels_of_another_step_are_another_module(tmp_path: Path) -> None:
    device = Plane("/device:GPU:0")
    stream = device.line("s")
    for place, group in enumerate((1, 1, 2)):
        stream.event("k", 10_000 * place, 5_000, hlo_module="jit_f", group_id=group)
    spans = picked(read(tmp_path, space(host(), device)), "spans", "name", "begin", "end")
    assert spans == [("jit_f", 0, 15), ("jit_f", 20, 25)]


def test_steps_of_devices_give_way_to_those_of_the_host(tmp_path: Path) -> None:
    device = Plane("/device:TPU:1")
    device.line("Steps").event("9", 0, 20_000).event("no number", 0, 5)
    made = host(allocator_name=None, index_on_host=1)
    recording = read(tmp_path, space(made, device))
    assert picked(recording, "spans", *_SPAN) == [("step", "TPU:1", "9", 0, 20, 0, 9)]
    assert picked(recording, "allocations", "step") == [(9,)]
    made.lines[0].event("train", 0, 9_000, step_num=3)
    assert picked(read(tmp_path, space(made, device)), "allocations", "step") == [(3,)]
    grouped = host(allocator_name=None, index_on_host=1, group_id=2)
    recording = read(tmp_path, space(grouped, device))
    assert picked(recording, "allocations", "step") == [(2,)] and not rows(recording, "spans")


def test_steps_of_one_device_where_none_has_known_memory(tmp_path: Path) -> None:
    devices = [Plane(f"/device:TPU:{number}") for number in range(2)]
    for device in devices:
        device.line("Steps").event("9", 0, 20_000, group_id=5)
    spans = picked(read(tmp_path, space(host(), *devices)), "spans", *_SPAN)
    assert spans == [("step", "TPU:0", "9", 0, 20, None, 5)]


def test_what_the_driver_gave_is_a_device_of_its_own(tmp_path: Path) -> None:
    recording = read(tmp_path, full())
    assert [(device.key, device.capacity) for device in recording.devices] == [
        (GPU, 1_000_000),
        ("GPU:0 driver", 16 << 30),
        ("GPU:0 driver, pinned memory", None),
    ]
    assert [entry.get("ordinal") for entry in recording.meta["devices"]] == [0, 0, 0]
    columns = ("device", "address", "size", "region", "birth_time", "death_time")
    lives = [row for row in picked(recording, "allocations", *columns) if row[0] > 0]
    assert lives == [
        (1, 0x7F00_0000_0000, 4_096, "device", 100, 400),
        (1, 0x7F00_0001_0000, 8_192, "device", 200, None),
        (1, 0x7F00_0000_0000, 1_024, "device", 400, 600),
        (2, 0x10_0000, 2_048, "pinned", 500, 600),
    ]
    curves = {
        key: [row["allocated"] for row in group]
        for key, group in groupby(rows(recording, "usage"), lambda row: row["device"])
    }
    assert curves[1] == [0, 4_096, 12_288, 8_192, 9_216, 8_192] and curves[2] == [0, 2_048, 0]
    (problem,) = recording.meta["problems"]
    assert "step 4 is under way at the first and the last event of memory;" in problem
    said = {one["what"]: one["why"] for one in recording.meta["missing"]}
    assert "1 counters of HBM" in said["HBM counters"] and "memory of the driver" not in said


def test_calls_of_the_driver_are_counted_and_told(tmp_path: Path) -> None:
    calls = Plane("/host:CUPTI")
    line = calls.line("Host Threads/1")
    for size in (100, 50, 100):
        line.event("cuMemAlloc_v2", 0, 5, memalloc_details=f"kind:device num_bytes:{size}")
    line.event("cuMemFree_v2", 9, 5, MemFree_details="kind:device num_bytes:0")
    line.event("cuLaunchKernel", 9, 5)
    (said,) = [
        one["why"]
        for one in read(tmp_path, space(host(), calls)).meta["missing"]
        if one["what"] == "memory of the driver"
    ]
    assert "3 times (250 bytes) and freed some 1 times" in said


def test_a_profile_with_the_driver_only_says_how_to_get_the_rest(tmp_path: Path) -> None:
    device = Plane("/device:GPU:3")
    details = "kind:device num_bytes:64 addr:1234"  # as a decimal number, too
    device.line("Stream #0").event("Memory", 0, 9_000, MemoryResidency_details=details)
    device.line("Stream #0").event("Memory", 0, 9_000, MemoryResidency_details="kind:device")
    recording = read(tmp_path, space(Plane(), device))
    assert [each.key for each in recording.devices] == ["GPU:3 driver"]
    assert picked(recording, "events", "address", "size", "action") == [
        (1234, 64, 0),
        (1234, 64, 2),
    ]
    (said,) = [one for one in recording.meta["missing"] if one["what"] == "allocators"]
    assert said["why"].startswith("The profile has no allocator events of its GPUs")
    assert said["remedy"].startswith("Profile with a host_tracer_level of 2")
    assert any(
        "1 events of the driver's memory make no sense" in s for s in recording.meta["problems"]
    )


@pytest.mark.parametrize(
    "details",
    [
        "kind:x num_bytes:99999999999999999999 addr:0x1",
        "kind:x num_bytes:2 addr:99999999999999999999",
    ],
)
def test_what_the_driver_cannot_have_given_is_refused(tmp_path: Path, details: str) -> None:
    device = Plane("/device:GPU:0")
    device.line().event("Memory", 0, 9_000, MemoryResidency_details=details)
    said = refused(tmp_path / "a.xplane.pb", space(Plane(), device))
    assert "64 bits" in said or "has 99999999999999999999 bytes" in said


def space_of(devices: list[str], *names: str, version: bool = False) -> bytes:
    """A profile without memory, of a program that has events of these ``names``."""
    made, about = Plane(), Plane("Task Environment")
    for name in names:
        made.line("python").event(name, 0, 5)
    if version:
        about.stats = [about.stat_value("jax_version", "0.10.2")]
    return space(made, about, *(Plane(f"/device:{device}") for device in devices))


@pytest.mark.parametrize(
    ("data", "fault", "remedy"),
    [
        (space_of(["TPU:0"], "PjitFunction(f)"), "no allocator events of its TPUs", "level of 2"),
        (space_of(["GPU:0"], "PjitFunction(f)"), "of its GPUs", "jaxlib 0.4.29 and 0.4.30 write"),
        (space_of(["GPU:0"], "TFE_Py_Execute"), "of its GPUs", "ProfilerOptions)."),
        (space_of([], "PjitFunction(f)"), "JAX on a CPU never", "save_device_memory_profile"),
        (space_of([], version=True), "JAX on a CPU never", "save_device_memory_profile"),
        (space_of([], "EagerExecute"), "was not traced", "TF_CPU_ALLOCATOR_USE_BFC=true."),
        (space_of([], "other"), "was not traced", "JAX on a CPU never writes them."),
        (space(Plane("/device:GPU:0")), "no events of a host", "level of 2"),
    ],
)
def test_why_there_is_no_memory(tmp_path: Path, data: bytes, fault: str, remedy: str) -> None:
    """P12, for every platform."""
    said = refused(tmp_path / "a.xplane.pb", data)
    assert fault in said and remedy in said


def test_host_and_session_have_the_names_of_the_file_where_it_says_none(tmp_path: Path) -> None:
    session = tmp_path / "run/plugins/profile/2026_01_02"
    session.mkdir(parents=True)
    (session / "worker-3.xplane.pb.gz").write_bytes(space(host()))
    meta = xplane.read(session / "worker-3.xplane.pb.gz").meta
    assert (meta["host"], meta["session"]) == ("worker-3", "2026_01_02")
    (tmp_path / "other.pb").write_bytes(space(host(), host="here"))
    meta = xplane.read(tmp_path / "other.pb").meta
    assert (meta["host"], meta["session"]) == ("here", None)
    (tmp_path / "other.pb").write_bytes(space(host()))
    assert xplane.read(tmp_path / "other.pb").meta["host"] is None


@real
def test_modules_of_a_real_gpu_are_its_kernels_in_order() -> None:
    path = XLA / "jax_mi300_attention.xplane.pb"
    recording = xplane.read(path)
    found = [row for row in rows(recording, "spans") if row["kind"] == "hlo_module"]
    (plane,) = [each for each in planes(path) if each.name == b"/device:GPU:0"]
    names = {entry.key: entry.value.name.decode() for entry in plane.stat_metadata}
    kernels = []
    for line in plane.lines:
        for event in line.events:
            stats = {names[stat.metadata_id]: stat for stat in event.stats}
            if "hlo_module" in stats:
                module = stats["hlo_module"]
                text = module.str_value.decode() or names[module.ref_value]
                program = stats["program_id"].int64_value or stats["program_id"].uint64_value
                begin = line.timestamp_ns * 1000 + event.offset_ps
                kernels.append((begin, begin + event.duration_ps, f"{text}({program})"))
    kernels.sort()
    expected = []
    for name, group in groupby(kernels, key=lambda kernel: kernel[2]):
        run = list(group)
        expected.append((name, run[0][0] // 1000, max(end for _, end, _ in run) // 1000))
    first = expected[0][1] - found[0]["begin"]
    assert [(row["name"], row["begin"] + first, row["end"] + first) for row in found] == expected
    assert len(kernels) == 87 and len({name for name, *_ in expected}) == 22
    assert {(row["device"], row["track"]) for row in found} == {(0, "GPU:0 Stream #16(Kernel)")}
