"""What names of dumped and unpacked modules say, and which file of a module has its plan."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers.hlo_glance import holds_plan
from tb_memory_plugin.readers.hlo_names import module_name, superseded
from tests.fixtures.hlo import heap
from tests.fixtures.pprof import number, part

CPU, TPU = "cpu_after_optimizations.hlo.pb", "after_optimizations_after_buffer_assignment.hlo.pb"


@pytest.mark.parametrize(
    ("file", "which", "name", "of"),
    [
        (f"module_0004.jit__lambda.{CPU}", "module_0004.jit__lambda", "jit__lambda", "0004"),
        (f"module_0012.a.b.{TPU}.gz", "module_0012.a.b", "a.b", "0012"),
        ("module_0016.f.sm_8.0_gpu_after_optimizations.hlo.pb", "module_0016.f", "f", "0016"),
        ("module_0016.f.gfx942_gpu_after_optimizations.hlo.pb", "module_0016.f", "f", "0016"),
        ("module_0001.f.after_codegen.hlo.pb", "module_0001.f", "f", "0001"),
        ("module_0001.f.after_optimizations.pb", "module_0001.f", "f", "0001"),
        (f"1700000000.module_0001.f.{CPU}", "1700000000.module_0001.f", "f", "0001"),
        (f"module_0007.{CPU}", "module_0007", "", "0007"),
        ("module_0001.jit_f.hlo_proto.pb", "module_0001.jit_f", "jit_f", "0001"),
        ("jit_f(123).hlo_proto.pb", "jit_f(123)", "jit_f", "123"),
    ],
)
def test_files_of_a_module(file: str, which: str, name: str, of: str) -> None:
    found = module_name(file)
    assert found is not None
    assert (found.which, found.name, found.number) == (which, name, of)


@pytest.mark.parametrize(
    "file",
    [
        "jit_f.hlo_proto.pb",
        "host.xplane.pb",
        "module_0001.f.before_optimizations.hlo.pb",
        "module_0001.f.after_optimizations_before_buffer_assignment.hlo.pb",
        "module_0001.f.cpu_after_optimizations-memory-usage-report.pb",
        "module_0001.f.0003.simplification.after_dce.before_cse.hlo.pb",
        f"module_x.{CPU}",
    ],
)
def test_files_that_say_nothing_of_others(file: str) -> None:
    assert module_name(file) is None


def test_one_file_of_every_module_the_one_with_the_plan() -> None:
    early, late = "module_0001.f.after_optimizations.hlo.pb", "module_0001.f.after_codegen.hlo.pb"
    plan = f"module_0001.f.{TPU}"
    alone = "module_0002.g.after_codegen.hlo.pb"
    names = [alone, early, late, plan, "jit_f.hlo_proto.pb", "host.xplane.pb"]
    # By name, where contents are not known.
    assert superseded(names, lambda _: None) == {early, late}
    has: dict[str, bool | None] = {early: False, late: True, plan: False}
    assert superseded(names, lambda name: has[name]) == {early, plan}
    assert superseded(names, lambda name: name != late and None) == {early, late}
    assert superseded([early, late], lambda _: False) == {early}
    assert superseded([], lambda _: True) == set()


def test_whether_a_file_holds_a_plan_is_told_without_reading_it(tmp_path: Path) -> None:
    module = heap([8], "+1 -1")
    whole = module.bytes()
    alone = part(1, module.module())
    for data, told in (
        (whole, True),
        (alone, False),
        (alone + part(3, b""), False),
        (part(3, module.assignment()) + alone, True),
        (number(2, 5) + whole, None),
        (whole[:-1], None),
        (gzip.compress(whole), None),
        (b"\xff" * 40, None),
        (b"\x0a", None),
        (part(2, b"x") * 20 + whole, None),
    ):
        path = tmp_path / "module"
        path.write_bytes(data)
        assert holds_plan(path) is told, data[:20]
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(SourceError, match="is empty"):
        holds_plan(tmp_path / "empty")


def test_real_modules_are_told_by_their_ends(shared_data: Path) -> None:
    files = sorted((shared_data / "xla").rglob("*.hlo_proto.pb"))
    assert {file.name.partition(".")[0]: holds_plan(file) for file in files} == {
        **dict.fromkeys(("jit_generate", "jit_train_step", "basic", "noTrace"), True),
        **dict.fromkeys(("share1", "share2", "twoTraces", "unfreed"), True),
        "noBA": False,
    }
