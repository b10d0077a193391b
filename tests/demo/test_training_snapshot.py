"""The long training job of the benchmarks: true to the allocator, deterministic, as promised."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks._training import LAYERS, OPERATORS, WEIGHTS, training
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.readers import torch_snapshot
from tests.demo.replaying import replay

pytestmark = pytest.mark.once

EVENTS = 60_000


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """Some steps of the job."""
    return training(EVENTS)


def test_it_is_what_the_simulated_allocator_does(made: dict[str, Any]) -> None:
    assert replay(made, 0).difference is None


def test_it_is_the_same_every_time(made: dict[str, Any]) -> None:
    again = training(EVENTS)
    assert again == made
    assert pickle.dumps(again, protocol=4) == pickle.dumps(made, protocol=4)
    assert training(3_000, seed=1) != training(3_000)


def test_it_has_as_many_events_as_asked_for_and_a_third_are_allocations(
    made: dict[str, Any],
) -> None:
    for events in (3_000, 20_000):
        trace = training(events)["device_traces"][0]
        assert events <= len(trace) <= events + 2
    actions = Counter(entry["action"] for entry in made["device_traces"][0])
    assert 0.3 < actions["alloc"] / EVENTS < 0.4


def test_its_stacks_are_many_and_deep_and_shared_as_pytorch_leaves_them(
    made: dict[str, Any],
) -> None:
    trace = made["device_traces"][0]
    stacks = {tuple(map(id, entry["frames"])) for entry in trace}
    assert len(stacks) > 500
    assert {len(stack) for stack in stacks} == {40}
    # One list a call: a free's two entries share theirs, as do a segment and what opened it.
    calls = sum(entry["action"] in ("alloc", "free_requested") for entry in trace)
    assert len({id(entry["frames"]) for entry in trace}) == calls


def test_parameters_and_state_stay_and_activations_go(made: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "training.pickle"
    path.write_bytes(pickle.dumps(made, protocol=4))
    trace = made["device_traces"][0]
    stay = 3 * LAYERS * WEIGHTS  # the weights and two of the optimizer's for each
    freed = Counter(entry["addr"] for entry in trace if entry["action"] == "free_completed")
    births = [entry for entry in trace if entry["action"] == "alloc"]
    first = {entry["addr"] for entry in births[: LAYERS * WEIGHTS]}
    assert not first & freed.keys()

    recording = derive(torch_snapshot.read(path))

    found = facts(recording)["devices"]["0"]
    assert found["allocated_start"] == found["reserved_start"] == 0
    assert found["live_blocks_end"] >= stay
    assert found["allocs"] == len(births)
    kinds = recording.table("spans").column("kind").to_pylist()
    assert kinds.count("step") == sum(
        a["stage"] == "START" and a["name"].startswith("ProfilerStep#")
        for a in made["external_annotations"]
    )
    assert LAYERS * OPERATORS > 2_000
