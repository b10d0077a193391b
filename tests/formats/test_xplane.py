"""XPlanes that were made: what they were made from comes out, and nothing else is guessed."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import xplane as reader
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import events
from tests.fixtures.xplane import Line, Plane, Reference, small, space
from tests.formats.test_snapshot_fuzz import check

Json = dict[str, Any]


def read(folder: Path, data: bytes) -> Recording:
    path = folder / "host.xplane.pb"
    path.write_bytes(data)
    recording = derive(reader.read(path))
    check(recording)
    return recording


def rows(recording: Recording, table: str) -> list[Json]:
    found: list[Json] = recording.table(table).to_pylist()
    return found


def picked(recording: Recording, table: str, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in rows(recording, table)]


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        derive(reader.read(path))
    sentence = str(caught.value)
    assert sentence.startswith(f"{path.name}: ") and sentence.endswith(".")
    assert "\n" not in sentence and len(sentence) < 400
    return sentence


def test_everything_once(tmp_path: Path) -> None:
    recording = read(tmp_path, small())
    assert [device.key for device in recording.devices] == ["0", "A"]
    assert [device.name for device in recording.devices] == ["TPU:0", "A"]
    assert recording.meta["host"] == "here"
    assert recording.meta["time_origin_ns"] == 1_000 and recording.meta["clock"] == "monotonic"
    assert picked(recording, "events", "device", "time", "action", "address", "size") == [
        (0, 2_001, 0, 0x100, 64),
        (0, 2_002, 2, 0x100, 64),  # the size of a TPU's free is that of its allocation
        (1, 1_000, 0, 0x100, 512),
        (1, 3_000, 2, 0x900, 256),
        (1, 4_000, 0, 0x200, 128),
        (1, 4_500, 2, 0x100, 512),
    ]
    columns = ("size", "requested", "op", "region", "dtype", "shape", "birth", "death", "step")
    assert picked(recording, "allocations", *columns) == [
        (64, 63, "add", None, None, None, 0, 1, 5),
        (744, None, None, None, None, None, None, None, None),
        (256, 255, None, None, None, None, None, 1, None),
        (512, 511, "mul", None, "float", "[2,3]", 0, 3, 5),
        (128, 127, None, "temp", "half", None, 2, None, None),
    ]
    assert picked(recording, "reported", "allocated", "stack", "free", "fragmentation")[2:] == [
        (1_512, 0, 998_488, 0.25),
        (1_256, 77, 998_744, 0.25),
        (1_384, 0, 998_616, 0.25),
        (872, 0, 999_128, None),  # P3: NaN is no number
    ]
    columns = ("kind", "track", "name", "begin", "end", "device", "step")
    assert picked(recording, "spans", *columns) == [
        ("step", "python", "train", 0, 4_000, None, 5),
        ("annotation", "python", "other", 0, 0, None, None),
        ("hlo_module", "TPU:0", "jit_f(1)", 1_001, 1_003, 0, None),
    ]
    usage = [row["allocated"] for row in rows(recording, "usage") if row["device"] == 1]
    assert usage == [1_000, 1_512, 1_256, 1_384, 872]


def test_the_last_memory_id_of_an_event_is_its_own(tmp_path: Path) -> None:
    host = Plane()
    line = host.line()
    line.alloc(0, 0x100, 8, 8, index_on_host=3)
    line.alloc(1, 0x200, 8, 8, allocator_name=Reference("GPU_2_bfc"))
    line.alloc(2, 0x300, 8, 8, allocator_name=None, device_ordinal=-1)
    line.alloc(3, 0x400, 8, 8, allocator_name="")
    line.alloc(4, 0x500, 8, 8, allocator_name="GPU_10_bfc")
    meta = read(tmp_path, space(host)).meta
    assert [(each["key"], each["name"], each.get("type")) for each in meta["devices"]] == [
        ("3", "device 3", None),
        ("-1", "-1", None),
        ("GPU_2_bfc", "GPU_2_bfc", "gpu"),
        ("GPU_10_bfc", "GPU_10_bfc", "gpu"),
        ("unnamed allocator", "unnamed allocator", None),  # P4
    ]
    assert any("which allocator" in problem for problem in meta["problems"])


def test_capacity_is_told_where_what_is_free_is(tmp_path: Path) -> None:
    host = Plane()
    host.line().alloc(0, 0x100, 8, 8, bytes_reserved=5, bytes_available=100, peak_bytes_in_use=9)
    host.line().alloc(0, 0x100, 8, 8, allocator_name="B", bytes_available=0)
    host.line().alloc(
        0, 0x100, 8, 8, allocator_name="C", bytes_available=-8, peak_bytes_in_use=None
    )
    devices = read(tmp_path, space(host)).meta["devices"]
    found = {each["key"]: (each.get("capacity"), each.get("lifetime_peak")) for each in devices}
    assert found == {"A": (113, 9), "B": (None, 8), "C": (None, None)}


def test_a_free_without_a_size_has_the_step_of_the_count_where_nothing_else_tells(
    tmp_path: Path,
) -> None:
    host = Plane()
    line = host.line()
    line.free(0, 0x900, 0, 500, allocation_bytes=None)
    line.alloc(1, 0x100, 64, 564)
    line.free(2, 0x700, 0, 464, allocation_bytes=None, requested_bytes=None)
    recording = read(tmp_path, space(host))
    assert picked(recording, "events", "size") == [(0,), (64,), (100,)]
    assert [row["allocated"] for row in rows(recording, "usage")] == [500, 500, 564, 464]
    assert any("1 events say no size" in problem for problem in recording.meta["problems"])


def test_a_break_in_the_counts_is_told(tmp_path: Path) -> None:
    host = Plane()
    host.line().alloc(0, 0x100, 8, 8).alloc(1, 0x200, 8, 17)
    problems = read(tmp_path, space(host)).meta["problems"]
    assert any("1 times what the allocator has allocated moves" in one for one in problems)


def test_steps_are_spans_else_groups_and_never_a_guess(tmp_path: Path) -> None:
    host = Plane()
    line = host.line()
    line.alloc(0, 0x100, 8, 8, group_id=4).alloc(5_000, 0x200, 8, 16)
    assert picked(read(tmp_path, space(host)), "allocations", "step") == [(4,), (None,)]
    line.free(8_000, 0x100, 8, 8, group_id=6).free(20_000, 0x200, 8, 0)
    grouped = read(tmp_path, space(host))
    assert picked(grouped, "allocations", "step") == [(4,), (None,)]
    assert steps_of_events(grouped) == [4, None, 6, None]  # not that of what is freed
    line.event("train", 4_000, 5_000, step_num=7)
    marked = read(tmp_path, space(host))
    assert picked(marked, "allocations", "step") == [(None,), (7,)]
    assert steps_of_events(marked) == [None, 7, 7, None]


def test_steps_that_may_be_incomplete_are_told(tmp_path: Path) -> None:
    def told(host: Plane, *others: Plane) -> list[str]:
        return list(read(tmp_path, space(host, *others)).meta["problems"])

    host = Plane()
    line = host.line()
    line.alloc(10_000, 0x100, 8, 8)
    assert told(host) == []  # without steps there is none to be incomplete
    line.alloc(15_000, 0x200, 8, 16, group_id=3).free(20_000, 0x200, 8, 8)
    assert told(host) == []  # begins and ends outside
    line.free(25_000, 0x100, 8, 0, group_id=4)
    longer = " event of memory; profile for longer to have whole ones."
    last = "step 4 is under way at the last"
    assert told(host) == [f"Steps may be incomplete: {last}{longer}"]
    host.line().alloc(5_000, 0x300, 8, 8, group_id=2, allocator_name="B")
    first = "step 2 is under way at the first"
    assert told(host) == [f"Steps may be incomplete: {first} and {last}{longer}"]
    # What is marked is whole, wherever the profile begins and ends.
    line.event("train", 14_000, 2_000, step_num=7)
    assert told(host) == []
    idle = Plane()
    idle.line().alloc(10_000, 0x100, 8, 8).event("train", 11_000, 5_000, step_num=7)
    (none,) = told(idle)
    assert "incomplete: no event of memory is within one that is marked;" in none
    # Steps of devices are what was seen of them.
    plain, tpu = Plane(), Plane("/device:TPU:0")
    plain.line().alloc(10_000, 0x100, 8, 8).free(30_000, 0x100, 8, 0)
    steps = tpu.line("Steps").event("1", 20_000, 5_000)
    assert told(plain, tpu) == []
    steps.event("0", 5_000, 10_000)
    first = "step 0 is under way at the first"
    assert told(plain, tpu) == [f"Steps may be incomplete: {first}{longer}"]


def steps_of_events(recording: Recording) -> list[int | None]:
    page = events.page(recording, recording.devices[0], details=True)
    return [row["about"]["step"] for row in page["rows"]]


def test_the_clock_is_that_of_the_start_of_the_profile(tmp_path: Path) -> None:
    host, about = Plane(), Plane("Task Environment")
    host.line(timestamp_ns=7_000).alloc(3_500, 0x100, 8, 8)
    about.stats = [
        about.stat_value("profile_start_time", 1_700_000_000_000_000_000),
        about.stat_value("jax_version", "0.10.2"),
        about.stat_value("process_id", 42),
    ]
    meta = read(tmp_path, space(host, about)).meta
    assert meta["time_origin_ns"] == 1_700_000_000_000_007_003 and meta["clock"] == "unix"
    assert meta["versions"] == {"jax_version": "0.10.2"} and meta["pid"] == 42
    host.lines[0].timestamp_ns = 1_700_000_000_000_007_000  # some profilers write it so
    assert read(tmp_path, space(host, about)).meta["time_origin_ns"] == 1_700_000_000_000_007_003


def woven(lines: list[list[tuple[int, int]]], start: int) -> list[list[int]]:
    """All orders of the events of ``lines`` in which every one begins where the last ended."""
    tags = [place for place, line in enumerate(lines) for _ in line]
    found = []
    for order in set(itertools.permutations(tags)):
        at, now, values = [0] * len(lines), start, []
        for place in order:
            moved, after = lines[place][at[place]]
            at[place] += 1
            if now + moved != after:
                break
            now = after
            values.append(after)
        else:
            found.append(values)
    return found


@pytest.mark.parametrize("seed", range(25))
def test_events_of_one_moment_are_woven_so_that_the_counts_fit(tmp_path: Path, seed: int) -> None:
    """P1, where the clock is too coarse: all is at one moment, on three threads."""
    chance = random.Random(seed)
    threads: list[list[tuple[int, int]]] = [[], [], []]
    host = Plane()
    lines: list[Line] = [host.line() for _ in threads]
    now, alive = 1_000, list[tuple[int, int]]()
    host.line("first").alloc(0, 0xFFFF, 1_000, now)
    for event in range(7):
        thread = chance.randrange(3)
        if alive and chance.random() < 0.5:
            address, size = alive.pop(chance.randrange(len(alive)))
            now -= size
            lines[thread].free(1_000, address, size, now)
            threads[thread].append((-size, now))
        else:
            address, size = 0x100 * (event + 1), chance.choice((8, 16))
            now += size
            alive.append((address, size))
            lines[thread].alloc(1_000, address, size, now)
            threads[thread].append((size, now))
    recording = read(tmp_path, space(host))
    counts = [row["allocated"] for row in rows(recording, "reported")]
    assert counts[0] == 1_000 and counts[1:] in woven(threads, 1_000)
    assert recording.meta["problems"] == []


def test_many_events_of_one_moment_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    host = Plane()
    for thread in range(80):
        host.line().alloc(5, 0x100 * (thread + 1), 8, 8 * (80 - thread))
    recording = read(tmp_path, space(host))
    assert [row["allocated"] for row in rows(recording, "reported")] == [
        8 * (80 - thread) for thread in range(80)
    ]


def test_weaving_that_leads_nowhere_ends(tmp_path: Path) -> None:
    host = Plane()
    for thread in range(30):  # any two of them fit, all of them never
        host.line().alloc(5, 0x100 * (thread + 1), 0, 100)
    host.line().alloc(5, 0x9900, 8, 7)
    assert len(rows(read(tmp_path, space(host)), "events")) == 31
