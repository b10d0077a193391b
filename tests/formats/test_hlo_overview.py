"""A plan in numbers: what causes padding, what of the peak is temporary, what no trace is of."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_padding import padded as causes
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import plan_overview
from tests.fixtures.hlo import Module, shape
from tests.fixtures.padded import padded
from tests.formats.hlo_reading import read

MIB = 1 << 20


def overview(recording: Recording) -> dict[str, Any]:
    (plan,) = reading.all_plans(recording)
    return plan_overview.overview(recording, plan)


def test_the_operations_that_cause_most_padding_are_named(tmp_path: Path) -> None:
    module, plan = padded()
    recording = read(tmp_path, module)
    found = overview(recording)
    alive = [
        each
        for each in plan
        if (each.birth is None or each.birth <= found["peak_event"])
        and (each.death is None or each.death > found["peak_event"])
        and each.size > each.unpadded
    ]
    # Framework ops are jit(train)/layer0 … 3, by place, and the opcode.
    whole: Counter[str] = Counter()
    members = defaultdict(list)
    for each in alive:
        op = f"jit(train)/layer{plan.index(each) % 4}/{each.opcode}"
        whole[op] += each.size - each.unpadded
        members[op].append(each)
    told = found["padded"]
    assert told["count"] == len(alive) and len(whole) > 1
    most = whole.most_common(3)
    assert [(cause["op"], cause["bytes"]) for cause in told["causes"]] == most
    table = plan_recording(recording).table("allocations").to_pylist()
    for cause in told["causes"]:
        own = members[cause["op"]]
        worst = max(own, key=lambda each: each.size - each.unpadded)
        assert (cause["count"], cause["instruction"]) == (len(own), worst.name)
        assert table[int(cause["id"])]["name"] == worst.name
    (each,) = reading.all_plans(recording)
    padding = found["peak"] - found["unpadded_peak"]
    assert sum(cause.bytes for cause in causes(recording, each)) == padding > 0


def test_what_has_no_framework_op_causes_padding_by_its_instruction(tmp_path: Path) -> None:
    module = Module()
    for name, op in (("a", ""), ("b", ""), ("c", "f"), ("d", "f"), ("a2", "a")):
        module.instruction(name, shape("f32", 1, 3, order=[1, 0], tiles=[(8, 128)]), op=op)
    made = {module.buffer(name, 4096): 4096 * at for at, name in enumerate(module.ids)}
    module.allocation(5 * 4096, made)
    found = overview(read(tmp_path, module.trace("+1 +2 +3 +4 +5 -1 -2 -3 -4 -5")))
    assert found["padded"]["count"] == 5
    told = [
        (cause["op"], cause["instruction"], cause["bytes"]) for cause in found["padded"]["causes"]
    ]
    assert told == [("f", "c", 8168), (None, "a", 4084), (None, "b", 4084)]


def test_what_of_the_peak_is_temporary(shared_data: Path) -> None:
    xla = shared_data / "xla"
    said = json.loads((xla / "jax_transformer_cpu.jit_train_step.memory_viewer.json").read_text())
    found = overview(derive(hlo.read(xla / "jit_train_step.hlo_proto.pb")))
    temporary = said["peakHeapMib"] - said["indefiniteBufferAllocationMib"]
    assert found["temporary_at_peak"] == temporary * MIB > 0
    assert (found["untraced"], found["padded"]) == (0, {"count": 0, "causes": []})
    untraced = overview(derive(hlo.read(xla / "synthetic" / "noTrace.hlo_proto.pb")))
    assert (untraced["untraced"], untraced["temporary_at_peak"]) == (MIB, MIB)
