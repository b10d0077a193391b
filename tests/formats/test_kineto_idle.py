"""Leaving out Python calls in which nothing was allocated changes nothing but the spans."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from tb_memory_plugin.readers import kineto_idle, kineto_program, kineto_trace
from tb_memory_plugin.readers.kineto_columns import Columns
from tb_memory_plugin.readers.trace_stream import Event
from tb_memory_plugin.recording.recording import Recording
from tests.conftest import SHARED_DATA
from tests.fixtures.kineto import Json, memory, span

TRACES = SHARED_DATA / "traces"
NAMES = sorted(path.name for path in TRACES.glob("*.json.gz"))
KINDS = ("cpu_op", "user_annotation", "python_function", "python_function", "python_function")


def check(path: Path) -> Recording:
    """That only spans of kind ``python`` are left out, and nothing else changes; the whole."""
    whole = kineto_trace.read(path)
    with patch.object(kineto_program, "MOST_SPANS", 0):
        found = kineto_trace.read(path)
    spans, all_spans = (told(each, "spans") for each in (found, whole))
    left = {"python": len(all_spans) - len(spans)}
    assert Counter(each["kind"] for each in all_spans) - Counter(
        each["kind"] for each in spans
    ) == Counter({kind: count for kind, count in left.items() if count})
    others = iter(all_spans)
    assert all(each in others for each in spans)  # in the same order
    missing = [each["what"] for each in found.meta["missing"]]
    assert ("calls of Python in which nothing was allocated" in missing) == bool(left["python"])
    expected = [each["what"] for each in whole.meta["missing"]]
    assert [each for each in missing if "nothing was allocated" not in each] == expected
    assert found.tables.keys() == whole.tables.keys()
    for name in whole.tables.keys() - {"spans"}:
        assert told(found, name) == told(whole, name), name
    return whole


def told(recording: Recording, table: str) -> list[Json]:
    """The rows of a table; rows of spans as what these are, but what they are inside of."""
    found: list[Json] = recording.table(table).to_pylist()
    if table == "spans":
        return [{**row, "parent": None, "depth": None} for row in found]
    spans = told(recording, "spans") if table in ("events", "links") else []
    for row in found:
        for column in {"span", "source", "target"} & row.keys():
            row[column] = row[column] if row[column] is None else spans[row[column]]
    return found


@pytest.mark.skipif(not NAMES, reason="the shared real files (../shared/data) are not here")
@pytest.mark.parametrize("name", NAMES or ["none"])
def test_real_traces_are_the_same_without_them(name: str) -> None:
    check(TRACES / name)


def rounded(time: float) -> int:
    return math.floor(time + 0.5)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("write", [rounded, math.floor, float])
def test_random_traces_are_the_same_without_them(
    tmp_path: Path, seed: int, write: Callable[[float], float]
) -> None:
    """Of threads whose calls really nest, and whose begins and durations the file may round."""
    trace = made(random.Random(seed), write)
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": trace}))
    whole = check(path)
    if write is not float:
        assert outlasting(trace) > 0
    assert sum(each is not None for each in whole.tables["events"]["stack"].to_pylist()) > 50


def test_a_trace_is_the_same_part_by_part(tmp_path: Path) -> None:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": made(random.Random(99), rounded)}))
    with patch.object(kineto_idle, "_PART", 7):
        check(path)


def made(chance: random.Random, write: Callable[[float], float]) -> list[Json]:
    """Spans of two threads, eight deep, and allocations in, between and at the very ends of them.

    Annotations alone may outlast what they are entered in. Times are written by ``write``.
    """
    events: list[Json] = []
    ends: list[tuple[float, int]] = []

    def nest(begin: float, end: float, depth: int, thread: int) -> None:
        while depth < 8 and begin + 2 < end:
            length = chance.uniform(0.3, end - begin)
            if not chance.randrange(3):  # up to the end of what it is in, or nearly
                length = end - begin - chance.choice((0, chance.uniform(0, 0.9)))
            name = f"a.py({chance.randrange(9)}): f{depth}"
            category = chance.choice(KINDS)
            if category == "python_function" and not chance.randrange(6):
                name = f"nn.Module: Linear_{depth}"
            beyond = chance.uniform(0, 60) if category == "user_annotation" else 0
            took = write(length + beyond)
            events.append(span(name, write(begin), took, cat=category, tid=thread))
            ends.append((begin + length, thread))
            nest(begin, begin + length, depth + 1, thread)
            begin += length + chance.choice((0, chance.uniform(0, 60)))

    for thread in (2, 3):
        nest(0, 3_000, 0, thread)
    moments = [(chance.uniform(0, 3_100), chance.choice((2, 3, 4))) for _ in range(40)]
    for end, thread in chance.sample(ends, 80):
        moments.append((end - chance.uniform(0, 0.9), thread))
    for place, (at, thread) in enumerate(moments):
        events.append(memory(write(at), 8, 16 * (place + 1), tid=thread))
    chance.shuffle(events)
    return events


def outlasting(trace: list[Json]) -> int:
    """How many calls seem to end after one that they begin in."""
    found = [each for each in trace if each["ph"] == "X" and each["cat"] != "user_annotation"]
    return sum(
        inner["tid"] == outer["tid"]
        and outer["ts"] < inner["ts"] < outer["ts"] + outer["dur"] < inner["ts"] + inner["dur"]
        for inner in found
        for outer in found
    )


def test_only_calls_without_an_event_go() -> None:
    columns = Columns()
    names = ("a.py(1): f", "nn.Module: M", "a.py(2): g", "a.py(2): g")
    calls = [
        Event(ph="X", cat="python_function", name=name, pid=1, tid=2, ts=10_000 * place, dur=5_000)
        for place, name in enumerate(names)
    ]
    op = Event(ph="X", cat="cpu_op", name="a.py(2): g", pid=1, tid=2, ts=40_000, dur=5_000)
    happened = Event(ph="i", name="[memory]", pid=1, tid=2, ts=32_000)
    columns.add([*calls, op, happened])
    kineto_idle.drop_idle_calls(columns)
    assert columns.spans.column("begin").tolist() == [10_000_000, 30_000_000, 40_000_000]
    assert len(columns.spans) == 3
