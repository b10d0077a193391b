"""Words of plans: memory spaces by platform, and what names of arguments and scopes tell."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_reading import space_name
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.views import breakdown
from tests.fixtures.hlo import Module, heap, shape

ARGUMENTS = {
    "params['layers'][0]['w']": Category.PARAMETER,
    "p['emb']": Category.PARAMETER,
    "state.params['dense']['kernel']": Category.PARAMETER,
    "weights[3]": Category.PARAMETER,
    "state.opt_state[0].mu['w']": Category.OPTIMIZER_STATE,
    "m['emb']": Category.OPTIMIZER_STATE,
    "optimizer_state.nu": Category.OPTIMIZER_STATE,
    "batch['tokens']": Category.INPUT,
    "ids": Category.INPUT,
    "": Category.INPUT,
}
RETURNED = {
    "jit(step)/jvp(loss)/div": Category.OUTPUT,
    "jit(step)/transpose(jvp(layer0))/dot_general": Category.GRADIENT,
    "jit(step)/add": Category.OUTPUT,
    "": Category.OUTPUT,
}
COMPUTED = {
    "jit(step)/jvp(layer0)/dot_general": Category.ACTIVATION,
    "jit(step)/transpose(jvp(layer0))/dot_general": Category.GRADIENT,
    "jit(step)/checkpoint/tanh": Category.ACTIVATION,
    "jit(step)/add": Category.TEMPORARY,
    "": Category.TEMPORARY,
}


@pytest.mark.parametrize(
    ("platform", "names"),
    [
        ("tpu", {0: "HBM", 1: "VMEM", 2: "sync flags", 3: "CMEM", 4: "SMEM", 5: "host"}),
        ("tpu", {6: "SparseCore", 9: "pinned HBM", 42: "space 42"}),
        ("gpu", {0: "device memory", 1: "collective memory", 5: "host", 3: "space 3"}),
        ("cpu", {0: "memory", 5: "host", 1: "space 1"}),
        (None, {0: "device memory", 5: "host", 2: "space 2"}),
    ],
)
def test_memory_spaces_have_the_names_of_their_platform(
    platform: str | None, names: dict[int, str]
) -> None:
    assert {space: space_name(platform, space) for space in names} == names


def test_names_tell_categories_and_all_of_them_are_guesses(tmp_path: Path) -> None:
    module = Module()
    floats = shape("f32", 64)
    for number, op in enumerate(ARGUMENTS):
        module.instruction(f"p{number}", floats, opcode="parameter", op=op)
        module.allocation(256, {module.buffer(f"p{number}", 256): 0}, parameter=number)
    made = {}
    for number, op in enumerate(COMPUTED):
        module.instruction(f"c{number}", floats, op=op)
        made[module.buffer(f"c{number}", 256)] = 256 * number
    module.allocation(256 * len(COMPUTED), made)
    module.trace(" ".join(f"+{buffer}" for buffer in made))
    for number, op in enumerate(RETURNED):
        module.instruction(f"r{number}", floats, op=op)
        module.allocation(256, {module.buffer(f"r{number}", 256): 0}, kinds=["output"])
    module.instruction("k0", floats, opcode="constant")
    module.allocation(256, {module.buffer("k0", 256): 0}, kinds=["constant"])
    path = tmp_path / "jit_step.hlo_proto.pb"
    path.write_bytes(module.bytes())
    planned = plan_recording(derive(hlo.read(path)))
    rows = planned.table("allocations").to_pylist()
    found = {(row["name"], row["op"] or ""): row["category"] for row in rows}
    expected = {
        (f"{letter}{number}", op): int(category)
        for letter, words in (
            ("p", ARGUMENTS),
            ("c", COMPUTED),
            ("r", RETURNED),
            ("k", {"": Category.INPUT}),
        )
        for number, (op, category) in enumerate(words.items())
    }
    assert found == expected
    assert all(row["category_inferred"] for row in rows)
    (device,) = planned.devices
    groups = breakdown.page(planned, device, by="category")["groups"]
    wanted = Counter(Category(category).label for category in expected.values())
    assert {group["key"]: group["count"] for group in groups} == wanted
    assert all(group["label"] == group["category"] == group["key"] for group in groups)
    asked = {"by": "category", "key": "output", "filter": "category:output"}
    returned = breakdown.allocations(planned, device, **asked)["rows"]
    assert {row["name"] for row in returned} == {"r0", "r2", "r3"}
    assert {row["category"] for row in returned} == {"output"}


def test_what_backends_write_tells_the_platform(tmp_path: Path) -> None:
    for config, platform in (
        (b'{"outer_dimension_partitions":["2"]}', "cpu"),
        (b'{"gemm_backend_config":{},"kind":"__cublas$gemm"}', "gpu"),
        (b'{"window_config":{}}', "tpu"),
        (b"{}", None),
    ):
        module = heap([8], "+1 -1")
        module.instruction("told", shape("f32", 1), config=config)
        path = tmp_path / "jit_f.hlo_proto.pb"
        path.write_bytes(module.bytes())
        (found,) = hlo.read(path).table("modules").column("platform").to_pylist()
        assert found == platform
