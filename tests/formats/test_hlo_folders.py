"""A folder of HLO modules on the command line: all of them, whatever one of them is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin import cli
from tests.fixtures.hlo import Module, heap, shape

Capture = pytest.CaptureFixture[str]


def named(name: str, sizes: list[int]) -> bytes:
    module = heap(sizes, "+1 -1")
    module.name = name
    return module.bytes()


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    folder.mkdir()
    stem = "module_000{}.{}.cpu_after_optimizations.hlo.pb"
    (folder / stem.format(1, "jit_f")).write_bytes(named("jit_f", [8]))
    (folder / stem.format(2, "jit_g")).write_bytes(named("jit_g", [16]))
    (folder / stem.format(3, "jit_f")).write_bytes(named("jit_f", [32]))
    (folder / stem.format(4, "jit_h")).write_bytes(b"\xff\xff nothing")
    (folder / "module_0001.jit_f.before_optimizations.txt").write_text("HloModule jit_f")
    return folder


def said(capsys: Capture, *words: object) -> tuple[int, Any, str]:
    status = cli.main([*map(str, words), "--json"])
    out, error = capsys.readouterr()
    return status, json.loads(out) if out else None, error


def test_all_modules_of_a_folder_but_for_what_cannot_be_read(dump: Path, capsys: Capture) -> None:
    status, found, error = said(capsys, "modules", dump)
    assert status == 0
    peaks = [(each["module"], each["spaces"]["0"]["peak_bytes"]) for each in found]
    assert peaks == [("jit_f", 8), ("jit_g", 16), ("jit_f", 32)]
    assert "module_0004.jit_h" in error and error.count("\n") == 1


def test_buffers_of_a_module_that_one_file_holds(dump: Path, capsys: Capture) -> None:
    status, found, _ = said(capsys, "buffers", dump, "--module", "jit_g")
    assert (status, found["total_bytes"], len(found["buffers"])) == (0, 16, 1)
    status, found, error = said(capsys, "buffers", dump, "--module", "jit_f")
    assert (status, found) == (1, None)
    assert "Several files hold jit_f: module_0001" in error and "module_0003" in error
    _, _, error = said(capsys, "buffers", dump, "--module", "jit_x")
    assert "No file of the folder holds a plan of jit_x" in error


def test_a_folder_without_modules_is_refused(tmp_path: Path, capsys: Capture) -> None:
    for command in (["modules", tmp_path], ["buffers", tmp_path, "--module", "jit_f"]):
        status, _, error = said(capsys, *command)
        assert status == 1
        assert "is a folder without a file of HLO modules that can be read" in error


def test_a_module_that_holds_no_plan_is_listed(tmp_path: Path, capsys: Capture) -> None:
    module = Module()
    module.instruction("a", shape("f32", 4))
    (tmp_path / "jit_f.hlo_proto.pb").write_bytes(module.bytes())
    _, found, _ = said(capsys, "modules", tmp_path)
    assert [(each["module"], each["spaces"]) for each in found] == [("jit_f", {})]
