"""Real traces, against a search of all their events: what encloses an allocation, and the spans."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import kineto_trace
from tb_memory_plugin.recording.recording import Recording
from tests.conftest import SHARED_DATA
from tests.fixtures.kineto import Json

TRACES = SHARED_DATA / "traces"
#: Whether a file knows modules, and how deep its stacks are at least.
NAMES = {
    "h100_bert_small.json.gz": (True, 30),
    "mi300_vit.json.gz": (True, 30),
    "mi300_sglang_graph_capture.json.gz": (True, 50),
    "v100_torch19_resnet50.pt.trace.json.gz": (False, 10),
}
OPS = ("cpu_op", "Operator")
CALLS = (*OPS, "user_annotation", "python_function")
KERNELS = ("kernel", "Kernel")
COPIES = ("gpu_memcpy", "gpu_memset", "Memcpy", "Memset")
RUNTIME = ("cuda_runtime", "cuda_driver", "Runtime")

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason="the shared real files (../shared/data) are not here"
)
each_trace = pytest.mark.parametrize("name", NAMES)
Frame = tuple[str, str, int]


@dataclass(frozen=True)
class Around:
    """The spans that an instant is in, innermost first."""

    spans: list[Json]

    def first(self, *categories: str, named: str = "", steps: bool = False) -> str | None:
        """The innermost of these categories whose name begins so; steps only where asked for."""
        for each in self.spans:
            is_step = each["name"].startswith("ProfilerStep")
            is_named = each["name"].startswith(named) and (named or steps or not is_step)
            if each["cat"] in categories and is_named:
                return str(each["name"])
        return None

    @property
    def step(self) -> int | None:
        name = self.first(*CALLS, named="ProfilerStep#")
        return None if name is None else int(name.removeprefix("ProfilerStep#"))

    @property
    def module(self) -> str | None:
        name = self.first("python_function", named="nn.Module: ")
        return None if name is None else name.removeprefix("nn.Module: ")

    @property
    def stack(self) -> list[Frame]:
        """Every span but steps, then the Python calls that the innermost operator was made in."""
        calls = (each.get("args", {}).get("Call stack", "") for each in self.spans)
        written = next(filter(None, calls), "")
        names = [each["name"] for each in self.spans]
        names = [name for name in names if not name.startswith("ProfilerStep#")]
        return [frame(each) for each in [*names, *filter(None, written.split(";"))]]


def frame(name: str) -> Frame:
    found = re.fullmatch(r"(.+)\((\d+)\): (.+)", name, re.DOTALL)
    return (found[3], found[1], int(found[2])) if found else (name, "", 0)


def track(event: Json) -> tuple[str, str]:
    return str(event["pid"]), str(event["tid"])


def ns(micros: float) -> int:
    return round(micros * 1000)


@cache
def events(name: str) -> list[Json]:
    found: list[Json] = json.loads(gzip.decompress((TRACES / name).read_bytes()))["traceEvents"]
    return found


@cache
def recording(name: str) -> Recording:
    return derive(kineto_trace.read(TRACES / name))


class Search:
    """The calls of a trace by thread, and its allocator events by device, in order."""

    def __init__(self, name: str) -> None:
        self.calls: dict[tuple[str, str], list[tuple[int, int, Json]]] = defaultdict(list)
        self.memory: dict[str, list[Json]] = defaultdict(list)
        for event in events(name):
            if event.get("cat") in CALLS and event["ph"] == "X":
                begin = ns(event["ts"])
                self.calls[track(event)].append((begin, begin + ns(event["dur"]), event))
            elif event["name"] == "[memory]":
                args = event["args"]
                self.memory[f"{args['Device Type']}:{args['Device Id']}"].append(event)
        for found in self.memory.values():
            found.sort(key=lambda each: (each["ts"], each["args"].get("Ev Idx", -1)))
        self._ends = {
            thread: np.array([each[:2] for each in found], dtype=np.int64).T
            for thread, found in self.calls.items()
        }

    def around(self, thread: tuple[str, str], time: int) -> Around:
        """What the thread was in at a time."""
        if thread not in self.calls:
            return Around([])
        begins, ends = self._ends[thread]
        found = []
        for place in np.flatnonzero((begins <= time) & (time <= ends)).tolist():
            begin, end, event = self.calls[thread][place]
            found.append((-begin, end, -place, event))
        return Around([event for *_, event in sorted(found, key=lambda each: each[:3])])


@each_trace
def test_what_encloses_an_allocation(name: str) -> None:
    search, found = Search(name), recording(name)
    keys = [each["key"] for each in found.meta["devices"]]
    frames = [(each["function"], each["file"], each["line"]) for each in rows(found, "frames")]
    stacks = [[frames[place] for place in each["frames"]] for each in rows(found, "stacks")]
    born = [each for each in rows(found, "allocations") if each["birth"] is not None]
    chosen = random.Random(name).sample(born, min(150, len(born)))
    assert len(chosen) > 100
    spans, happened = rows(found, "spans"), rows(found, "events")
    devices = [found.rows("events", each).start for each in found.devices]
    depths, modules, steps = [], 0, 0
    for life in chosen:
        event = search.memory[keys[life["device"]]][life["birth"]]
        assert event["args"]["Bytes"] == life["size"]
        around = search.around(track(event), ns(event["ts"]))
        assert life["op"] == around.first(*OPS)
        assert life["module"] == around.module
        assert stacks[life["birth_stack"]] == around.stack
        if around.step is None:  # of another thread of the same step, as autograd's
            every = [search.around(thread, ns(event["ts"])).step for thread in search.calls]
            assert {life["step"]} == {each for each in every if each is not None}
        else:
            assert life["step"] == around.step
        at = happened[devices[life["device"]] + life["birth"]]["span"]
        assert (None if at is None else spans[at]["name"]) == around.first(*CALLS, steps=True)
        depths.append(len(around.stack))
        modules += around.module is not None
        steps += around.step is not None
    has_modules, depth = NAMES[name]
    assert steps > 50 and max(depths) >= depth
    assert modules > 50 if has_modules else modules == 0


@each_trace
def test_what_encloses_a_free(name: str) -> None:
    search, found = Search(name), recording(name)
    keys = [each["key"] for each in found.meta["devices"]]
    frames = [(each["function"], each["file"], each["line"]) for each in rows(found, "frames")]
    stacks = [[frames[place] for place in each["frames"]] for each in rows(found, "stacks")]
    freed = [each for each in rows(found, "allocations") if each["death"] is not None]
    for life in random.Random(name).sample(freed, min(50, len(freed))):
        event = search.memory[keys[life["device"]]][life["death"]]
        assert event["args"]["Bytes"] == -life["size"]
        around = search.around(track(event), ns(event["ts"])).stack
        assert (stacks[life["death_stack"]] if life["death_stack"] is not None else []) == around


@each_trace
def test_spans_are_counted_by_kind(name: str) -> None:
    expected: Counter[str] = Counter()
    for event in events(name):
        category = event.get("cat", "")
        if event["ph"] != "X":
            continue
        if category in KERNELS:
            expected["kernel"] += 1
        elif category in COPIES:
            expected["copy"] += 1
        elif category in RUNTIME:
            expected["runtime"] += 1
        elif category in CALLS and event["name"].startswith("ProfilerStep#"):
            expected["step"] += 1
        elif category in OPS:
            expected["op"] += 1
        elif category == "user_annotation":
            expected["annotation"] += 1
        elif category == "python_function" and event["name"].startswith("nn.Module: "):
            expected["module"] += 1
        elif category == "python_function":
            expected["python"] += 1
    assert Counter(each["kind"] for each in rows(recording(name), "spans")) == expected
    assert expected["op"] and expected["step"] and expected["kernel"]


def rows(found: Recording, table: str) -> list[dict[str, Any]]:
    return list(found.table(table).to_pylist())
