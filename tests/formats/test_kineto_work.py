"""What profiler traces say of devices: calls, kernels and copies, their tracks and arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tb_memory_plugin.readers import kineto_args, kineto_trace
from tb_memory_plugin.readers.kineto_args import BETWEEN, Arguments
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.kineto import Json, memory, span


def read(tmp_path: Path, *events: Json) -> Recording:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return kineto_trace.read(path)


def spans(found: Recording) -> list[Json]:
    rows: list[Json] = found.table("spans").to_pylist()
    return rows


def on_device(device: int, stream: int, **more: Any) -> Json:
    args = {"device": device, "stream": stream}
    return span("k", 5, 1, "kernel", pid=device, tid=stream, args=args, **more)


def test_calls_kernels_and_copies_on_their_tracks(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        memory(1, 8, 16),
        span("aten::add", 1, 9),
        span("cudaLaunchKernel", 2, 2, "cuda_runtime"),
        span("cuLaunchKernel", 2.5, 1, "cuda_driver"),
        span("zeCommandListAppend", 6, 1, "XPU_Runtime", tid=3),
        span("k", 3, 1, "kernel", pid=0, tid=7, args={"device": 0, "stream": 7}),
        span("Memcpy DtoH", 5, 1, "gpu_memcpy", pid=0, tid="stream 20"),
        span("Memset", 7, 1, "Memset", pid=0, tid=7),
        span("not a span", 7, 1, "gpu_user_annotation", pid=0, tid=7),
    )
    told = [(row["name"], row["kind"], row["track"], row["device"]) for row in spans(found)]
    assert told == [
        ("aten::add", "op", "thread 2", None),
        ("cudaLaunchKernel", "runtime", "thread 2", None),
        ("cuLaunchKernel", "runtime", "thread 2", None),
        ("zeCommandListAppend", "runtime", "thread 3", None),
        ("k", "kernel", "cuda:0 stream 7", 0),
        ("Memset", "copy", "cuda:0 stream 7", 0),
        ("Memcpy DtoH", "copy", "device 0 stream 20", None),
    ]
    nested = [(row["depth"], row["parent"]) for row in spans(found)]
    assert nested[:4] == [(0, None), (0, 0), (1, 1), (0, None)]


def test_a_stream_with_the_number_of_a_thread_is_another_track(tmp_path: Path) -> None:
    call = span("a.py(1): f", 0, 90, "python_function", pid=0, tid=0)
    found = read(tmp_path, memory(1, 8, 16, pid=0, tid=0), call, on_device(0, 0))
    assert [(row["track"], row["parent"]) for row in spans(found)] == [
        ("thread 0", None),
        ("cuda:0 stream 0", None),
    ]


@pytest.mark.parametrize(
    ("type", "allocators", "kernels", "named"),
    [
        (1, [1], [1], {1: "cuda:1"}),
        (1, [0, 1], [1], {1: "cuda:1"}),
        (6, [0], [9], {9: "hip:0"}),
        (6, [2, 3], [2, 3], {2: "hip:2", 3: "hip:3"}),
        (6, [0, 1, 2, 3], [2, 3, 4, 5], {number: f"device {number}" for number in range(2, 6)}),
        (6, [0, 1, 2], [2], {2: "device 2"}),
    ],
)
def test_which_device_a_stream_is_of(
    tmp_path: Path, type: int, allocators: list[int], kernels: list[int], named: dict[int, str]
) -> None:
    happened = [
        memory(1, 8, 16, args={"Device Type": type, "Device Id": each}) for each in allocators
    ]
    other = memory(1, 8, 16, args={"Device Type": 0, "Device Id": -1})
    found = read(tmp_path, other, *happened, *(on_device(each, 7) for each in kernels))
    names = [each["name"] for each in found.meta["devices"]]
    for row, number in zip(spans(found), kernels, strict=True):
        assert row["track"] == f"{named[number]} stream 7"
        assert (names[row["device"]] if row["device"] is not None else None) == (
            None if "device" in named[number] else named[number]
        )


def test_threads_are_named_with_their_process_where_there_are_several(tmp_path: Path) -> None:
    one = read(tmp_path, memory(1, 8, 16), span("a", 1, 1), span("b", 1, 1, tid=3))
    assert [row["track"] for row in spans(one)] == ["thread 2", "thread 3"]
    two = read(tmp_path, memory(1, 8, 16), span("a", 1, 1), span("b", 1, 1, pid=3, tid=3))
    assert [row["track"] for row in spans(two)] == ["process 1 thread 2", "thread 3"]


def test_an_allocation_is_in_the_call_that_it_happened_in_and_its_stack_is_not(
    tmp_path: Path,
) -> None:
    found = read(
        tmp_path,
        span("aten::empty", 1, 9),
        span("cudaMalloc", 2, 3, "cuda_runtime"),
        memory(3, 8, 16),
        memory(5, 8, 32),  # when the call ends
        memory(6, 8, 48),
        memory(20, 8, 64),
    )
    names = [row["name"] for row in spans(found)]
    events = found.table("events").to_pylist()
    assert [None if row["span"] is None else names[row["span"]] for row in events] == [
        "cudaMalloc",
        "aten::empty",
        "aten::empty",
        None,
    ]
    assert len({row["stack"] for row in events[:3]}) == 1
    assert found.table("frames").column("function").to_pylist() == ["aten::empty"]


def test_calls_that_rounding_makes_longer_are_around_nothing(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        memory(15, 8, 16),
        span("aten::mul", 10, 4),
        span("cudaLaunchKernel", 12, 3, "cuda_runtime"),
        span("aten::add", 14, 4),
        span("cudaLaunchKernel", 15, 2, "cuda_runtime"),
    )
    told = spans(found)
    around = [None if row["parent"] is None else told[row["parent"]]["name"] for row in told]
    assert around == [None, None, "aten::mul", "aten::add"]
    assert told[found.table("events").column("span")[0].as_py()]["name"] == "cudaLaunchKernel"


def test_arguments_are_kept_without_ids(tmp_path: Path) -> None:
    calls = "a.py(1): f"
    op = {
        "External id": 5,
        "Input Dims": [[2, 3], []],
        "Call stack": calls,
        "Concrete Inputs": ["", '"Ev Idx": 4, \\"'],
        "Sequence number": 9,
        "finished": True,
        "memory bandwidth (GB/s)": 1.5e-3,
        "Ev Idx": 7,
    }
    kernel = {"correlation": 3, "grid": [1, 2, 3], "device": 0, "stream": 7, "queued": 0}
    found = read(
        tmp_path,
        memory(1, 8, 16),
        span("a", 1, 1, args=op),
        span("a", 3, 1, args={**op, "Ev Idx": 8, "External id": 6}),
        span("b", 5, 1, args={"Ev Idx": 8}),
        span("c", 6, 1, args=[1]),
        span("d", 7, 1, "user_annotation", args={"bytes": 0, "what": "", "in": None}),
        span(calls, 8, 1, "python_function", args={"Python id": 5, "other": 1}),
        span("k", 9, 1, "kernel", pid=0, tid=7, args=kernel),
    )
    said = [None if row["args"] is None else json.loads(row["args"]) for row in spans(found)]
    kept = {key: op[key] for key in ("Input Dims", "Concrete Inputs", "Sequence number")}
    shown = {"grid": [1, 2, 3], "device": 0, "stream": 7}
    assert said == [kept, kept, None, None, {"bytes": 0}, None, shown]
    assert spans(found)[0]["args"].startswith('{"Input Dims":[[2,3],[]],')
    (stack,) = {row["args"] for row in spans(found)[:2]}
    assert found.table("spans").column("args").chunk(0).dictionary.to_pylist().count(stack) == 1


def codes(arguments: Arguments, *said: Any) -> list[int]:
    return arguments.codes(BETWEEN.join(json.dumps(each).encode() for each in said))


def words(arguments: Arguments, found: list[int]) -> list[Any]:
    place, texts = arguments.take()
    return [json.loads(texts[place[code]]) if place[code] >= 0 else None for code in found]


def test_long_values_are_cut() -> None:
    arguments = Arguments()
    shapes = [[number, number] for number in range(1_000)]
    (found,) = words(arguments, codes(arguments, {"Input Dims": shapes, "text": "x" * 9_999}))
    *kept, rest = found["Input Dims"]
    assert kept == shapes[: len(kept)] and 20 < len(kept) < 100
    assert rest == f"… {1_000 - len(kept)} more"
    assert found["text"].startswith("xxx") and len(found["text"]) < 500
    many = {f"key {number}": "x" * 300 for number in range(100)}
    (found,) = words(arguments, codes(arguments, many))
    assert 5 < len(found) < 100 and list(found) == list(many)[: len(found)]


def test_very_many_different_arguments_are_left_out_and_counted(tmp_path: Path) -> None:
    with patch.object(kineto_args, "MOST", 30_000), patch.object(kineto_args, "SPARING", 5_000):
        arguments = Arguments()
        found = [
            codes(arguments, {"n": number % 3, "Sequence number": number})[0]
            for number in range(100)
        ]
        assert arguments.left_out == 0 and min(found) >= 0
        more = codes(arguments, *({"n": number} for number in range(1_000)))
        assert arguments.left_out == more.count(-1) > 500
        said = words(arguments, [*found, *more])
        assert [each["n"] for each in said[:100]] == [number % 3 for number in range(100)]
        assert "Sequence number" in said[0] and "Sequence number" not in said[99]
        kept = [each for each in said[100:] if each is not None]
        assert kept == [{"n": number} for number in range(len(kept))]
        args = [span("a", place, 1, args={"n": "x" * 50 + str(place)}) for place in range(300)]
        whole = read(tmp_path, memory(1, 8, 16), *args)
    missing = {each["what"]: each["why"] for each in whole.meta["missing"]}
    left = sum(row["args"] is None for row in spans(whole))
    assert f" {left} spans" in missing["arguments of spans"] and 100 < left < 300


def test_arguments_that_are_none_do_no_harm() -> None:
    arguments = Arguments()
    strange = [b"[]", b'"x"', b"{}", b"{ }", b"nothing", b'{"a": 1', b"[" * 5_000, b'{"a": "\xff"}']
    strange += [b'{"a": ' + b"9" * 400 + b"}", b'{"a": "\\ud800"}', b'{"correlation": [1]}']
    found = arguments.codes(BETWEEN.join(strange))
    assert len(found) == len(strange)
    place, texts = arguments.take()
    assert all(isinstance(json.loads(each), dict) for each in texts)
    assert place[found[0]] == place[found[3]] == -1
