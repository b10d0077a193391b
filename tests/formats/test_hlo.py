"""Modules in the smallest files that show one thing each: what is read of their program."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import hlo
from tests.fixtures.hlo import Module, heap, shape
from tests.fixtures.pprof import number, packed, part
from tests.formats.hlo_reading import lives, order, plan, read, rows


def test_a_module_and_its_instructions(tmp_path: Path) -> None:
    made = Module("jit_step", id=12)
    first = made.instruction("p", shape("f32", 4), opcode="parameter")
    made.instruction("add", shape("f32", 4), operands=[first, first, 99], op="jit(step)/add")
    recording = read(tmp_path, made)
    (module,) = rows(recording, "modules")
    assert (module["name"], module["program_id"], module["entry"]) == ("jit_step", 12, "main")
    assert module["planned"] is False and module["platform"] is None
    columns = ("id", "name", "opcode", "computation", "shape", "bytes", "op", "operands")
    assert rows(recording, "instructions", *columns) == [
        (1, "p", "parameter", "main", "f32[4]", 16, None, []),
        (2, "add", "add", "main", "f32[4]", 16, "jit(step)/add", [0, 0]),
    ]


@pytest.mark.parametrize("id", [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_program_ids_have_64_bits_without_sign(tmp_path: Path, id: int) -> None:
    assert rows(read(tmp_path, Module(id=id)), "modules", "program_id") == [id]


def test_calls_run_where_they_are_made(tmp_path: Path) -> None:
    made = Module()
    # Written callee first, as XLA does, or not.
    made.instruction("b.add", into="body")
    made.instruction("c.compare", into="condition")
    made.instruction("start")
    made.instruction("while", opcode="while", calls=["body", "condition"])
    made.instruction("again", opcode="while", calls=["body", "condition"])
    made.instruction("switch", opcode="conditional", calls=["one", "two"])
    made.instruction("end")
    made.instruction("1.inner", into="one", opcode="call", calls=["deep"])
    made.instruction("2.negate", into="two")
    made.instruction("d.multiply", into="deep")
    recording = read(tmp_path, made)
    assert order(recording) == [
        *("start", "b.add", "c.compare", "while", "again"),
        *("d.multiply", "1.inner", "2.negate", "switch", "end"),
    ]


def test_calls_without_end_and_of_nobody(tmp_path: Path) -> None:
    made = Module()
    made.instruction("a", calls=["main"])
    made.instruction("b", calls=["other"])
    made.instruction("c", into="other", calls=["main", "other", "fused"])
    made.instruction("f", into="fused", scheduled=False)
    made.instruction("a2")
    made.sequences["main"].append(1)
    made.sequences["main"].append(4_000)
    recording = read(tmp_path, made)
    assert order(recording) == ["a", "c", "b", "a2"]
    # What is in a fusion is none of the plan, unless a buffer is of it.
    assert "f" not in rows(recording, "instructions", "name")
    made.buffer("f", 8)
    assert rows(read(tmp_path, made), "instructions", "name", "position")[-1] == ("f", None)


def test_calls_that_are_nested_very_deep(tmp_path: Path) -> None:
    made, depth = Module(), 3_000
    for level in range(depth):
        into = f"c{level}" if level else "main"
        made.instruction(f"i{level}", into=into, calls=[f"c{level + 1}"])
    assert order(read(tmp_path, made)) == [f"i{level}" for level in reversed(range(depth))]


def test_a_module_without_a_schedule_has_no_order(tmp_path: Path) -> None:
    made = Module()
    made.instruction("a", scheduled=False)
    assert rows(read(tmp_path, made), "instructions", "name", "position") == [("a", None)]


def test_stacks_by_the_index_of_frames(tmp_path: Path) -> None:
    made = Module()
    main = made.frame("main", "train.py", 40)
    inner = made.frame("loss", "model.py", 7, parent=main)
    endless = made.frame("spin", "model.py", 9, parent=4)
    made.frame("spun", "model.py", 10, parent=endless)
    made.locations.append((77, -3, 5))
    made.frames += [(5, 0), (99, inner), (0, 0)]
    for frame in (main, inner, endless, 5, 6, 7, 99, -1):
        made.instruction(f"f{frame}", frame=frame)
    made.instruction("named", source=("old.py", 3))
    made.instruction("both", source=("old.py", 3), frame=main)
    made.instruction("neither", source=("old.py", -3), frame=99)
    recording = read(tmp_path, made)
    frames = rows(recording, "frames", "function", "file", "line")
    stacks = [[frames[each] for each in stack] for stack in rows(recording, "stacks", "frames")]
    names = rows(recording, "instructions", "name", "stack")
    found = {name: None if stack is None else stacks[stack] for name, stack in names}
    outer, loss = ("main", "train.py", 40), ("loss", "model.py", 7)
    assert found["f1"] == [outer] and found["f2"] == [loss, outer]
    assert found["f3"] == [("spin", "model.py", 9), ("spun", "model.py", 10)]
    assert found["f5"] == [("", "", 5)]
    assert found["f6"] == [loss, outer]  # its own place is not known, its caller is
    assert found["f7"] is found["f99"] is found["f-1"] is None
    assert found["named"] == [("", "old.py", 3)] and found["both"] == [outer]
    assert found["neither"] == [("", "old.py", 0)]


def test_names_that_are_no_text_harm_nothing(tmp_path: Path) -> None:
    made = Module(b"jit_\xff")
    made.instruction(b"a\xfe\0", shape("f32", 2), op=b"\xc3\x28", opcode=b"\x80")
    made.buffer(1, 8)
    made.frame(b"f\xff", b"\xfe.py", 1)
    recording = read(tmp_path, made)
    assert rows(recording, "modules", "name") == ["jit_\\xff"]
    found = rows(recording, "instructions", "name", "op", "opcode")
    assert found == [("a\\xfe\0", "\\xc3(", "\\x80")]


def test_what_later_versions_add_is_skipped(tmp_path: Path) -> None:
    more = number(900, 5) + part(901, b"later") + packed(902, [1, 2])
    made = heap([8], "+1 -1")
    made.instruction("new", more=more)
    made.allocations[0] += more
    made.buffers[0] += more
    made.traces[0] += more
    recording = read(tmp_path, made.bytes() + more)
    assert plan(recording)["peak"] == 8 and lives(recording) == [(1, 0, 1, 8, True)]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"used_scoped_memory_configs": [{"memory_space": 1, "size": 64}]}, 64),
        ({"used_scoped_memory_configs": [{"memory_space": "1", "size": "64"}]}, 64),
        ({"used_scoped_memory_configs": [{"memory_space": "0", "size": "64"}]}, None),
        ({"used_scoped_memory_configs": [{"size": 64}]}, None),
        ({"used_scoped_memory_configs": []}, None),
        ({"used_scoped_memory_configs": [{"memory_space": 1, "size": "many"}]}, None),
        ({"used_scoped_memory_configs": [{"memory_space": 1, "size": -5}]}, None),
        ({"used_scoped_memory_configs": [{"memory_space": 1, "size": 1 << 80}]}, None),
        ({"used_scoped_memory_configs": [{"memory_space": 1, "size": 1e999}]}, None),
        ({"used_scoped_memory_configs": 7}, None),
        (["used_scoped_memory_configs"], None),
    ],
)
def test_scoped_memory(tmp_path: Path, config: object, expected: int | None) -> None:
    made = Module()
    made.instruction("small", config=b'{"used_scoped_memory_configs":[')
    made.instruction("one", config=json.dumps(config).encode())
    found = rows(read(tmp_path, made), "modules", "scoped_bytes", "scoped_instruction")
    assert found == [(expected, "one" if expected else None)]


def test_the_most_scoped_memory_of_one_instruction(tmp_path: Path) -> None:
    made = Module()
    for name, size in (("a", 5), ("b", 9), ("c", 9), ("d", 8)):
        entry = {"memory_space": 1, "size": str(size)}
        config = {"used_scoped_memory_configs": [{"memory_space": 1, "size": 1}, entry]}
        made.instruction(name, config=json.dumps(config).encode())
    (module,) = rows(read(tmp_path, made), "modules")
    assert (module["scoped_bytes"], module["scoped_instruction"]) == (9, "b")
    assert module["platform"] == "tpu"


@pytest.mark.parametrize(
    ("name", "listed", "platform"),
    [
        ("jit_f(123).hlo_proto.pb", True, None),
        ("JIT_F.HLO_PROTO.PB", True, None),
        ("module_0004.jit__lambda.cpu_after_optimizations.hlo.pb", True, "cpu"),
        ("module_0016.jit_cpu_step.sm_8.0_gpu_after_optimizations.hlo.pb", True, "gpu"),
        ("module_0016.jit_f.gfx942_gpu_after_optimizations.hlo.pb.gz", True, "gpu"),
        ("module_0001.tpu_fn.after_optimizations.pb", True, None),
        ("module_0001.tpu_fn.after_codegen.hlo.pb", True, None),
        ("module_0001.f.after_optimizations_after_buffer_assignment.hlo.pb", True, None),
        ("module_0001.f.after_optimizations_before_buffer_assignment.hlo.pb", False, None),
        ("module_0004.jit__lambda.before_optimizations.hlo.pb", False, None),
        ("module_0004.jit_f.cpu_after_optimizations-memory-usage-report.pb", False, "cpu"),
        ("module_0004.jit_f.cpu_after_optimizations-buffer-assignment.txt", False, "cpu"),
        ("module_0004.jit_f.0003.simplification.after_dce.before_cse.hlo.pb", False, None),
        ("compile_options.pb", False, None),
        ("host.xplane.pb", False, None),
    ],
)
def test_which_files_are_modules(name: str, listed: bool, platform: str | None) -> None:
    assert hlo.matches(name, b"anything") is listed
    assert hlo.platform_of(name) == platform


def test_a_dump_that_is_compressed(tmp_path: Path) -> None:
    name = "module_0001.f.cpu_after_optimizations.hlo.pb.gz"
    data = gzip.compress(heap([8], "+1 -1").bytes(), mtime=0)
    recording = read(tmp_path, data, name)
    assert rows(recording, "modules", "platform") == ["cpu"]
    assert plan(recording)["peak"] == 8
    about = {"compressed": True, "bytes": len(data), "planned": None}
    assert hlo.probe(tmp_path / name) == about


@pytest.mark.parametrize("data", [part(3, heap([8], "+1").assignment()), part(1, number(5, 3))])
def test_a_file_without_a_module_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(SourceError, match="is not a valid HLO module: it has no module"):
        read(tmp_path, data)
