"""Births and deaths against tensors of sizes nobody else uses, made and let go at known points."""

from __future__ import annotations

import gc
import itertools
import time
from pathlib import Path

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tests.recorder.conftest import Said
from tests.recorder.loops import Recorded, Row, record

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")

#: Sizes in bytes, odd, so that no operator's own memory has one of them.
SIZES = itertools.count(100_003, 2)


def made(size: int) -> object:
    """A tensor of ``size`` bytes."""
    return torch.empty(size, dtype=torch.uint8)


def life(recorded: Recorded, size: int) -> Row:
    """The one life of ``size`` bytes."""
    (found,) = [row for row in recorded.lives if row["size"] == size]
    return found


def span(recorded: Recorded, name: str) -> tuple[int, int]:
    (found,) = [row for row in recorded.rows("spans") if row["name"] == name]
    return found["begin"], found["end"]


def test_births_and_deaths_stand_where_the_program_made_them(tmp_path: Path, said: Said) -> None:
    first, second, third = (next(SIZES) for _ in range(3))

    def program(memory: MemoryWriter) -> None:
        with memory.annotate("makes first"):
            one = made(first)
        with memory.annotate("makes second"):
            two = made(second)
        with memory.annotate("drops first"):
            del one
        with memory.annotate("makes third"):
            three = made(third)
        with memory.annotate("drops third"):
            del three
        memory.step()
        del two

    recorded = record(tmp_path, program)
    for size, birth, death in (
        (first, "makes first", "drops first"),
        (third, "makes third", "drops third"),
    ):
        row = life(recorded, size)
        begin, end = span(recorded, birth)
        assert begin <= row["birth_time"] <= end
        begin, end = span(recorded, death)
        assert begin <= row["death_time"] <= end
        assert row["annotation"] == birth
        assert row["step"] == 0
    begin, end = span(recorded, "makes second")
    assert begin <= life(recorded, second)["birth_time"] <= end
    assert life(recorded, second)["death_time"] > span(recorded, "step 0")[1]
    births = [life(recorded, size)["birth"] for size in (first, second, third)]
    assert births == sorted(births)
    assert life(recorded, first)["death"] < life(recorded, third)["birth"]
    assert said() == []
    assert recorded.recording.meta["problems"] == []


def test_every_byte_of_a_known_history_is_counted(tmp_path: Path, every_step: None) -> None:
    """Known tensors are made and dropped in a scrambled order over many chunks."""
    sizes = [next(SIZES) for _ in range(60)]
    kept: dict[int, object] = {}
    balance, expected = 0, []

    def program(memory: MemoryWriter) -> None:
        nonlocal balance
        for number, size in enumerate(sizes):
            kept[size] = made(size)
            balance += size
            expected.append(balance)
            if number % 3 == 2:
                gone = sizes[number * 7 % (number + 1)]
                if kept.pop(gone, None) is not None:
                    balance -= gone
                    expected.append(balance)
            if number % 5 == 4:
                memory.step()

    recorded = record(tmp_path, program)
    ours = {row["size"]: row for row in recorded.lives if row["size"] in set(sizes)}
    assert sorted(ours) == sorted(sizes)
    assert {size for size, row in ours.items() if row["death"] is None} == set(kept)
    usage = {row["event"]: row["allocated"] for row in recorded.rows("usage")}
    assert usage[max(usage)] == sum(kept) == balance
    assert [usage[event] for event in sorted(usage)] == [0, *expected]
    blocks = {row["size"] for row in recorded.rows("blocks")}
    assert blocks == set(kept)
    times = recorded.recording.table("events").column("time").to_pylist()
    assert times == sorted(times)
    assert recorded.recording.meta["problems"] == []


def test_a_life_goes_on_through_many_chunks(tmp_path: Path, every_step: None) -> None:
    size = next(SIZES)

    def program(memory: MemoryWriter) -> None:
        kept = None
        for number in range(8):
            if number == 2:
                kept = made(size)
            if number == 6:
                del kept
                kept = None
            memory.step()

    row = life(record(tmp_path, program), size)
    assert row["step"] == 2
    recorded_step = row["death_time"]
    assert row["birth_time"] < recorded_step


def test_stacks_have_the_lines_that_called(tmp_path: Path) -> None:
    size = next(SIZES)
    lines = {}

    def inner() -> object:
        lines["inner"] = made.__code__.co_firstlineno + 2
        return made(size)

    def program(memory: MemoryWriter) -> None:
        memory.step()
        lines["program"] = program.__code__.co_firstlineno + 3
        kept = inner()
        memory.step()
        del kept

    recorded = record(tmp_path, program)
    row = life(recorded, size)
    frames = recorded.frames(row["birth_stack"])
    assert [frame[0] for frame in frames[:3]] == ["made", "inner", "program"]
    assert frames[0][2] == lines["inner"]
    assert frames[2][2] == lines["program"]
    assert all(Path(frame[1]).name == Path(__file__).name for frame in frames[:3])
    assert row["op"] == "aten::empty"


def test_without_stacks_lives_are_the_same(tmp_path: Path) -> None:
    size = next(SIZES)

    def program(memory: MemoryWriter) -> None:
        kept = made(size)
        memory.step()
        del kept

    recorded = record(tmp_path, program, stacks=False)
    row = life(recorded, size)
    assert row["birth_stack"] is None
    assert row["death"] is not None
    assert any("stacks" in entry["what"] for entry in recorded.recording.meta["missing"])


def test_the_collector_frees_nothing_in_the_gap(tmp_path: Path, every_step: None) -> None:
    """Tensors in reference cycles die when Python collects: never while nobody watches."""
    sizes = [next(SIZES) for _ in range(30)]

    def program(memory: MemoryWriter) -> None:
        for size in sizes:
            cycle: list[object] = [made(size)]
            cycle.append(cycle)
            del cycle
            memory.step()
        gc.collect()
        memory.step()

    threshold = gc.get_threshold()
    gc.set_threshold(20, 2, 2)
    try:
        recorded = record(tmp_path, program)
    finally:
        gc.set_threshold(*threshold)
    assert gc.isenabled()
    assert all(life(recorded, size)["death"] is not None for size in sizes)


def test_time_in_the_recorder_is_in_no_step(tmp_path: Path, every_step: None) -> None:
    def program(memory: MemoryWriter) -> None:
        for _ in range(4):
            made(next(SIZES))
            time.sleep(0.002)
            memory.step()

    steps = [row for row in record(tmp_path, program).rows("spans") if row["kind"] == "step"]
    assert [row["step"] for row in steps] == [0, 1, 2, 3]
    assert all(row["end"] - row["begin"] >= 2_000_000 for row in steps)
    for one, other in itertools.pairwise(steps):
        assert one["end"] < other["begin"]


def test_steps_can_be_numbered(tmp_path: Path) -> None:
    size = next(SIZES)

    def program(memory: MemoryWriter) -> None:
        memory.step(100)
        kept = made(size)
        memory.step()
        del kept

    recorded = record(tmp_path, program)
    assert life(recorded, size)["step"] == 101


def test_annotations_nest_and_never_overlap(tmp_path: Path, every_step: None) -> None:
    """The program's own and those of torch, over the bounds of chunks."""

    def program(memory: MemoryWriter) -> None:
        with memory.annotate("epoch"):
            for _ in range(3):
                outer, theirs = memory.annotate("outer"), torch.profiler.record_function("torch's")
                with outer, theirs, memory.annotate("inner"):
                    made(next(SIZES))
                memory.step()
        memory.annotate("left open").__enter__()

    spans = record(tmp_path, program).rows("spans")
    found = [row for row in spans if row["kind"] == "annotation"]
    depths = {(row["name"], row["depth"]) for row in found}
    assert depths == {("epoch", 0), ("outer", 1), ("torch's", 2), ("inner", 3), ("left open", 0)}
    assert sum(row["name"] == "outer" for row in found) == 3
    (unfinished,) = [row for row in found if row["end"] is None]
    assert unfinished["name"] == "left open"


def test_blocks_of_the_time_between_two_writers_are_not_guessed(tmp_path: Path) -> None:
    """Torch remembers what it profiled in the first and never saw freed."""
    sizes = [next(SIZES) for _ in range(50)]
    kept: list[object] = []

    def makes(_: MemoryWriter) -> None:
        kept.extend(made(size) for size in sizes)

    def drops(_: MemoryWriter) -> None:
        made(next(SIZES))
        kept.clear()

    record(tmp_path, makes)
    kept.clear()
    kept.extend(made(size - 1) for size in sizes)  # in the same places, one byte smaller
    recorded = record(tmp_path, drops)
    assert [row for row in recorded.lives if row["birth"] is None] == []
    assert recorded.rows("usage")[0]["allocated"] == 0
    assert recorded.recording.meta["problems"] == []
