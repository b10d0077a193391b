"""``tb-memory modules`` and ``buffers``: of all real files, and what they say where they cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin import cli
from tests.fixtures.hlo import Module, heap, profile, shape

#: Modules of each real file.
REAL = {
    "jax_transformer_cpu.xplane.pb": 27,
    "jax_mi300_attention.xplane.pb": 31,
    "tpu_4device.xplane.pb": 4,
    "tf_mlp_cpu_bfc.xplane.pb": 0,
    "tf2_gpu_worker.xplane.pb": 0,
    "jax_device_memory.prof": 0,
    "jit_train_step.hlo_proto.pb": 1,
    "synthetic/noBA.hlo_proto.pb": 1,
}


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    assert cli.main([*map(str, words), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return json.loads(said.out)


def lines(capsys: pytest.CaptureFixture[str], *words: object) -> list[str]:
    assert cli.main([*map(str, words)]) == 0
    return capsys.readouterr().out.splitlines()


def fault(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one sentence that a command ends with."""
    assert cli.main([*map(str, words)]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith("tb-memory: ") and said.err.endswith(".\n")
    return said.err.removeprefix("tb-memory: ").rstrip()


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A profile of a small module, twice by one name, and a larger one in two memory spaces."""
    large = heap([64, 32], "+1@i1 +2@i2 -1@i2 -2@i2")
    large.name = "jit_g"
    large.instruction("out", shape("f32", 256), op="jit(g)/add", source=("g.py", 3))
    large.allocation(2_048, {large.buffer("out", 2_048, space=1): 0}, space=1, kinds=["output"])
    small = heap([8], "+1 -1 -1").bytes()
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(profile({"jit_f(1)": small, "jit_g(2)": large.bytes(), "jit_f(3)": small}))
    return path


@pytest.mark.parametrize("name", REAL)
def test_every_real_file(shared_data: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = shared_data / "xla" / name
    modules = answer(capsys, "modules", path)
    assert len(modules) == REAL[name]
    for module in modules:
        for space, numbers in module["spaces"].items():
            key = f"{module['module']}({module['program_id']})"
            found = answer(capsys, "buffers", path, "--module", key, "--space", space)
            assert found["total_bytes"] == numbers["peak_bytes"]
            assert sum(each["bytes"] for each in found["buffers"]) == numbers["peak_bytes"]
    head, *rest = lines(capsys, "modules", path)
    assert head.startswith(f"{len(modules)} HLO module")
    assert len(rest) >= len(modules)


def test_modules_in_text(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, columns, *rows = lines(capsys, "modules", two)
    assert head == "3 HLO modules"
    assert columns.split() == [
        *("peak", "total", "arguments", "outputs", "temporary"),
        *("space", "events", "program", "module"),
    ]
    assert [row.split()[-1] for row in rows[:4]] == ["jit_g", "jit_g", "jit_f", "jit_f"]
    assert rows[0].split()[:2] == ["2.00", "KiB"]
    odd = "In the heap of memory space 0, buffer 1 is freed while not alive"
    assert rows[4:] == [f"  ! jit_f: {odd}: such events change nothing."] * 2


def test_buffers_by_module_space_and_moment(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "buffers", two, "--module", "jit_g")  # of the space of its highest peak
    assert found["total_bytes"] == 2_048
    (one,) = found["buffers"]
    assert one == {
        "id": 3,
        "instruction": "out",
        "opcode": "add",
        "shape": "f32[256]",
        "bytes": 2_048,
        "unpadded_bytes": 1_024,
        "offset": 0,
        "allocation": one["allocation"],
        "place": 0,
        "birth": None,
        "death": None,
        "kind": "output",
        "framework_op": "jit(g)/add",
        "source": {"file": "g.py", "line": 3, "function": ""},
    }
    for moment, expected in (("-1", []), ("0", [1]), ("peak", [1, 2]), ("2", [2]), ("3", [])):
        words = ("buffers", two, "--module", "2", "--space", 0, f"--at={moment}")
        found = answer(capsys, *words)
        assert [each["id"] for each in found["buffers"]] == expected
    text = lines(capsys, "buffers", two, "--module", "jit_g(2)", "--space", 0, "--limit", 1)
    assert text[0].endswith("after event 1 of 4: 96 bytes in 2 buffers")
    assert "the compiler's own peak of the module is" in text[1]
    assert (len(text), text[-1]) == (5, "1 more (--limit)")


def test_what_cannot_be_answered_is_one_sentence(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = fault(capsys, "buffers", two, "--module", "jit_h")
    choices = "jit_f(1), jit_f(3), jit_g(2)"
    assert said == f"There is no module jit_h with a plan; choose one of {choices}."
    said = fault(capsys, "buffers", two, "--module", "jit_f")
    assert said == "Several modules are called jit_f; choose one of jit_f(1), jit_f(3)."
    said = fault(capsys, "buffers", two, "--module", "jit_g", "--space", 5)
    assert said == "There is no memory space 5 in module jit_g with a plan; choose one of 0, 1."
    for moment in ("4", "-2", "peaks", "1.5"):
        said = fault(capsys, "buffers", two, "--module", "2", "--space", 0, f"--at={moment}")
        assert said == f"{moment!r} is no moment of this plan; say peak or a number from -1 to 3."


def test_a_module_without_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.hlo_proto.pb"
    path.write_bytes(Module().bytes())
    assert lines(capsys, "modules", path) == [
        "1 HLO module",
        "  jit_f holds no plan for memory",
    ]
    said = fault(capsys, "buffers", path, "--module", "jit_f")
    assert said == "There is no plan in it: it has no HLO module, or none after buffer assignment."


def test_a_recording_without_modules(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shared_data / "xla" / "tf_mlp_cpu_bfc.xplane.pb"
    head, why = lines(capsys, "modules", path)
    assert head == "0 HLO modules" and why.startswith(
        "  they are in XPlanes that have /host:metadata"
    )
    assert fault(capsys, "buffers", path, "--module", "x").startswith("There is no plan in it")


def test_a_damaged_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.hlo_proto.pb"
    path.write_bytes(heap([8], "+1").bytes()[:-3])
    for words in (["modules", path], ["buffers", path, "--module", "jit_f"]):
        assert fault(capsys, *words).startswith("a.hlo_proto.pb: is not a valid HLO module: ")
