"""The compiler's plans of functions of JAX, against what JAX says of their memory itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin import load
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.discovery import walk
from tb_memory_plugin.store.probing import Probes
from tb_memory_plugin.store.roots import Root
from tests.formats.hlo_checking import check_plans
from tests.frameworks.conftest import Run, said

pytestmark = pytest.mark.frameworks
#: Columns of ``plans`` by what ``compiled.memory_analysis()`` calls them.
SUMS = {"argument": "parameter", "output": "output", "alias": "aliased", "temp": "temporary"}
#: What XLA dumps that is of the plan: the last of a module.
AFTER = ".cpu_after_optimizations.hlo.pb"


def recorded(path: Path) -> Recording:
    found = load(path).recording
    check_plans(found)
    return found


def planned(recording: Recording) -> dict[str, Any]:
    """The only plan, with the compiler's peak and what it says is odd."""
    (plan,), (module,) = (recording.table(name).to_pylist() for name in ("plans", "plan_modules"))
    return {**plan, **module}


def dumped(run: Run, name: str) -> Recording:
    (path,) = Path(run.told["dump"]).glob(f"module_*.jit_plan_{name}{AFTER}")
    return recorded(path)


def test_sums_and_peak_are_those_that_jax_tells(jax_plans: Run) -> None:
    assert len(jax_plans.told["functions"]) > 10
    for name, told in jax_plans.told["functions"].items():
        found = planned(recorded(jax_plans.folder / f"{name}.hlo_proto.pb"))
        sums = {key: found[column] for key, column in SUMS.items()}
        assert sums == {key: told[key] for key in SUMS}, name
        assert found["compiler_peak"] == told["peak"], name
        # The assignment that JAX hands out on the CPU has no heap traces: the peak that it tells
        # has nothing of what is temporary.
        assert found["untraced"] == told["temp"] and found["events"] == 0, name
        assert found["peak"] == told["peak"] + told["temp"], name
        assert ("has no heap trace" in found["problems"]) is (told["temp"] > 0), name


def test_what_is_dumped_has_the_heap_too(jax_plans: Run) -> None:
    with_heap = 0
    for name, told in jax_plans.told["functions"].items():
        recording = dumped(jax_plans, name)
        found = planned(recording)
        assert {key: found[column] for key, column in SUMS.items()} == {
            key: told[key] for key in SUMS
        }, name
        assert (found["untraced"], found["problems"]) == (0, "[]"), name
        # Above what JAX tells is the most that is in use in the heap.
        assert found["compiler_peak"] - told["peak"] == found["peak"] - found["indefinite"], name
        assert found["peak"] == told["peak"] + told["temp"] - found["fragmentation"], name
        assert recording.table("modules").to_pylist()[0]["platform"] == "cpu"
        with_heap += found["events"] > 0
    assert with_heap > 5


def test_a_donated_argument_is_the_output(jax_plans: Run) -> None:
    plain, donated = (planned(dumped(jax_plans, name)) for name in ("step", "donated"))
    assert plain["aliased"] == 0
    assert donated["aliased"] == 4 * (64 * 257 + 257 * 11)
    assert donated["indefinite"] == plain["indefinite"] - donated["aliased"]


def test_frameworks_ops_and_sources_are_known(jax_plans: Run) -> None:
    recording = dumped(jax_plans, "grad")
    ops = recording.table("instructions").column("op").to_pylist()
    assert any(op and op.startswith("jit(plan_grad)/") for op in ops)
    frames = recording.table("frames").to_pylist()
    assert {"loss", "functions"} & {(frame["function"] or "").split(".")[-1] for frame in frames}
    assert any(Path(frame["file"]).name == "jax_compiling.py" for frame in frames)


def test_the_modules_of_a_dump_are_listed_once(jax_plans: Run) -> None:
    folder = Path(jax_plans.told["dump"])
    names = {path.name for path in folder.iterdir()}
    for kind in (".before_optimizations.hlo.pb", "-memory-usage-report.pb", ".debug_options"):
        assert any(name.endswith(kind) for name in names), kind
    found = list(walk(Root(str(folder), "", "logdir"), Probes(), lambda: None))
    assert {each.name for each in found} == {name for name in names if name.endswith(AFTER)}
    assert {(each.format, each.fault) for each in found} == {("hlo", None)}


def test_a_trace_has_the_plans_of_its_modules(
    jax_plans: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = recorded(Path(jax_plans.told["trace"]))
    assert [missing["what"] for missing in recording.meta["missing"]] == ["allocator events"]
    names = recording.table("modules").column("name").to_pylist()
    (row,) = (
        row for row in recording.table("plans").to_pylist() if names[row["module"]] == "jit_traced"
    )
    alone = planned(dumped(jax_plans, "checkpoint"))
    assert row == {key: value for key, value in alone.items() if key in row} | {
        "module": row["module"]
    }
    modules = said(capsys, "modules", jax_plans.told["trace"])
    (module,) = (module for module in modules if module["module"] == "jit_traced")
    assert module["compiler_peak_bytes"] == alone["compiler_peak"]
    answer = said(capsys, "buffers", jax_plans.told["trace"], "--module", "jit_traced")
    assert answer["total_bytes"] == alone["peak"]
