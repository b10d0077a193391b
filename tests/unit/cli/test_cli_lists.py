"""``tb-memory allocations`` and ``tb-memory operators``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.cli import main
from tb_memory_plugin.views import lives, operators
from tests.fixtures.training import training

Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_allocations_are_those_of_the_page(source: Path, capsys: Capture) -> None:
    recording = training()
    found = answer(
        capsys, "allocations", source, "--minimum", "500", "--maximum=1KiB", "--sort=-birth"
    )
    expected = lives.page(recording, recording.devices[0], minimum=500, maximum=1024, sort="-birth")
    assert found == json.loads(json.dumps(expected))
    assert [row["requested"] for row in found["rows"]] == [700, 512, 1000]


def test_allocations_of_a_moment(source: Path, capsys: Capture) -> None:
    recording = training()
    found = answer(capsys, "allocations", source, "--at", "event:5", "--begin", "8", "--end", "9")
    expected = lives.page(recording, recording.devices[0], at="event:5", begin=8, end=9)
    assert found == json.loads(json.dumps(expected)) and found["at"] == 5
    assert all((row["birth"] or 0) <= 5 < (row["death"] or 99) for row in found["rows"])


def test_allocations_in_words(source: Path, capsys: Capture) -> None:
    arguments = ["allocations", str(source), "--begin", "5", "--end", "9", "--limit", "2"]
    assert main(arguments) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == "cuda:0 6 allocations: 4.52 KiB (4 624 bytes)"
    assert rows[1].split()[1:3] == ["2.00", "KiB"] and "forward · model.py:90" in rows[1]
    assert "before" in rows[2] and "not freed" in rows[2]
    assert rows[-1] == "4 more (--offset, --limit)"


def test_a_size_that_is_none_is_refused(source: Path, capsys: Capture) -> None:
    assert main(["allocations", str(source), "--minimum", "many"]) == 1
    assert "many" in capsys.readouterr().err


def test_operators_are_those_of_the_page(source: Path, capsys: Capture) -> None:
    recording = training()
    found = answer(capsys, "operators", source, "--begin", 0, "--end", 4, "--find", "aten")
    expected = operators.page(recording, recording.devices[0], begin=0, end=4, find="aten")
    assert found == json.loads(json.dumps(expected))
    assert [(row["label"], row["self_increase"]) for row in found["rows"]] == [
        ("aten::softmax", 2048),
        ("aten::mm", 1212),
    ]


def test_operators_in_words(source: Path, capsys: Capture) -> None:
    assert main(["operators", str(source), "--limit", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "cuda:0 2 operators: allocated 1.27 KiB (1 300 bytes) before, "
        "2.22 KiB (2 276 bytes) after (+976 B)"
    )
    assert "does not say when operators ran" in lines[1]
    assert lines[-2].split() == ["2", "1.18", "KiB", "+1.18", "KiB", "1.18", "KiB", "aten::mm"]
    assert lines[-1] == "2 more (--limit)"
