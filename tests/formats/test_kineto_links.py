"""Arrows of profiler traces, and where they lead, against a search of all their events."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tb_memory_plugin.readers import kineto_meta, kineto_trace
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.kineto import Json, flow, memory, span
from tests.formats.test_kineto_real import COPIES, KERNELS, RUNTIME, TRACES, ns, rows, track

NAMES = sorted(path.name for path in TRACES.glob("*.json.gz"))

SMALL = ("h100_bert_small.json.gz", "mi300_vit.json.gz")
WITHOUT = ("correlation", "flows", "some flows")
#: What a span is known by: what it is called, when it begins and ends.
Known = tuple[str, int, int]


def known(event: Json) -> Known:
    return event["name"], ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])


def links(found: Recording) -> list[tuple[str, Known, Known]]:
    origin = found.meta["time_origin_ns"] - found.meta.get("base", 0)
    spans = [
        (each["name"], each["begin"] + origin, each["end"] + origin)
        for each in rows(found, "spans")
    ]
    return sorted(
        (each["kind"], spans[each["source"]], spans[each["target"]])
        for each in rows(found, "links")
    )


def searched(events: list[Json]) -> list[tuple[str, Known, Known]]:
    """What flow events say, and of what none says so, correlations; and sequence numbers."""
    took = [each for each in events if each["ph"] == "X"]
    at: dict[Any, list[Json]] = defaultdict(list)
    for each in took:
        if each.get("cat") in (*RUNTIME, *KERNELS, *COPIES):
            at[track(each), each["ts"]].append(each)
    starts: dict[Any, Json] = {}
    for each in events:
        if each["ph"] == "s":
            (starts[each["cat"], each["id"]],) = at[track(each), each["ts"]]
    found = {}
    for each in events:
        start = starts.get((each.get("cat"), each.get("id"))) if each["ph"] == "f" else None
        if start is not None:
            (end,) = at[track(each), each["ts"]]
            if end["cat"] not in RUNTIME:
                found[id(end)] = ("launch", known(start), known(end))
    calls = {each["args"]["correlation"]: each for each in took if each.get("cat") in RUNTIME}
    for each in took:
        if each.get("cat") in (*KERNELS, *COPIES) and id(each) not in found:
            call = calls.get(each["args"]["correlation"])
            if call is not None:
                found[id(each)] = ("launch", known(call), known(each))
    launches = [
        ("collective" if to[0].startswith(("nccl", "rccl")) else kind, source, to)
        for kind, source, to in found.values()
    ]
    return sorted(launches + numbered(took))


def numbered(took: list[Json]) -> list[tuple[str, Known, Known]]:
    """Forwards and backwards; these files have the former on one thread, and none of rounded ties.

    Of operators of a number the last to begin is the forward, the first to end the backward.
    """
    sides: list[dict[int, list[Known]]] = [defaultdict(list), defaultdict(list)]
    forwards = set()
    for each in took:
        args = each.get("args", {})
        if "Sequence number" in args:
            sides[args["Fwd thread id"] != 0][args["Sequence number"]].append(known(each))
            forwards |= {track(each)} if args["Fwd thread id"] == 0 else set()
    assert len(forwards) <= 1
    return [
        (
            "forward_backward",
            max(sides[0][number], key=lambda one: (one[1], -one[2])),
            min(back, key=lambda one: (one[2], -one[1])),
        )
        for number, back in sides[1].items()
        if number in sides[0]
    ]


@pytest.mark.skipif(not NAMES, reason="the shared real files (../shared/data) are not here")
@pytest.mark.parametrize(
    ("name", "without"), [*((name, "") for name in NAMES), *itertools.product(SMALL, WITHOUT)]
)
def test_arrows_of_a_real_trace(tmp_path: Path, name: str, without: str) -> None:
    whole = json.loads(gzip.decompress((TRACES / name).read_bytes()), strict=False)
    events = whole["traceEvents"]
    expected = searched(events)
    path = TRACES / name
    if without:
        chance = random.Random(name)
        if without == "correlation":
            for each in events:
                if each["ph"] == "X":
                    each.get("args", {}).pop("correlation", None)
        else:
            events = [
                each
                for each in events
                if each["ph"] not in "sf" or (without == "some flows" and chance.randrange(2))
            ]
        chance.shuffle(events)
        path = tmp_path / "rank0.pt.trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
    found = kineto_trace.read(path)
    base = 0 if without else whole.get("baseTimeNanoseconds", 0)
    assert links(with_base(found, base)) == expected
    assert len(expected) == len(set(expected)) > 1
    assert not any("arrows" in each for each in found.meta["problems"])


def with_base(found: Recording, base: int) -> Recording:
    return Recording({**found.meta, "base": base}, found.tables)


def read(tmp_path: Path, *events: Json) -> Recording:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": [memory(0, 8, 16), *events]}))
    return kineto_trace.read(path)


def named(found: Recording) -> list[tuple[str, str, str]]:
    return [(kind, source[0], target[0]) for kind, source, target in links(found)]


def test_forward_and_backward_are_operators_around_the_ends(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        span("train.py(1): main", 0, 100, "python_function"),
        span("aten::linear", 1, 10),
        span("aten::addmm", 2, 5),
        span("cudaLaunchKernel", 2, 1, "cuda_runtime"),
        span("AddmmBackward0", 50, 9, tid=3),
        flow("s", 7, 2, "fwdbwd"),
        flow("f", 7, 50, "fwdbwd", tid=3),
        flow("s", 8, 90, "fwdbwd"),
        flow("f", 8, 51, "fwdbwd", tid=3),
    )
    assert named(found) == [("forward_backward", "aten::addmm", "AddmmBackward0")]


def test_arrows_of_other_kinds_go_on_and_are_told_once(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        span("start", 1, 2),
        span("middle", 5, 2, tid=3),
        span("end", 9, 2, tid=4),
        flow("s", "0x1", 1, "async_io"),
        flow("t", "0x1", 5, "async_io", tid=3),
        flow("f", "0x1", 9.5, "async_io", tid=4),
        flow("f", "0x1", 10, "async_io", tid=4),
        flow("f", "0x1", 1.5, "other"),
        flow("s", [1], 1, "async_io"),
        flow("s", "0x1", None, "async_io"),
    )
    assert named(found) == [("async", "middle", "end"), ("async", "start", "middle")]


def test_an_arrow_used_again_leads_from_its_latest_beginning(tmp_path: Path) -> None:
    calls = [span(f"launch {place}", 10 * place, 2, "cuda_runtime") for place in range(9)]
    kernels = [
        span(f"kernel {place}", 10 * place + 5, 3, "kernel", pid=0, tid=7) for place in range(9)
    ]
    arrows = [flow("s", 3, 10 * place, "ac2g") for place in range(9)]
    arrows += [flow("f", 3, 10 * place + 5, "ac2g", pid=0, tid=7) for place in range(9)]
    mixed = [*calls, *kernels, *arrows]
    random.Random(3).shuffle(mixed)
    found = named(read(tmp_path, *mixed))
    assert found == [("launch", f"launch {place}", f"kernel {place}") for place in range(9)]


def test_a_device_whose_clock_is_ahead_is_launched_all_the_same(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        span("cudaLaunchKernel", 20, 2, "cuda_runtime"),
        span("kernel", 5, 3, "kernel", pid=0, tid=7),
        flow("s", 3, 20, "ac2g"),
        flow("f", 3, 5, "ac2g", pid=0, tid=7),
    )
    assert named(found) == [("launch", "cudaLaunchKernel", "kernel")]


def test_what_a_flow_says_goes_before_correlations(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        span("cudaGraphLaunch", 1, 2, "cuda_runtime", args={"correlation": 5}),
        span("cudaLaunchKernel", 4, 2, "cuda_runtime", args={"correlation": 6}),
        span("a", 8, 1, "kernel", pid=0, tid=7, args={"correlation": 5}),
        span("b", 9, 1, "kernel", pid=0, tid=7, args={"correlation": 5}),
        span("c", 10, 1, "kernel", pid=0, tid=7, args={"correlation": 5}),
        span("d", 11, 1, "kernel", pid=0, tid=7, args={"correlation": 99}),
        span("e", 12, 1, "kernel", pid=0, tid=7, args=[]),
        flow("s", 77, 4, "ac2g"),
        flow("f", 77, 9, "ac2g", pid=0, tid=7),
    )
    assert named(found) == [
        ("launch", "cudaGraphLaunch", "a"),
        ("launch", "cudaGraphLaunch", "c"),
        ("launch", "cudaLaunchKernel", "b"),
    ]


def test_launches_of_collectives_are_called_so(tmp_path: Path) -> None:
    names = [
        "ncclKernel_AllReduce",
        "ncclDevKernel_Generic(x)",
        "rcclGenericKernel",
        "gemm",
        "mine",
    ]
    said: list[Json] = [{}, {}, {}, {}, {"Collective name": "allgather"}]
    calls = [
        span(f"call {place}", place, 0.5, "cuda_runtime", args={"correlation": place + 1})
        for place in range(5)
    ]
    kernels = [
        span(name, 20 + place, 0.5, "kernel", pid=0, tid=7, args={"correlation": place + 1, **more})
        for place, (name, more) in enumerate(zip(names, said, strict=True))
    ]
    wrapper = span("nccl:all_reduce", 0, 9, "user_annotation", args={"Collective name": "x"})
    copy = span("Memcpy", 30, 1, "gpu_memcpy", pid=0, tid=7, args={"correlation": 1})
    arrows = [flow("s", 77, 1, "ac2g"), flow("f", 77, 21, "ac2g", pid=0, tid=7)]
    found = named(read(tmp_path, wrapper, *calls, *kernels, copy, *arrows))
    assert found == [
        ("collective", "call 0", names[0]),
        ("collective", "call 1", names[1]),
        ("collective", "call 2", names[2]),
        ("collective", "call 4", "mine"),
        ("launch", "call 0", "Memcpy"),
        ("launch", "call 3", "gemm"),
    ]


def test_many_arrows_to_nothing_are_told(tmp_path: Path) -> None:
    arrows = [flow("s", place, 500 + place, "ac2g") for place in range(5)]
    arrows += [flow("f", place, 500 + place, "ac2g", pid=0, tid=7) for place in range(5)]
    with patch.object(kineto_meta, "MANY", 5):
        found = read(tmp_path, *arrows)
    assert found.table("links").num_rows == 0
    said = "5 arrows of the trace lead to or from nothing that is in it."
    assert said in found.meta["problems"]
    assert said not in read(tmp_path, *arrows).meta["problems"]
