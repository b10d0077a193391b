"""Leaving out Python calls in which nothing was allocated changes no table of a recording."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from tb_memory_plugin.readers import kineto_idle, kineto_program, kineto_trace
from tb_memory_plugin.readers.kineto_spans import Spans
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.kineto import memory, span

TRACES = Path(__file__).parents[3] / "shared" / "data" / "traces"
KINDS = ("cpu_op", "user_annotation", "python_function", "python_function", "python_function")


def both(path: Path) -> tuple[Recording, Recording]:
    with patch.object(kineto_program, "drop_idle_calls", lambda spans, memory: None):
        whole = kineto_trace.read(path)
    return whole, kineto_trace.read(path)


def check(path: Path) -> None:
    whole, found = both(path)
    assert found.meta == whole.meta
    assert found.tables.keys() == whole.tables.keys()
    for name, table in whole.tables.items():
        assert found.tables[name].to_pylist() == table.to_pylist(), name


@pytest.mark.skipif(not TRACES.is_dir(), reason="the shared real files (../shared/data) are absent")
@pytest.mark.parametrize(
    "name", ["mi300_sglang_graph_capture", "h100_qwen_chat", "h100_bert_small"]
)
def test_real_traces_are_the_same_without_them(name: str) -> None:
    check(TRACES / f"{name}.json.gz")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("unit", [1.0, 10.5])
def test_random_traces_are_the_same_without_them(tmp_path: Path, seed: int, unit: float) -> None:
    """Of threads that nest and outlast what they are in, in whole microseconds or not."""
    chance = random.Random(seed)
    events: list[dict[str, Any]] = []

    def nest(begin: int, end: int, depth: int, thread: int) -> None:
        while depth < 8 and begin + 2 < end:
            length = chance.randrange(1, end - begin)
            name = f"a.py({chance.randrange(9)}): f{depth}"
            category = chance.choice(KINDS)
            if category == "python_function" and not chance.randrange(6):
                name = f"nn.Module: Linear_{depth}"
            beyond = chance.choice((0, 0, 0, 1, 2, 3)) if unit == 1 else 0  # rounded up
            if category == "user_annotation":
                beyond = chance.randrange(60)
            took = (length + beyond) * unit
            events.append(span(name, begin * unit, took, cat=category, tid=thread))
            nest(begin, begin + length, depth + 1, thread)
            begin += length + chance.randrange(60)

    for thread in (2, 3):
        nest(0, 3_000, 0, thread)
    for place in range(40):
        at = chance.randrange(3_100) * unit
        events.append(memory(at, 8, 16 * (place + 1), tid=chance.choice((2, 3, 4))))
    chance.shuffle(events)
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    slack = 40_000 if unit == 1 else 0
    with patch.object(kineto_idle, "_PART", 7), patch.object(kineto_idle, "_SLACK", slack):
        check(path)


def test_only_calls_without_an_event_go() -> None:
    spans = Spans()
    codes = [spans.names.code(name) for name in ("a.py(1): f", "nn.Module: M", "a.py(2): g")]
    python, op = spans.kinds.code("python"), spans.kinds.code("op")
    kinds = [python, python, python, python, op]
    spans.add(
        [codes[0], codes[1], codes[2], codes[2], codes[2]],
        kinds,
        [0] * 5,
        [*range(0, 50_000, 10_000)],
        [5_000] * 5,
    )

    class Held:
        def column(self, name: str) -> Any:
            return np.array([0] if name == "track" else [32_000_000])

    kineto_idle.drop_idle_calls(spans, Held())  # type: ignore[arg-type]
    assert spans.column("begin").tolist() == [10_000_000, 30_000_000, 40_000_000]
    assert len(spans) == 3
