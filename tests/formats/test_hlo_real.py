"""Plans of real modules and of XProf's own test modules, against what XProf answers for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import hlo, xplane
from tb_memory_plugin.recording.plan_schema import BufferKind
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import buffers, plan_buffers

MIB = 1 << 20
#: XProf pools what is smaller.
SMALL = 16 << 10
#: What it gets right in a module, and all of a profile's modules.
RIGHT = (
    "jit_generate",
    "jit_train_step",
    "synthetic/basic",
    "synthetic/share1",
    "synthetic/share2",
)
PROFILES = ("jax_mi300_attention", "tpu_4device")


def opened(shared_data: Path, name: str) -> Recording:
    return derive(hlo.read(shared_data / "xla" / f"{name}.hlo_proto.pb"))


def expected(shared_data: Path, name: str) -> dict[str, Any]:
    prefix = "" if "/" in name else "jax_transformer_cpu."
    path = shared_data / "xla" / f"{prefix}{name}.memory_viewer.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def in_bytes(mib: float) -> int:
    """MiB as XProf says them: exact, as its numbers are far below 2⁵³ bytes."""
    found = mib * MIB
    assert found == int(found)
    return int(found)


def plan(recording: Recording) -> dict[str, int]:
    (row,) = recording.table("plans").to_pylist()
    found: dict[str, int] = row
    return found


def lives(recording: Recording) -> list[dict[str, Any]]:
    """What holds memory, with the id of its buffer."""
    ids = recording.table("buffers").column("id").to_pylist()
    rows = recording.table("buffer_lives").to_pylist()
    return [{**row, "id": ids[row["buffer"]]} for row in rows if row["holds"]]


def alive(recording: Recording, event: int) -> list[dict[str, Any]]:
    return [
        life
        for life in lives(recording)
        if (life["birth"] is None or life["birth"] <= event)
        and (life["death"] is None or life["death"] > event)
    ]


@pytest.mark.parametrize("name", RIGHT)
def test_totals_curve_and_lives_are_those_of_xprof(shared_data: Path, name: str) -> None:
    recording, wanted = opened(shared_data, name), expected(shared_data, name)
    found = plan(recording)
    sums = {
        "peak": "peakHeapMib",
        "total": "totalBufferAllocationMib",
        "indefinite": "indefiniteBufferAllocationMib",
        "parameter": "entryComputationParametersMib",
        "output": "maybeLiveOutMib",
    }
    for column, key in sums.items():
        assert found[column] == in_bytes(wanted.get(key, 0)), key
    assert found["peak_event"] == wanted.get("peakHeapSizePosition", 0)
    curve = [found["indefinite"], *recording.table("plan_events").column("size").to_pylist()]
    assert curve == [in_bytes(size) for size in wanted["heapSizes"]]
    spans = {
        int(buffer): (span.get("start", 0), span.get("limit", 0))
        for buffer, span in wanted["logicalBufferSpans"].items()
    }
    temporary = [life for life in lives(recording) if life["birth"] is not None]
    assert {life["id"]: (life["birth"], life["death"]) for life in temporary} == spans


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_alive_at_the_peak_is_what_xprof_lists(shared_data: Path, name: str) -> None:
    recording, wanted = opened(shared_data, name), expected(shared_data, name)
    found = alive(recording, plan(recording)["peak_event"])
    assert sum(life["size"] for life in found) == plan(recording)["peak"]
    large = {life["id"]: life["size"] for life in found if life["size"] >= SMALL}
    listed = [each for each in wanted["maxHeap"] if each.get("logicalBufferId") != -1]
    sizes = {
        int(each["logicalBufferId"]): in_bytes(each["logicalBufferSizeMib"]) for each in listed
    }
    assert large == {buffer: size for buffer, size in sizes.items() if size >= SMALL}


@pytest.mark.parametrize("name", RIGHT)
def test_blocks_lie_where_xprof_draws_them(shared_data: Path, name: str) -> None:
    recording, wanted = opened(shared_data, name), expected(shared_data, name)
    kinds = recording.table("buffer_allocations").column("kind").to_pylist()
    # XProf draws only what is temporary; here what is held all the time lies below.
    (temporary,) = (row for row, kind in enumerate(kinds) if kind == BufferKind.TEMPORARY)
    below = plan(recording)["indefinite"]
    blocks = {
        block["logicalBufferId"]: (
            block.get("offset", 0),
            block["size"],
            block.get("startStep", 0),
            block["endStep"],
        )
        for block in wanted["bufferBlocks"]
        if block["logicalBufferId"] != -1
    }
    found = {
        life["id"]: (
            life["offset"] - below,
            life["size"],
            life["birth"],
            life["death"],
        )
        for life in lives(recording)
        if life["allocation"] == temporary
    }
    assert found == blocks


@pytest.mark.parametrize("name", PROFILES)
def test_every_module_of_a_profile_has_the_totals_of_xprof(shared_data: Path, name: str) -> None:
    recording = derive(xplane.read(shared_data / "xla" / f"{name}.xplane.pb"))
    wanted = json.loads((shared_data / "xla" / f"{name}.modules.json").read_text())
    modules = recording.table("modules").to_pylist()
    called = [f"{module['name']}({module['program_id']})" for module in modules]
    assert sorted(called) == sorted(wanted)
    plans = {
        row["module"]: row for row in recording.table("plans").to_pylist() if row["space"] == 0
    }
    for module, key in enumerate(called):
        found, said = plans[module], wanted[key]
        assert found["peak"] == in_bytes(said["peakHeapMib"]), key
        assert found["peak_event"] == said["peakHeapSizePosition"], key
        assert found["total"] == in_bytes(said["totalBufferAllocationMib"]), key
        assert found["indefinite"] == in_bytes(said["indefiniteBufferAllocationMib"]), key
        assert found["parameter"] == in_bytes(said["entryComputationParametersMib"]), key
        assert found["output"] == in_bytes(said["maybeLiveOutMib"]), key
        assert said["points"] == (found["events"] + 1 if found["events"] else 0), key


def test_parameters_have_padding_too(shared_data: Path) -> None:
    # XProf counts what is held all the time as if it had none (its defect V7).
    recording = derive(xplane.read(shared_data / "xla" / "tpu_4device.xplane.pb"))
    names = recording.table("modules").column("name").to_pylist()
    (row,) = (
        row
        for row in recording.table("plans").to_pylist()
        if names[row["module"]] == "jit_convert_element_type" and row["space"] == 0
    )
    # Two allocations of 512 bytes for two numbers of four.
    assert (row["peak"], row["unpadded_peak"]) == (1024, 8)


def test_two_traces_are_simulated_both(shared_data: Path) -> None:
    # XProf simulates one of them and takes the other for fragmentation (its defect V1).
    found = opened(shared_data, "synthetic/twoTraces")
    assert plan(found)["events"] == 6
    assert plan(found)["fragmentation"] == 0
    assert {life["id"] for life in lives(found)} == {1, 2, 3}
    curve = found.table("plan_events").column("size").to_pylist()
    assert curve == [MIB // 2, MIB, MIB // 2, 0, 2 * MIB, 0]


def test_what_is_said_of_buffers_is_what_xprof_says(shared_data: Path) -> None:
    for name in RIGHT:
        recording, wanted = opened(shared_data, name), expected(shared_data, name)
        (each,) = reading.all_plans(recording)
        found = buffers.alive(recording, each, each.numbers["peak_event"])["buffers"]
        ours = {one["id"]: one for one in found}
        for one in wanted["maxHeap"]:
            if one.get("logicalBufferId", -1) == -1:
                continue  # what is small, together
            mine = ours[int(one["logicalBufferId"])]
            assert (mine["instruction"] or "") == one["instructionName"]
            assert mine["opcode"] == one["opCode"]
            assert mine["shape"] == one["shapeString"]
            assert (mine["framework_op"] or "") == one.get("tfOpName", "")
            assert mine["kind"] == one["groupName"].lower()
            assert mine["unpadded_bytes"] == in_bytes(one["unpaddedShapeMib"])
        names = recording.table("instructions").column("name").to_pylist()
        said = recording.table("plan_events").column("instruction").to_pylist()
        told = ["" if row is None else names[row] for row in said]
        assert told == wanted["hloInstructionNames"][:-1], name
        answer = plan_buffers.curve(recording, each, 0, each.numbers["events"], 16_384)
        curve = pa.ipc.open_stream(answer).read_all().to_pydict()
        assert curve["event"] == list(range(each.numbers["events"]))
        assert [word or "" for word in curve["instruction"]] == told, name


@pytest.mark.parametrize("name", RIGHT)
def test_without_padding_it_is_what_xprof_says_but_for_what_is_held(
    shared_data: Path, name: str
) -> None:
    recording, wanted = opened(shared_data, name), expected(shared_data, name)
    found = plan(recording)
    # It counts what is held all the time with its padding (its defect V7).
    less = found["indefinite"] - found["unpadded_indefinite"]
    assert found["unpadded_peak"] == in_bytes(wanted["peakUnpaddedHeapMib"]) - less
    curve = recording.table("plan_events").column("unpadded").to_pylist()
    assert curve == [in_bytes(size) - less for size in wanted["unpaddedHeapSizes"][1:]]


def test_what_is_never_freed_lives_to_the_end(shared_data: Path) -> None:
    # XProf ends it an event before the end (its defect V4).
    found = opened(shared_data, "synthetic/unfreed")
    temporary = {life["id"]: life for life in lives(found) if life["birth"] is not None}
    assert {buffer: (life["birth"], life["death"]) for buffer, life in temporary.items()} == {
        1: (0, None),
        2: (1, None),
    }
    assert plan(found)["peak"] == in_bytes(
        expected(shared_data, "synthetic/unfreed")["peakHeapMib"]
    )


def test_memory_without_a_trace_is_not_lost(shared_data: Path) -> None:
    # XProf's peak has nothing of it (its defect V3).
    found = opened(shared_data, "synthetic/noTrace")
    assert plan(found)["peak"] == plan(found)["total"] == 2 * MIB
    assert plan(found)["untraced"] == MIB
    (problem,) = json.loads(found.table("plan_modules").column("problems")[0].as_py())
    assert problem.startswith("Temporary allocation 0 has no heap trace: its 1048576 bytes")


def test_a_module_without_a_plan_says_so(shared_data: Path) -> None:
    found = opened(shared_data, "synthetic/noBA")
    assert len(found.table("plans")) == 0
    assert found.table("modules").to_pylist()[0]["planned"] is False


def test_a_profile_without_allocator_events_has_its_modules(shared_data: Path) -> None:
    found = derive(xplane.read(shared_data / "xla" / "jax_transformer_cpu.xplane.pb"))
    assert len(found.table("modules")) == 27
    assert [missing["what"] for missing in found.meta["missing"]] == ["allocator events"]
    by_itself = opened(shared_data, "jit_train_step")
    names = found.table("modules").column("name").to_pylist()
    programs = found.table("modules").column("program_id").to_pylist()
    (module,) = (
        row for row, name in enumerate(names) if (name, programs[row]) == ("jit_train_step", 50)
    )
    rows = [row for row in found.table("plans").to_pylist() if row["module"] == module]
    assert rows == [{**plan(by_itself), "module": module}]
