"""Each defect of XProf's Memory Profile, P1 to P12, in the smallest file that shows it."""

from __future__ import annotations

import json
from pathlib import Path

from tb_memory_plugin.analysis.alive import alive_rows
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import breakdown
from tests.fixtures.xplane import Plane, space
from tests.formats.test_xplane import picked, read, refused, rows

MIB = 1 << 20


def alive(recording: Recording, event: int) -> list[tuple[int, str | None]]:
    """Size and operator of what is alive after an event."""
    lives = rows(recording, "allocations")
    chosen = alive_rows(recording, recording.devices[0], event).tolist()
    return [(lives[row]["size"], lives[row]["op"]) for row in chosen]


def test_p1_threads_are_on_one_clock(tmp_path: Path) -> None:
    host = Plane()
    first, second = host.line("first", 1_000), host.line("second", 5_000)
    first.alloc(0, 0x100, 4, 4).free(1_000_000, 0x100, 4, 0)
    second.alloc(500_000, 0x200, 8, 8)  # by its offset between the two, 3.5 µs later in truth
    recording = read(tmp_path, space(host))
    assert picked(recording, "events", "time", "size") == [(0, 4), (1_000, 4), (4_500, 8)]
    assert alive(recording, 2) == [(8, None)]


def test_p2_the_lifetime_peak_is_the_highest(tmp_path: Path) -> None:
    host = Plane()
    host.line("b", 1_000).alloc(0, 0x100, 8, 8, peak_bytes_in_use=50 * MIB)
    host.line("a").alloc(0, 0x200, 8, 8, peak_bytes_in_use=10 * MIB)
    recording = read(tmp_path, space(host))
    assert facts(recording)["devices"]["A"]["allocator"]["lifetime_peak"] == 50 * MIB
    assert recording.meta["devices"][0]["lifetime_peak"] == 50 * MIB


def test_p3_no_fragmentation_is_no_number(tmp_path: Path) -> None:
    host = Plane()
    host.line().alloc(0, 0x100, 8, 8, fragmentation=float("nan"))
    found = facts(read(tmp_path, space(host)))
    assert found["devices"]["A"]["allocator"]["fragmentation"] is None
    assert "NaN" not in json.dumps(found)


def test_p4_an_allocator_without_a_name_has_a_page(tmp_path: Path) -> None:
    host = Plane()
    host.line().alloc(0, 0x100, 8, 8, allocator_name=None)
    recording = read(tmp_path, space(host))
    assert [device.key for device in recording.devices] == ["unnamed allocator"]
    assert facts(recording)["devices"]["unnamed allocator"]["allocated_peak"] == 8


def test_p5_and_p6_all_events_are_counted_however_small(tmp_path: Path) -> None:
    host, now = Plane(), 0
    line = host.line()
    for place in range(2_500):  # none is as large as the 1 MiB that XProf shows from
        now += 512
        line.alloc(2_000 * place, 0x1000 * (place + 1), 512, now, tf_op="small")
    for place in range(700):
        now -= 512
        line.free(2_000 * (2_500 + place), 0x1000 * (place + 1), 512, now)
    recording = read(tmp_path, space(host))
    found = facts(recording)["devices"]["A"]
    assert (found["allocs"], found["frees"]) == (2_500, 700)
    assert found["allocated_peak"] == 2_500 * 512
    page = breakdown.page(recording, recording.devices[0], at="peak", by="op")
    (group,) = page["groups"]
    assert (group["key"], group["count"], group["bytes"]) == ("small", 2_500, 2_500 * 512)


def test_p7_what_earlier_steps_left_is_called_what_it_is(tmp_path: Path) -> None:
    host = Plane()
    line = host.line("python")
    for step in range(2):
        line.event("train", 10_000_000 * step, 9_000_000, step_num=step)
    line.alloc(1_000_000, 0x100, 100, 100, tf_op="weights")
    line.alloc(11_000_000, 0x200, 20, 120, tf_op="activations")
    recording = read(tmp_path, space(host))
    assert alive(recording, 1) == [(100, "weights"), (20, "activations")]
    assert picked(recording, "allocations", "op", "step") == [("weights", 0), ("activations", 1)]


def test_p8_modules_are_on_the_clock_of_the_allocations(tmp_path: Path) -> None:
    host, device = Plane(), Plane("/device:TPU:0")
    host.line("t", 5_000).alloc(1_000_000, 0x100, 8, 8, allocator_name=None, index_on_host=0)
    device.line("XLA Modules", 2_000).event("jit_f(1)", 3_500_000, 1_000_000)
    recording = read(tmp_path, space(host, device))
    (module,) = rows(recording, "spans")
    (time,) = picked(recording, "events", "time")[0]
    assert module["begin"] < time < module["end"]  # 5.5, 6 and 6.5 µs


def test_p9_a_file_says_which_host_of_which_session_it_is(tmp_path: Path) -> None:
    hosts = []
    for number in range(2):
        host = Plane()
        host.line().alloc(0, 0x100, 8, 8)
        folder = tmp_path / "plugins/profile/one" if not number else tmp_path / "x"
        folder.mkdir(parents=True, exist_ok=True)
        meta = read(folder, space(host, host=f"worker-{number}")).meta
        hosts.append((meta["host"], meta["session"]))
    assert hosts == [("worker-0", "one"), ("worker-1", None)]


def test_p10_the_peak_is_the_first_moment_of_it(tmp_path: Path) -> None:
    host = Plane()
    late, early = host.line("late", 10_000), host.line("early")
    late.alloc(0, 0x300, 8, 8)
    early.alloc(1_000_000, 0x100, 8, 8).free(2_000_000, 0x100, 8, 0)
    recording = read(tmp_path, space(host))
    found = facts(recording)["devices"]["A"]
    assert (found["allocated_peak"], found["allocated_peak_event"]) == (8, 0)
    assert found["allocator"]["event"] == 0
    assert picked(recording, "events", "address")[0] == (0x100,)


def test_p11_every_allocation_has_its_address_life_and_stack(tmp_path: Path) -> None:
    host = Plane()
    line = host.line("python")
    line.event("$train.py:7 loss", 0, 3_000_000)
    line.alloc(1_000_000, 0x100, 8, 8, tf_op="a")
    line.alloc(2_000_000, 0x200, 4, 12, tf_op="b").free(4_000_000, 0x100, 8, 4)
    recording = read(tmp_path, space(host))
    columns = ("address", "birth_time", "death_time", "birth_stack")
    assert picked(recording, "allocations", *columns) == [
        (0x100, 1_000, 4_000, 0),
        (0x200, 2_000, None, 0),
    ]
    assert [alive(recording, event) for event in range(3)] == [
        [(8, "a")],
        [(8, "a"), (4, "b")],
        [(4, "b")],
    ]


def test_p12_no_memory_says_what_would_have_recorded_it(tmp_path: Path) -> None:
    host = Plane()
    host.line("python").event("EagerExecute", 0, 5)
    said = refused(tmp_path / "a.xplane.pb", space(host))
    assert "TF_CPU_ALLOCATOR_USE_BFC=true" in said and "host_tracer_level" in said
