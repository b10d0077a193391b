"""Real XPlanes: equal to XProf's answers, and right where XProf is known to be wrong (P1 … P12)."""

from __future__ import annotations

import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin import cli
from tb_memory_plugin.analysis.alive import alive_rows
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import xplane
from tb_memory_plugin.readers.registry import reader_of
from tb_memory_plugin.recording.recording import Device, Recording
from tests.formats.test_snapshot_fuzz import check
from tests.formats.xplane_reading import ANSWERS, XLA, alive, answered, file_of, real, walk

pytestmark = real
each = pytest.mark.parametrize("answer", ANSWERS, ids=lambda path: path.name.partition(".")[0])


@cache
def recorded(path: Path) -> Recording:
    recording = derive(xplane.read(path))
    check(recording)
    return recording


def moment(recording: Recording, device: Device, event: int) -> int:
    """When an event was, in nanoseconds of the file's own clock."""
    time = int(recording.values("events", "time", device)[event])
    return time + int(recording.meta["time_origin_ns"])


def kinds(recording: Recording, device: Device, event: int) -> Counter[tuple[Any, ...]]:
    """What is alive after an event and was born in the window, as ``Walked.kind``."""
    rows = alive_rows(recording, device, event)
    table = recording.table("allocations").take(rows + recording.rows("allocations", device).start)
    return Counter(
        (
            row["size"],
            row["requested"] or 0,
            row["op"] or "",
            row["region"] or "",
            row["shape"] or "",
            row["dtype"] or "INVALID",
        )
        for row in table.to_pylist()
        if row["birth"] is not None
    )


@each
def test_the_registry_and_the_memory_ids(answer: Path) -> None:
    path = file_of(answer)
    with path.open("rb") as file:
        assert reader_of(path.name, file.read(65_536)) is xplane
    assert {device.key for device in recorded(path).devices} == set(answered(answer))


@each
def test_summary_of_every_allocator(answer: Path) -> None:
    recording = recorded(file_of(answer))
    walked, found = walk(file_of(answer)), facts(recording)["devices"]
    for device in recording.devices:
        expected = answered(answer)[device.key]["profileSummary"]
        stats, said = expected["peakStats"], found[device.key]["allocator"]
        assert said["peak"] == int(stats["peakBytesInUse"])
        assert said["stack"] == int(stats["stackReservedBytes"])
        assert said["heap"] == int(stats["heapAllocatedBytes"])
        assert said["free"] == int(stats["freeMemoryBytes"])
        assert said["fragmentation"] == stats["fragmentation"]
        assert device.capacity == int(expected["memoryCapacity"])
        # P10: XProf tells the last moment of the peak (by line, not time), here it is the first.
        peaks = [
            place
            for place, event in enumerate(walked[device.key])
            if event.number("bytes_reserved") + event.number("bytes_allocated") == said["peak"]
        ]
        offsets = {walked[device.key][place].offset_ps for place in peaks}
        assert int(expected["peakStatsTimePs"]) in offsets
        assert said["event"] == peaks[0]
        # P2: the lifetime peak of XProf is that of the last event it sees; here the most.
        lifetime = max(event.number("peak_bytes_in_use") for event in walked[device.key])
        assert said["lifetime_peak"] == lifetime
        assert recording.meta["devices"][device.index]["lifetime_peak"] == lifetime
        assert int(expected["peakBytesUsageLifetime"]) <= lifetime


def test_where_the_lifetime_peak_of_xprof_is_wrong() -> None:
    """P2, in a real file and in the one that was made for it."""
    differs = set()
    for answer in ANSWERS:
        found = facts(recorded(file_of(answer)))["devices"]
        for key, expected in answered(answer).items():
            if found[key]["allocator"]["lifetime_peak"] != int(
                expected["profileSummary"]["peakBytesUsageLifetime"]
            ):
                differs.add((answer.name.partition(".")[0], key))
    assert differs == {("tf2_gpu_worker", "GPU_4_bfc"), ("xplane_e", "A")}


@each
def test_events_are_those_of_a_slow_walk(answer: Path) -> None:
    recording, walked = recorded(file_of(answer)), walk(file_of(answer))
    start = min(event.time_ps for events in walked.values() for event in events)
    for device in recording.devices:
        events = walked[device.key]
        assert recording.values("events", "action", device).tolist() == [
            0 if event.born else 2 for event in events
        ]
        assert recording.values("events", "address", device).tolist() == [
            event.number("addr") for event in events
        ]
        times = recording.values("events", "time", device)
        first = times[0] - (events[0].time_ps - start) // 1000
        assert times.tolist() == [
            first + (event.time_ps // 1000 - start // 1000) for event in events
        ]
        names = {
            "allocated": "bytes_allocated",
            "stack": "bytes_reserved",
            "free": "bytes_available",
            "lifetime_peak": "peak_bytes_in_use",
        }
        for ours, theirs in names.items():
            assert recording.values("reported", ours, device).tolist() == [
                event.number(theirs) for event in events
            ]
        rows = recording.rows("reported", device)
        fragmentation = recording.table("reported").column("fragmentation").to_pylist()[rows]
        assert fragmentation == [float(event.stats["fragmentation"]) for event in events]


@each
def test_counts_and_the_curve(answer: Path) -> None:
    """P5: all events are counted, not at most 1 000 samples; the curve is the allocator's own."""
    recording, walked = recorded(file_of(answer)), walk(file_of(answer))
    for device in recording.devices:
        events, sampled = (
            walked[device.key],
            answered(answer)[device.key]["sampledTimelineSnapshots"],
        )
        found = facts(recording)["devices"][device.key]
        assert found["allocs"] == sum(event.born for event in events)
        assert found["frees"] == sum(not event.born for event in events)
        if len(sampled) < 1_000:  # XProf has kept all
            activity = Counter(one["activityMetadata"]["memoryActivity"] for one in sampled)
            assert (found["allocs"], found["frees"]) == (
                activity["ALLOCATION"],
                activity["DEALLOCATION"],
            )
        else:
            assert len(sampled) == 1_000 < found["allocs"]
        if answer.name.startswith("xplane_"):
            continue  # counts of these were made up
        curve = recording.values("usage", "allocated", device)
        assert curve[1:].tolist() == [event.number("bytes_allocated") for event in events]


@each
def test_what_is_alive_at_the_peak(answer: Path) -> None:
    """P7: all that is alive, from whatever step; what XProf names is among it."""
    recording, walked = recorded(file_of(answer)), walk(file_of(answer))
    for device in recording.devices:
        event = facts(recording)["devices"][device.key]["allocator"]["event"]
        expected = Counter(each.kind for each in alive(walked[device.key], event))
        found = kinds(recording, device, event)
        assert found == expected
        if answer.name.startswith(("xplane_a", "jax_mi300")):
            continue  # P1: see below
        profile = answered(answer)[device.key]
        if profile["profileSummary"]["peakStatsTimePs"] != str(walked[device.key][event].offset_ps):
            continue  # P10: it lists what is alive at a later moment
        for active in profile["activeAllocations"]:
            if active["snapshotIndex"] == "-1":
                continue
            made = profile["memoryProfileSnapshots"][int(active["snapshotIndex"])]
            about = made["activityMetadata"]
            kind = (
                int(about["allocationBytes"]),
                int(about["requestedBytes"]),
                about["tfOpName"],
                about["regionType"],
                about["tensorShape"],
                about["dataType"],
            )
            assert found[kind] >= int(active["numOccurrences"])
        # What XProf cannot name it lumps together; it is as much as is not in its list.
        specials = profile["specialAllocations"]
        lumped = sum(int(one["allocationBytes"]) for one in specials if one["tfOpName"] != "stack")
        named = sum(
            int(active["numOccurrences"])
            * int(
                profile["memoryProfileSnapshots"][int(active["snapshotIndex"])]["activityMetadata"][
                    "allocationBytes"
                ]
            )
            for active in profile["activeAllocations"]
            if active["snapshotIndex"] != "-1"
        )
        if not answer.name.startswith("xplane_"):
            total = recording.values("usage", "allocated", device)[event + 1]
            assert total == named + lumped


def test_an_allocation_that_was_freed_before_the_peak_is_not_alive_at_it() -> None:
    """P1: XProf takes the times of two threads for those of one, and lists both as alive."""
    answer = next(path for path in ANSWERS if path.name.startswith("xplane_a."))
    recording = recorded(file_of(answer))
    (device,) = recording.devices
    assert len(answered(answer)["A"]["activeAllocations"]) == 2
    event = facts(recording)["devices"]["A"]["allocator"]["event"]
    assert [kind[:2] for kind in kinds(recording, device, event)] == [(8_388_608, 8_388_602)]
    # Where several threads have bases of their own, the allocator's count steps by each size.
    mi300 = recorded(XLA / "jax_mi300_attention.xplane.pb")
    assert mi300.meta["problems"] == []


def test_modules_of_a_tpu_are_on_the_time_base_of_the_allocations() -> None:
    """P8: XProf counts both from the beginning of their own line."""
    import json

    path = XLA / "tpu_4device.xplane.pb"
    recording = recorded(path)
    answer = json.loads((XLA / "tpu_4device.memory_profile.json").read_text())
    start = 1_741_722_099_081_044_120  # of the profile: the lines of modules count from it
    expected = Counter(
        (
            one["planeName"],
            one["name"],
            start + int(one["startTimePs"]) // 1000,
            start + int(one["endTimePs"]) // 1000,
        )
        for one in answer["hloModules"]
    )
    origin = recording.meta["time_origin_ns"]
    spans = recording.table("spans").to_pylist()
    found = Counter(
        (span["track"], span["name"], origin + span["begin"], origin + span["end"])
        for span in spans
        if span["kind"] == "hlo_module"
    )
    assert len(answer["hloModules"]) == 414 and found == expected
    assert {(span["track"], span["device"]) for span in spans} == {
        (f"TPU:{number}", number) for number in range(4)
    }
    events = walk(path)["0"]
    assert moment(recording, recording.devices[0], 0) == start + events[0].time_ps // 1000


def test_steps_come_from_the_program_and_are_not_guessed() -> None:
    recording = recorded(XLA / "tf_mlp_cpu_bfc.xplane.pb")
    spans = [row for row in recording.table("spans").to_pylist() if row["kind"] == "step"]
    assert [(span["name"], span["step"]) for span in spans] == [("train", n) for n in range(6)]
    for row in recording.table("allocations").to_pylist():
        if row["birth_time"] is not None:
            around = [s["step"] for s in spans if s["begin"] <= row["birth_time"] < s["end"]]
            assert row["step"] == (around[0] if around else None)
    grouped = recorded(XLA / "tf2_gpu_worker.xplane.pb")
    assert not len(grouped.table("spans"))
    walked = walk(XLA / "tf2_gpu_worker.xplane.pb")
    for device in grouped.devices:
        groups = [
            event.number("group_id") if "group_id" in event.stats else -1
            for event in walked[device.key]
            if event.born
        ]
        births = grouped.values("allocations", "birth", device)
        steps = grouped.values("allocations", "step", device)
        assert steps[births >= 0].tolist() == groups


@each
def test_on_the_command_line(answer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", str(file_of(answer)), "--json"]) == 0
    assert '"lifetime_peak"' in capsys.readouterr().out
    for key in answered(answer):
        assert cli.main(["peak", str(file_of(answer)), "--by", "op", "--device", key]) == 0
        assert "allocated" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("corrupt_utf8.xplane.pb", "was ruined by a conversion to text"),
        ("jax_transformer_cpu.xplane.pb", "TF_CPU_ALLOCATOR_USE_BFC=true, JAX on a CPU never does"),
    ],
)
def test_what_cannot_be_shown_says_why(name: str, fault: str) -> None:
    """P12 among them."""
    with pytest.raises(SourceError) as caught:
        xplane.read(XLA / name)
    sentence = str(caught.value)
    assert sentence.startswith(f"{name}: ") and fault in sentence and "\n" not in sentence
    assert ("host_tracer_level" in sentence) == (name != "corrupt_utf8.xplane.pb")


def test_truncated_real_files_are_refused(tmp_path: Path) -> None:
    data = (XLA / "tf_mlp_cpu_bfc.xplane.pb").read_bytes()
    path = tmp_path / "short.xplane.pb"
    planes = {36, len(data)}  # where a whole plane ends, the file does
    read = 0
    for stop in np.linspace(1, len(data) - 1, 150).astype(int).tolist():
        path.write_bytes(data[:stop])
        try:
            derive(xplane.read(path))
            read += 1
        except SourceError as error:
            assert "cut off" in str(error) or "memory was not traced" in str(error)
    assert read <= len(planes)


def test_a_gzipped_file_is_the_same(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "host.xplane.pb.gz"
    with path.open("wb") as sink, gzip.open(sink, "wb") as packed:
        packed.write((XLA / "tf_mlp_cpu_bfc.xplane.pb").read_bytes())
    plain = tmp_path / "host.xplane.pb"
    shutil.copy(XLA / "tf_mlp_cpu_bfc.xplane.pb", plain)
    one, other = xplane.read(path), xplane.read(plain)
    assert all(one.table(name).equals(other.table(name)) for name in other.tables)
    assert xplane.probe(path)["compressed"] and not xplane.probe(plain)["compressed"]
