"""Operators of XPlanes with what ran inside them, against a slow look at every thread."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin import cli
from tb_memory_plugin.analysis import op_stacks
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import xplane
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import operators
from tests.fixtures.xplane import Plane, space
from tests.formats.test_xplane import read
from tests.formats.xplane_reading import XLA, Walked, around, operations, real, walk

FILES = ["tf_mlp_cpu_bfc", "jax_mi300_attention", "tpu_4device", "tf2_gpu_worker"]


def rows(recording: Recording, key: str, **question: Any) -> dict[str | None, dict[str, Any]]:
    found: dict[str | None, dict[str, Any]] = {}
    while True:
        page = operators.page(
            recording, recording.device(key), **question, offset=len(found), limit=1000
        )
        found.update({row["op"]: row for row in page["rows"]})
        if len(found) == page["found"]:
            return found


def within(path: Path, recording: Recording) -> dict[str, list[set[str]]]:
    """For every allocation of a memory id, in order, the operators that are around it.

    They are all operations of its thread that are then running and do not end before the innermost
    does, as far as the recording calls them operators.
    """
    spans = recording.table("spans").to_pylist()
    origin = None
    made = operations(path)
    events = walk(path)
    for key, walked in events.items():
        time = int(recording.values("events", "time", recording.device(key))[0])
        origin = walked[0].time_ps // 1000 - time
    assert origin is not None
    known = {
        (span["name"], span["begin"] + origin, span["end"] + origin): span["kind"]
        for span in spans
        if span["kind"] in ("op", "annotation", "step")
    }
    found: dict[str, list[set[str]]] = defaultdict(list)
    for key, walked in events.items():
        for event in walked:
            if not event.born:
                continue
            here = [
                (one, known.get((named(one.name), one.begin, one.end)))
                for one in around(made, event.line, event.time_ps // 1000)
                if not one.is_call
            ]
            end = here[-1][0].end if here else 0
            found[key].append(
                {named(one.name) for one, kind in here if kind == "op" and one.end >= end}
            )
    return found


def named(name: str) -> str:
    """An operation without the type that TensorFlow writes behind it."""
    head, colon, tail = name.rpartition(":")
    return head if colon and tail.isidentifier() and not head.endswith(":") else name


def sums(walked: list[Walked], inside: list[set[str]], own: list[str | None]) -> dict[str, Any]:
    found: dict[str, Any] = defaultdict(lambda: {"count": 0, "bytes": 0})
    births = [event for event in walked if event.born]
    assert len(births) == len(inside) == len(own)
    for event, names, label in zip(births, inside, own, strict=True):
        for name in names | ({label} if label else set()):
            found[name]["count"] += 1
            found[name]["bytes"] += event.number("allocation_bytes")
    return found


@real
@pytest.mark.parametrize("name", FILES)
def test_what_ran_inside_operators_of_real_files(name: str) -> None:
    path = XLA / f"{name}.xplane.pb"
    recording = derive(xplane.read(path))
    inside = within(path, recording)
    nested = 0
    for key, walked in walk(path).items():
        device = recording.device(key)
        lives = recording.table("allocations").to_pylist()
        lives = [life for life in lives if life["device"] == device.index]
        own = [life["op"] for life in lives if life["birth"] is not None]
        expected = sums(walked, inside[key], own)
        found = rows(recording, key)
        for op, row in found.items():
            if op is not None:
                want = expected.get(op, {"count": 0, "bytes": 0})
                assert {name: row[name] for name in want} == want, op
                assert row["self_count"] == own.count(op)
                nested += row["count"] > row["self_count"]
        assert set(expected) <= set(found)
    assert nested > 3


@real
@pytest.mark.parametrize("name", FILES[:2])
def test_increases_are_what_is_kept_of_what_was_made_inside(name: str) -> None:
    path = XLA / f"{name}.xplane.pb"
    recording = derive(xplane.read(path))
    inside = within(path, recording)
    for key in walk(path):
        device = recording.device(key)
        lives = recording.table("allocations").to_pylist()
        born = [one for one in lives if one["device"] == device.index and one["birth"] is not None]
        kept: dict[str, int] = defaultdict(int)
        for life, names in zip(born, inside[key], strict=True):
            for op in names | ({life["op"]} if life["op"] else set()):
                kept[op] += life["size"] if life["death"] is None else 0
        found = rows(recording, key)
        assert {op: row["increase"] for op, row in found.items() if op} == {
            op: kept[op] for op in found if op
        }


def test_operators_that_nest_too_deep_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Plane()
    worker = host.line("tf_Compute/7")
    for depth in range(5):
        worker.event(f"op{depth}:Op", 1_000 * depth, 90_000 - 2_000 * depth)
    worker.alloc(15_000, 0x100, 8, 8)

    def asked(name: str, most: int) -> tuple[dict[str | None, int | None], list[str]]:
        with monkeypatch.context() as patched:
            patched.setattr(op_stacks, name, most)
            recording = read(tmp_path, space(host))
            page = operators.page(recording, recording.devices[0])
        return {row["op"]: row["count"] for row in page["rows"]}, page["notes"]

    everything = {f"op{depth}": 1 for depth in range(5)}
    assert asked("_DEEPEST", 5) == (everything, [])
    found, (note,) = asked("_DEEPEST", 3)
    assert found == {"op4": 1, "op3": 1, "op2": 1} and "deeper than is followed" in note
    found, (note,) = asked("_MOST_PAIRS", 0)
    assert found == {"op4": None} and "deeper than is followed" in note


def test_what_does_not_nest_is_not_inside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = Plane()
    worker = host.line("tf_Compute/7")
    worker.event("run:Run", 0, 90_000)
    worker.event("first:First", 10_000, 20_000)  # until 30 µs
    worker.event("second:Second", 20_000, 30_000)  # begins in it and outlasts it
    worker.event("third:Third", 21_000, 5_000)
    worker.alloc(15_000, 0x100, 8, 8)
    worker.alloc(25_000, 0x200, 16, 24)
    worker.alloc(40_000, 0x300, 32, 56)
    worker.alloc(95_000, 0x400, 64, 120)
    recording = read(tmp_path, space(host))
    found = rows(recording, recording.devices[0].key)
    assert {
        op: (row["calls"], row["self_count"], row["count"], row["bytes"])
        for op, row in found.items()
    } == {
        "run": (1, 0, 3, 56),
        "first": (1, 1, 2, 24),
        "second": (1, 1, 2, 48),
        "third": (1, 1, 1, 16),
        None: (None, 1, 1, 64),
    }
    (path,) = tmp_path.glob("*.pb")
    assert cli.main(["operators", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["notes"] == []
    assert [row["label"] for row in answer["rows"] if row["op"] is None] == ["no operator known"]
