"""Operators within operators in a recording, and the span that every event happened in."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tests.recorder.loops import Recorded, record

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")


class Doubled(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Its output lives until ``kept`` goes."""

    def forward(self, value: object) -> object:
        return torch.ones_like(value)


def program(memory: MemoryWriter) -> None:
    kept = Doubled()(torch.zeros(3, 41))
    memory.step()
    del kept
    memory.step()


def around(recorded: Recorded, row: int | None) -> list[tuple[str, str, int]]:
    """Kind, name and depth of a span and of all that it is inside of."""
    spans, found = recorded.rows("spans"), []
    while row is not None:
        found.append((spans[row]["kind"], spans[row]["name"], spans[row]["depth"]))
        assert spans[row]["parent"] is None or (
            spans[spans[row]["parent"]]["begin"] <= spans[row]["begin"]
            and spans[row]["end"] <= spans[spans[row]["parent"]]["end"]
        )
        row = spans[row]["parent"]
    return found


def test_an_event_is_in_the_innermost_op_or_module(tmp_path: Path) -> None:
    recorded = record(tmp_path, program)
    (zeros, ones) = [row for row in recorded.lives if row["size"] == 3 * 41 * 4]
    events = recorded.rows("events")
    assert around(recorded, events[zeros["birth"]]["span"]) == [
        ("op", "aten::empty", 1),
        ("op", "aten::zeros", 0),
    ]
    found = around(recorded, events[ones["birth"]]["span"])
    assert found[0][:2] == ("op", "aten::empty_strided")
    assert found[-2:] == [("op", "aten::ones_like", 0), ("module", "Doubled", 0)]
    assert [depth for *_, depth in found[:-1]] == list(range(len(found) - 2, -1, -1))
    assert zeros["op"] == "aten::zeros" and ones["op"] == "aten::ones_like"
    spans = recorded.rows("spans")
    (said,) = [row["args"] for row in spans if row["name"] == "aten::ones_like"]
    assert json.loads(said)["Input Dims"][0] == [3, 41]


def test_ops_within_ops_are_bounded(tmp_path: Path) -> None:
    def many(memory: MemoryWriter) -> None:
        for _ in range(20):
            kept = torch.zeros(3)
        memory.step()
        del kept

    recorded = record(tmp_path, many, max_events=60)
    nested = [row for row in recorded.rows("spans") if row["kind"] == "op" and row["depth"]]
    assert len(nested) == 40
    recorded = record(tmp_path / "fewer", many, max_events=25)
    nested = [row for row in recorded.rows("spans") if row["kind"] == "op" and row["depth"]]
    assert len(nested) == 25


def test_different_shapes_are_bounded(tmp_path: Path) -> None:
    def many(memory: MemoryWriter) -> None:
        for size in [*range(1, 11), 2]:
            torch.zeros(size).neg_()
        memory.step()

    with patch("tb_memory_plugin.recorder.profiler.spans.MOST_ARGUMENTS", 4):
        recorded = record(tmp_path, many)
    said = [row["args"] for row in recorded.rows("spans") if row["name"] == "aten::neg_"]
    shapes = [None if each is None else json.loads(each)["Input Dims"] for each in said]
    assert shapes == [[[1]], [[2]], [[3]], [[4]], *[None] * 6, [[2]]]
