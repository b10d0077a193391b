"""The demo: one run grows with every step, the other ends every step where it began."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tb_memory_plugin
from tb_memory_plugin.analysis.pairs.match import match
from tb_memory_plugin.analysis.pairs.recording import paired
from tb_memory_plugin.api import LoadedRecording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.views.segments_whole import whole
from tests.demo.small import GPU_MIB, STEPS, small_runs

pytestmark = [pytest.mark.torch, pytest.mark.once]

ONE_NUMBER = 64  # bytes: 4, rounded up as an allocator may


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_runs(tmp_path_factory)


def recording(run: Path) -> LoadedRecording:
    """The one recording of a run."""
    (path,) = run.glob("plugins/memory/*.tbmem")
    return tb_memory_plugin.load(path)


def ends_of_steps(run: LoadedRecording) -> list[int]:
    """Bytes alive when each step ends."""
    spans = run.recording.values("spans", "end")
    kinds = run.table("spans").column("kind").to_pylist()
    ends = spans[[kind == "step" for kind in kinds]]
    usage = run.recording.values("usage", "time")
    rows = np.searchsorted(usage, ends, side="right") - 1
    return [int(value) for value in run.recording.values("usage", "allocated")[rows]]


def test_the_leak_shows_and_the_cure_too(runs: Path) -> None:
    leaky, fixed = recording(runs / "leaky"), recording(runs / "fixed")
    assert list(leaky.devices) == list(fixed.devices) == ["cpu"]
    growing, level = ends_of_steps(leaky), ends_of_steps(fixed)
    assert len(growing) == len(level) == STEPS
    assert all(later > earlier for earlier, later in pairwise(growing))
    # All that stays of a step is the number its check gave.
    assert all(later - earlier <= ONE_NUMBER for earlier, later in pairwise(level[1:]))
    assert leaky.devices["cpu"].allocated_peak > fixed.devices["cpu"].allocated_peak


def test_gradients_that_stay_are_called_gradients(runs: Path) -> None:
    def gradients(name: str) -> int:
        groups = recording(runs / name).breakdown(by="category", at=f"step:{STEPS - 1}")["groups"]
        return sum(group["bytes"] for group in groups if group["key"] == "gradient")

    assert gradients("leaky") > gradients("fixed")


def test_scalars_stand_beside_the_memory(runs: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for run in ("leaky", "fixed"):
        (events,) = (runs / run).glob("events.out.tfevents.*")
        found = EventAccumulator(str(events))
        found.Reload()
        tags = found.Tags()
        assert "loss/train" in [*tags["scalars"], *tags["tensors"]]
        assert any("memory" in tag for tag in [*tags["scalars"], *tags["tensors"]])


def births(run: LoadedRecording) -> list[tuple[int, list[tuple[str, str, int]]]]:
    """Bytes and stack of everything that was allocated, in order."""
    frames = [(f["function"], f["file"], f["line"]) for f in run.table("frames").to_pylist()]
    stacks = [[frames[n] for n in ids] for ids in run.table("stacks")["frames"].to_pylist()]
    return [
        (event["size"], [] if event["stack"] is None else stacks[event["stack"]])
        for event in run.table("events").to_pylist()
        if event["action"] == Action.ALLOC
    ]


@pytest.mark.parametrize("file", ["simulated_gpu", "simulated_gpu_expandable"])
def test_the_simulated_gpu_holds_what_the_cpu_held(runs: Path, file: str) -> None:
    made = recording(runs / "fixed")
    simulated = tb_memory_plugin.load(runs / "fixed" / f"{file}.pickle")

    assert births(simulated) == births(made)
    facts, expected = simulated.devices["0"], made.devices["cpu"]
    for name in ("allocs", "frees", "blocks_before_window"):
        assert facts[name] == expected[name]
    for name in ("allocated_start", "allocated_peak", "allocated_end"):
        assert facts[name] == expected[name]
    assert facts.reserved_peak <= GPU_MIB << 20
    assert facts.oom == []
    spans = simulated.table("spans").to_pylist()
    assert [span["step"] for span in spans if span["kind"] == "step"] == list(range(STEPS))
    assert {"forward", "backward", "check"} <= {span["name"] for span in spans}


def test_the_simulated_gpu_has_a_private_pool_and_a_stream_to_wait_for(runs: Path) -> None:
    made = recording(runs / "fixed")
    simulated = tb_memory_plugin.load(runs / "fixed" / "simulated_gpu_graphed.pickle")
    assert births(simulated) == births(made)

    spans = simulated.table("spans").to_pylist()
    within = {
        name: [(each["begin"], each["end"]) for each in spans if each["name"] == name]
        for name in ("check", "data")
    }
    pools = simulated.recording.meta["pools"]
    rows = [row for row in simulated.table("allocations").to_pylist() if row["birth"] is not None]
    seen = set()
    for row in rows:
        captured, copied = (
            any(begin <= row["birth_time"] <= end for begin, end in within[name])
            for name in ("check", "data")
        )
        assert tuple(pools[row["pool"]]) == ((0, 1) if captured else (0, 0))
        assert (row["stream"] != 0) == copied
        seen.add((captured, copied))
    assert seen == {(False, False), (True, False), (False, True)}

    # A batch that is freed waits until the default stream has come so far; the others do not.
    freed = [row for row in rows if row["death"] is not None]
    waited = {row["stream"] != 0 for row in freed if row["death"] > row["free_requested"] + 1}
    assert waited == {True}
    waiting = max(freed, key=lambda row: row["death"] - row["free_requested"])
    (device,) = simulated.recording.devices
    state = whole(simulated.recording, device, f"event:{waiting['free_requested']}")
    assert state["pending"] >= waiting["size"]
    held = {pool["label"] for pool in state["pools"]}
    assert any("private pool 0,1" in label for label in held)
    assert any("stream 0x" in label for label in held)


@pytest.mark.parametrize("run", ["leaky", "fixed"])
def test_a_trace_of_the_simulated_gpu_is_a_pair_with_its_snapshot(runs: Path, run: str) -> None:
    made = tb_memory_plugin.load(runs / run / "simulated_gpu.pickle").recording
    trace = tb_memory_plugin.load(runs / run / "simulated_gpu.pt.trace.json").recording
    found = match(made, trace)
    assert found is not None
    assert found.share == (1.0, 1.0) and len(found) == len(trace.table("events"))
    both = paired(made, trace, found)
    told = both.meta["pair"]
    assert abs(told["offset_ns"] - 2_345_678_901) < 1_000_000  # and what the drift makes of it
    assert told["drift_ppm"] == pytest.approx(25, abs=1) and told["residual_ns"]["p95"] < 1_000
    kinds = both.table("spans")["kind"].to_pylist()
    assert {"op", "module", "annotation", "step"} <= set(kinds)
    steps = [span["kind"] == "step" for span in made.table("spans").to_pylist()]
    assert kinds.count("step") == sum(steps)
    other = {"leaky": "fixed", "fixed": "leaky"}[run]
    assert match(made, tb_memory_plugin.load(runs / other / trace.meta["source"]).recording) is None


@pytest.mark.parametrize("run", ["leaky", "fixed"])
def test_the_trace_has_what_a_trace_of_cuda_has(runs: Path, run: str) -> None:
    path = runs / run / "simulated_gpu.pt.trace.json"
    events = json.loads(path.read_text())["traceEvents"]
    trace = tb_memory_plugin.load(path).recording
    spans, links = trace.table("spans").to_pylist(), trace.table("links").to_pylist()
    written = Counter(each.get("cat") for each in events if each["ph"] == "X")
    kinds = Counter(span["kind"] for span in spans)
    assert kinds["kernel"] == written["kernel"] > 0
    assert kinds["copy"] == written["gpu_memcpy"] + written["gpu_memset"] > 0
    assert kinds["runtime"] == written["cuda_runtime"] == kinds["kernel"] + kinds["copy"]
    assert kinds["python"] + kinds["module"] == written["python_function"]
    assert {span["track"] for span in spans if span["kind"] in ("kernel", "copy")} == {
        "cuda:0 stream 7",
        "cuda:0 stream 20",
    }
    launched = [(spans[each["source"]], spans[each["target"]]) for each in links]
    launched = [(call, work) for call, work in launched if call["kind"] == "runtime"]
    assert len(launched) == kinds["runtime"]
    for call, work in launched:
        assert call["begin"] < work["begin"] and spans[call["parent"]]["kind"] == "op"
        assert spans[call["parent"]]["end"] >= call["end"]
    flows = sum(each["ph"] == "s" and each["cat"] == "fwdbwd" for each in events)
    assert sum(each["kind"] == "forward_backward" for each in links) == flows > 0
    threads = {name: [s for s in spans if s["track"] == name] for name in ("thread 1", "thread 2")}
    assert "forward" in {span["name"] for span in threads["thread 1"]}
    assert "AddmmBackward0" in {span["name"] for span in threads["thread 2"]}
    for track in {span["track"] for span in spans}:
        open_spans: list[int] = []
        times = [(s["begin"], -s["end"]) for s in spans if s["track"] == track]
        for begin, end in sorted(times):
            while open_spans and open_spans[-1] <= begin:
                open_spans.pop()
            assert not open_spans or -end <= open_spans[-1]  # nothing ends after what it is in
            open_spans.append(-end)


def test_the_simulated_gpu_is_too_small_for_the_leak(runs: Path) -> None:
    made = recording(runs / "leaky")
    simulated = tb_memory_plugin.load(runs / "leaky" / "simulated_gpu.pickle")

    done = births(simulated)
    assert done == births(made)[: len(done)]
    events = simulated.table("events")["action"].to_pylist()
    assert events[-1] == Action.OOM and events.count(Action.OOM) == 1
    (failure,) = simulated.devices["0"].oom
    unused = simulated.devices["0"].reserved_end - simulated.devices["0"].allocated_end
    assert failure["device_free"] < failure["requested"] < unused  # fragmentation
    further = tb_memory_plugin.load(runs / "leaky" / "simulated_gpu_expandable.pickle")
    assert births(further) == births(made)[: len(births(further))]
    mapped = further.table("events")["action"].to_pylist().count(Action.SEGMENT_MAP)
    assert mapped > 0 and not events.count(Action.SEGMENT_MAP)
    open_spans = [span for span in simulated.table("spans").to_pylist() if span["end"] is None]
    assert open_spans
