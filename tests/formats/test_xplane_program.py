"""What threads of a host did, in XPlanes: spans, nesting, operators and stacks of allocations."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin.readers import xplane, xplane_program
from tb_memory_plugin.readers.xplane_names import named
from tb_memory_plugin.recording.nesting import nested
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.xplane import Plane, space
from tests.formats.test_xplane import picked, read, rows
from tests.formats.xplane_reading import XLA, Operation, around, operations, planes, real, walk

FILES = ["tf_mlp_cpu_bfc", "tf2_gpu_worker", "jax_mi300_attention", "tpu_4device"]
each_file = pytest.mark.parametrize("name", FILES)


def of(name: str) -> Path:
    return XLA / f"{name}.xplane.pb"


def host_spans(recording: Recording) -> list[dict[str, Any]]:
    on_devices = ("hlo_module", "kernel", "copy")
    return [row for row in rows(recording, "spans") if row["kind"] not in on_devices]


def test_operators_annotations_and_calls(tmp_path: Path) -> None:
    host = Plane()
    main, worker = host.line("python"), host.line("tf_Compute/7")
    main.event("$train.py:12 step", 0, 90_000)
    main.event("train", 1_000, 80_000, step_num=3)
    main.event("forward ", 2_000, 40_000)
    main.event("EagerExecute", 3_000, 30_000)
    main.event("inside of it", 4_000, 5_000)
    main.event("$<unknown> call", 5_000, 20_000)
    main.alloc(6_000, 0x100, 8, 8)
    main.alloc(50_000, 0x200, 8, 16, tf_op="said")
    worker.event("model/dense/MatMul:MatMul", 0, 60_000)
    worker.event("pool", 10_000, 10_000)
    worker.alloc(12_000, 0x300, 8, 24)
    worker.alloc(70_000, 0x400, 8, 32)
    recording = read(tmp_path, space(host))
    columns = ("kind", "track", "name", "begin", "end", "depth", "parent", "step", "args")
    typed = json.dumps({"type": "MatMul"})
    assert picked(recording, "spans", *columns) == [
        ("python", "python", "train.py:12 step", 0, 90, 0, None, None, None),
        ("op", "tf_Compute/7", "model/dense/MatMul", 0, 60, 0, None, None, typed),
        ("step", "python", "train", 1, 81, 0, 0, 3, None),
        ("annotation", "python", "forward", 2, 42, 0, 2, None, None),
        ("op", "python", "EagerExecute", 3, 33, 0, 3, None, None),
        ("op", "python", "inside of it", 4, 9, 1, 4, None, None),
        ("python", "python", "<unknown> call", 5, 25, 1, 5, None, None),
        ("op", "tf_Compute/7", "pool", 10, 20, 1, 1, None, None),
    ]
    born = [row for row in rows(recording, "allocations") if row["birth"] is not None]
    assert [row["op"] for row in born] == [None, "model/dense/MatMul", "said", None]
    frames = rows(recording, "frames")
    assert [(one["function"], one["file"], one["line"]) for one in frames] == [
        ("step", "train.py", 12),
        ("<unknown> call", "", 0),
    ]
    stacks = [row["frames"] for row in rows(recording, "stacks")]
    stacked = [
        stacks[row["birth_stack"]] if row["birth_stack"] is not None else None for row in born
    ]
    assert stacked == [[1, 0], None, [0], None]
    assert not any(one["what"] == "stacks" for one in recording.meta["missing"])


def test_a_call_that_jax_writes_twice_is_one(tmp_path: Path) -> None:
    host = Plane()
    line = host.line("python")
    line.event("PjitFunction(f)", 0, 50_000).event("PjitFunction(f)", 1_000, 48_000)
    line.event("trace", 2_000, 30_000).event("PjitFunction(f)", 3_000, 9_000)  # by itself
    line.event("PjitFunction(f)", 60_000, 9_000)
    line.alloc(4_000, 0x100, 8, 8)
    recording = read(tmp_path, space(host))
    assert picked(recording, "spans", "name", "begin", "parent", "depth") == [
        ("PjitFunction(f)", 0, None, 0),
        ("trace", 2, 0, 1),
        ("PjitFunction(f)", 3, 1, 2),
        ("PjitFunction(f)", 60, None, 0),
    ]
    assert picked(recording, "allocations", "op") == [("PjitFunction(f)",)]


def test_threads_of_one_name_are_told_apart(tmp_path: Path) -> None:
    host = Plane()
    host.line("python").event("A::B", 0, 9_000).alloc(0, 0x100, 8, 8)
    host.line("python").event("A::B", 1_000, 9_000)
    tracks = picked(read(tmp_path, space(host)), "spans", "track")
    assert tracks == [("python",), ("python (2)",)]


def test_more_operations_than_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xplane_program, "MOST_SPANS", 3)
    host = Plane()
    line = host.line("python")
    line.event("train", 0, 1_000, step_num=1)
    for place in range(5):
        line.event("A::B", 10_000 * place, 1_000 * (place + 2))
    line.alloc(0, 0x100, 8, 8)
    recording = read(tmp_path, space(host))
    assert picked(recording, "spans", "kind", "begin", "end") == [
        ("step", 0, 1),
        ("op", 30, 35),
        ("op", 40, 46),
    ]
    assert any("The 3 shortest operations" in one for one in recording.meta["problems"])
    line.event("$train.py:1 long", 0, 90_000)  # calls of Python are left out first
    recording = read(tmp_path, space(host))
    assert picked(recording, "spans", "begin") == [(0,), (30,), (40,)]
    assert any("The 4 shortest operations" in one for one in recording.meta["problems"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"mul_1:Mul", ("op", "mul_1", "Mul")),
        (b"model/a>b.c-d:_Fused", ("op", "model/a>b.c-d", "_Fused")),
        (b"_send_x_0:_Send", ("op", "_send_x_0", "_Send")),
        (b"jit_f:XLA GPU module", ("annotation", "jit_f:XLA GPU module", "")),
        (b"Iterator::Batch::Map", ("op", "Iterator::Batch::Map", "")),
        (b"tpu::System::Execute=>Done", ("op", "tpu::System::Execute=>Done", "")),
        (b"PjitFunction(train_step)", ("op", "PjitFunction(train_step)", "")),
        (b"hipModuleLaunchKernel", ("runtime", "hipModuleLaunchKernel", "")),
        (b"cudaLaunch of old", ("op", "cudaLaunch of old", "")),
        (b"$pjit.py:1 f", ("python", "$pjit.py:1 f", "")),
        (b"forward", ("annotation", "forward", "")),
        (b"cubes", ("annotation", "cubes", "")),
        (b"history", ("annotation", "history", "")),
        (b"", ("annotation", "event", "")),
        (b"\xff", ("annotation", "\\xff", "")),
    ],
)
def test_what_names_say(name: bytes, expected: tuple[str, str, str]) -> None:
    assert named(name) == expected


@pytest.mark.parametrize("seed", range(20))
def test_nesting_is_that_of_a_stack(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count = int(chance.integers(0, 60))
    track = chance.integers(0, 3, count)
    begin = chance.integers(0, 40, count)
    end = begin + chance.integers(0, 25, count)
    found = nested(track, begin, end)
    expected: list[int] = []
    waiting: list[int] = []
    sorted_track = track[found.order]
    for row in range(count):
        if row and sorted_track[row] != sorted_track[row - 1]:
            waiting = []
        while waiting and found.end[waiting[-1]] <= found.begin[row]:
            waiting.pop()
        expected.append(waiting[-1] if waiting else -1)
        waiting.append(row)
    assert found.parent.tolist() == expected


def test_operations_that_overlap_without_end(tmp_path: Path) -> None:
    """Each begins in the one before: what looks outwards one by one would never be done."""
    host, count = Plane(), 20_000
    line = host.line("python")
    for place in range(count):
        line.event("A::B" if place % 2 else "$a.py:1 f", 10_000 * place, 15_000)
    line.alloc(10_000 * count, 0x100, 8, 8)
    recording = read(tmp_path, space(host))
    depths = picked(recording, "spans", "depth")
    assert depths == [(place // 2,) for place in range(count)]
    (stack,) = rows(recording, "stacks")
    assert stack["frames"] == [0] * 1_000


@real
@each_file
def test_every_operation_of_a_real_file_is_a_span(name: str) -> None:
    recording = xplane.read(of(name))
    made = operations(of(name))
    origin = _clock(recording, made, of(name))
    spans = [row for row in host_spans(recording) if row["device"] is None]

    types = {(one.name, one.type) for one in (named(each.name.encode()) for each in made)}

    def whole(row: dict[str, Any]) -> str:
        kind = json.loads(row["args"] or "{}").get("type")  # stats may be called so too
        return f"{row['name']}:{kind}" if (row["name"], kind) in types else str(row["name"])

    found = Counter((whole(row), row["begin"] + origin, row["end"] + origin) for row in spans)
    expected = Counter((_shown(one) or "event", one.begin, one.end) for one in made)
    calls = sum(row["kind"] == "python" for row in spans)
    assert calls == sum(one.is_call for one in made)
    twice = Counter(
        (inner.name, inner.begin, inner.end)
        for outer, inner in pairwise(sorted(made, key=lambda one: (one.line, one.begin, -one.end)))
        if inner.name.startswith("PjitFunction(")
        and (outer.line, outer.name) == (inner.line, inner.name)
        and outer.end >= inner.end
    )
    assert found == expected - twice
    assert twice.total() == {"jax_mi300_attention": 81, "tpu_4device": 109}.get(name, 0)
    steps = [(row["name"], row["begin"] + origin) for row in spans if row["kind"] == "step"]
    assert sorted(steps) == sorted((one.name, one.begin) for one in made if one.is_step)


@real
@each_file
def test_spans_of_a_real_file_are_nested(name: str) -> None:
    spans = host_spans(xplane.read(of(name)))
    by_track: dict[str, list[int]] = {}
    for row, span in enumerate(spans):
        by_track.setdefault(span["track"], []).append(row)
    for row in random.Random(1).sample(range(len(spans)), 300):
        span = spans[row]
        if span["parent"] is not None:
            outer = spans[span["parent"]]
            assert outer["track"] == span["track"]
            assert outer["begin"] <= span["begin"] < outer["end"]
        # Nothing shorter is around it: what is lies around its parent too.
        enclosing = [
            other
            for other in by_track[span["track"]]
            if spans[other]["begin"] < span["begin"] < spans[other]["end"]
        ]
        if enclosing:
            assert span["parent"] is not None
            latest = max(spans[other]["begin"] for other in enclosing)
            assert spans[span["parent"]]["begin"] >= latest
    for span in spans:
        above, outer = [], span["parent"]
        while outer is not None:
            above.append(spans[outer]["kind"])
            outer = spans[outer]["parent"]
        assert span["depth"] == above.count(span["kind"])


@real
def test_allocations_of_jax_have_the_calls_around_them_as_stacks() -> None:
    path = of("jax_mi300_attention")
    recording, made = xplane.read(path), operations(path)
    events = walk(path)["GPU_0_bfc"]
    frames, stacks = rows(recording, "frames"), rows(recording, "stacks")
    names = [line.name for plane in planes(path) for line in plane.lines if b"CPU" in plane.name]
    found, (device,) = 0, [each for each in recording.devices if each.key == "GPU_0_bfc"]
    written = recording.rows("events", device)
    for event, row in zip(events, rows(recording, "events")[written], strict=True):
        calls = [one for one in around(made, event.line, event.time_ps // 1000) if one.is_call]
        expected = [_shown(one) for one in reversed(calls)]
        chosen = [] if row["stack"] is None else stacks[row["stack"]]["frames"]
        assert [_written(frames[frame]) for frame in chosen] == expected
        if chosen:
            assert names[event.line] == b"python"
        found += bool(chosen)
    assert found == 228


def _shown(call: Operation) -> str:
    return call.name.removeprefix("$")


def _written(frame: dict[str, Any]) -> str:
    place = f"{frame['file']}:{frame['line']} " if frame["file"] else ""
    return f"{place}{frame['function']}"


@real
@each_file
def test_operators_of_allocations_are_what_runs_around_them(name: str) -> None:
    recording, made = xplane.read(of(name)), operations(of(name))
    labels = {(row["device"], row["event"]): row for row in rows(recording, "labels")}
    chance, seen = random.Random(2), Counter[str]()
    for device in recording.devices:
        events = walk(of(name))[device.key]
        for place in chance.sample(range(len(events)), min(len(events), 150)):
            event = events[place]
            if not event.born:
                continue
            running = [
                one.name
                for one in around(made, event.line, event.time_ps // 1000)
                if (":" in one.name and named(one.name.encode()).type)
                or one.name.startswith("PjitFunction(")
            ]
            inner = named(running[-1].encode()).name if running else None
            expected = str(event.stats.get("tf_op") or "") or inner
            assert labels[(device.index, place)]["op"] == expected
            seen["said" if event.stats.get("tf_op") else "around" if running else "none"] += 1
    assert sum(seen.values()) > 10, seen


def _clock(recording: Recording, made: list[Operation], path: Path) -> int:
    """What times of the recording count from, on the file's own clock."""
    del made
    (first, *_) = [row for row in rows(recording, "events") if row["device"] == 0]
    events = walk(path)[recording.devices[0].key]
    return events[0].time_ps // 1000 - int(first["time"])
