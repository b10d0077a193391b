"""A job goes on for long after its recording has ended: the writer must not grow with it."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tb_memory_plugin.recorder import MemoryWriter, labels
from tb_memory_plugin.recorder.program import Program
from tests.recorder.loops import read

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")


def training(memory: MemoryWriter) -> Callable[[int], None]:
    """A loop of so many steps, tracked and annotated."""
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters())
    memory.track(model, optimizer)

    def steps(count: int) -> None:
        for _ in range(count):
            with memory.annotate("forward"):
                loss = model(torch.ones(2, 4)).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            memory.step()

    return steps


def ours() -> Counter[str]:
    """Objects of the recorder's classes by class, and the elements that their fields hold."""
    gc.collect()
    found: Counter[str] = Counter()
    for each in gc.get_objects():
        kind = type(each)
        if str(kind.__module__).startswith("tb_memory_plugin.recorder"):
            found[kind.__qualname__] += 1
            for name, value in getattr(each, "__dict__", {}).items():
                if isinstance(value, (list, dict, set)):
                    found[f"{kind.__qualname__}.{name}"] += len(value)
    return found


def grown(steps: Callable[[int], None]) -> dict[str, int]:
    """What there is more of after 40 steps than after 10."""
    steps(10)
    before = ours()
    steps(40)
    return {name: count for name, count in (ours() - before).items() if count > 5}


@pytest.mark.usefixtures("every_step")
def test_nothing_grows_after_the_last_event(tmp_path: Path) -> None:
    with MemoryWriter(tmp_path, scalars=False, max_events=60) as memory:
        assert grown(training(memory)) == {}
    spans = read(memory.files[0]).rows("spans")
    assert 1 <= len([row for row in spans if row["kind"] == "step"]) <= 10


def test_nothing_grows_where_another_profiler_runs(tmp_path: Path) -> None:
    with torch.profiler.profile(), MemoryWriter(tmp_path, scalars=False) as memory:
        assert grown(training(memory)) == {}


def test_nothing_grows_where_there_is_nothing_to_record_with(tmp_path: Path) -> None:
    with MemoryWriter(tmp_path, scalars=False, engines=("allocator",)) as memory:
        assert grown(training(memory)) == {}


def test_steps_are_kept_for_as_long_as_an_engine_wants_them() -> None:
    program = Program(0)
    short, long = object(), object()
    program.end_step()
    assert program.steps == []
    program.keep(long)
    program.keep(short, 4)
    for _ in range(20):
        program.begin("forward")
        program.end_step()
    assert [step.step for step in program.steps] == list(range(1, 21))
    kept = program.release(long)
    assert [step.step for step in program.steps] == [17, 18, 19, 20]
    for _ in range(20):
        program.end_step()
    assert len(program.steps) <= 5
    assert program.steps[-1].step == 40
    assert [step.step for step in kept.steps] == list(range(1, 21))
    program.release(short)
    assert program.steps == program.annotations == []


def test_nothing_is_looked_at_while_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(labels, "_address", lambda _: looked.append(1) or 0)
    monkeypatch.setattr(labels, "_addresses", lambda found: looked.append(1) or [0] * len(found))
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters())
    tracker, sightings = labels.Tracker(), list[labels.Sighting]()

    def train() -> None:
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        tracker.look_at_gradients()
        tracker.look()

    tracker.track(model, optimizer, "")
    train()
    assert looked == []
    tracker.listen(sightings)
    train()
    assert len(sightings) == 3
    assert looked
    tracker.leave(sightings)
    looked.clear()
    train()
    assert (len(sightings), looked) == (3, [])
