"""What is planned, in the smallest modules that show one thing each: traces and allocations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.hlo import Module, heap, shape
from tests.formats.hlo_reading import compiler_peak, curve, lives, plan, problems, read, rows


def test_a_heap_of_its_own_order(tmp_path: Path) -> None:
    recording = read(tmp_path, heap([8, 16, 4], "+1@i1 +2@i2 -1@i2 +3@i3 -2@i3 -3"))
    assert curve(recording) == [8, 24, 16, 20, 4, 0]
    found = plan(recording)
    assert (found["peak"], found["peak_event"], found["total"]) == (24, 1, 28)
    assert (found["fragmentation"], found["temporary"], found["indefinite"]) == (4, 28, 0)
    assert lives(recording) == [(1, 0, 2, 8, True), (2, 1, 4, 16, True), (3, 3, 5, 4, True)]
    assert rows(recording, "buffer_lives", "offset") == [0, 8, 24]
    names = rows(recording, "instructions", "name")
    at = rows(recording, "plan_events", "instruction")
    assert [None if row is None else names[row] for row in at] == [
        "i1",
        "i2",
        "i2",
        *("i3",) * 2,
        None,
    ]
    assert (compiler_peak(recording), problems(recording)) == (24, [])


@pytest.mark.parametrize(
    ("words", "expected", "holds", "shares"),
    [
        # A chain: the memory of the first stays until nobody has a part in it.
        ("+1 2=1 3=2 -1 -2 -3", [8, 8, 8, 8, 8, 0], [(1, 0, 5)], [(2, 1, 4), (3, 2, 5)]),
        ("+1 2=1 -2 -1", [8, 8, 8, 0], [(1, 0, 3)], [(2, 1, 2)]),
        # What is shared after it was freed is taken again.
        ("+1 -1 2=1 -2", [8, 0, 8, 0], [(1, 0, 1), (2, 2, 3)], []),
        ("+1 2=1 -1 -2 3=1 -3", [8, 8, 8, 0, 8, 0], [(1, 0, 3), (3, 4, 5)], [(2, 1, 3)]),
        ("+1 -1 +1 -1", [8, 0, 8, 0], [(1, 0, 1), (1, 2, 3)], []),
        ("+1 2=1", [8, 8], [(1, 0, None)], [(2, 1, None)]),
        ("+1 2=1 -1", [8, 8, 8], [(1, 0, None)], [(2, 1, None)]),
        ("2=1 -2", [8, 0], [(2, 0, 1)], []),
    ],
)
def test_sharing(
    tmp_path: Path,
    words: str,
    expected: list[int],
    holds: list[tuple[int, int, int]],
    shares: list[tuple[int, int, int]],
) -> None:
    recording = read(tmp_path, heap([8, 16, 32], words))
    assert curve(recording) == expected
    found = lives(recording)
    assert [life[:3] for life in found if life[4]] == holds
    assert [life[:3] for life in found if not life[4]] == shares
    assert {life[3] for life in found} == {8}  # it is the memory of the first
    # Each where it is assigned: those that are larger, where the memory is that they share.
    assert {*rows(recording, "buffer_lives", "offset")} == {0}
    assert (compiler_peak(recording), problems(recording)) == (8, [])


def test_what_was_freed_shares_no_more_by_the_compiler(tmp_path: Path) -> None:
    # XProf still knows of whom the second had its memory, the compiler takes it for its own.
    recording = read(tmp_path, heap([8, 16, 32], "+1 2=1 -1 -2 3=2 -3"))
    assert curve(recording) == [8, 8, 8, 0, 8, 0]
    assert compiler_peak(recording) == 16


@pytest.mark.parametrize(
    ("words", "expected", "problem", "peak"),
    [
        ("+1 -1 -1 +2 -2", [8, 0, 0, 16, 0], "buffer 1 is freed while not alive", 16),
        ("-2 +1", [0, 8], "buffer 2 is freed while not alive", 8),
        ("+1 +1 -1", [8, 8, 0], "buffer 1 is allocated while alive", 8),
        ("+1 2=1 2=1 -2 -1", [8, 8, 8, 8, 0], "buffer 2 is allocated while alive", 8),
        ("1=1 -1", [8, 0], "buffer 1 is shared with what is not in the module", 8),
        ("2=9 -2", [16, 0], "buffer 2 is shared with what is not in the module", 16),
    ],
)
def test_what_makes_no_sense_changes_nothing_and_is_told(
    tmp_path: Path, words: str, expected: list[int], problem: str, peak: int
) -> None:
    recording = read(tmp_path, heap([8, 16], words))
    assert curve(recording) == expected
    (said,) = problems(recording)
    assert said.startswith(f"In the heap of memory space 0, {problem}")
    assert compiler_peak(recording) == peak


def test_many_faults_are_counted(tmp_path: Path) -> None:
    recording = read(tmp_path, heap([8] * 5, "-1 -2 -3 -4 -5"))
    (said,) = problems(recording)
    assert "buffer 1, 2, 3 and 2 more is freed while not alive" in said


def test_events_of_what_is_not_there_are_left_out(tmp_path: Path) -> None:
    recording = read(tmp_path, heap([8], "+1 +77 -78 -78 +79 +80 -1"))
    assert curve(recording) == [8, 0]
    (said,) = problems(recording)
    assert said.startswith("5 events of its heap traces are left out")
    assert "(77, 78, 79 …)" in said


def two_allocations(first: str, second: str) -> Module:
    """Buffers 1 and 2 in one temporary allocation, 3 and 4 in another, of sizes 1, 2, 4 and 8."""
    made = Module()
    for place, size in enumerate((1, 2, 4, 8), 1):
        made.instruction(f"i{place}", shape("pred", size))
        made.buffer(f"i{place}", size)
    made.allocation(3, {1: 0, 2: 1})
    made.allocation(12, {3: 0, 4: 4})
    made.trace(first, of=0)
    return made.trace(second, of=1) if second else made


def test_traces_of_a_space_are_one_in_the_order_of_the_program(tmp_path: Path) -> None:
    made = two_allocations("+1@i1 -1@i4", "+3@i2 -3@i3")
    recording = read(tmp_path, made)
    assert curve(recording) == [1, 5, 1, 0]
    assert plan(recording)["peak"] == 5
    assert compiler_peak(recording) == 4  # one trace after the other
    assert rows(recording, "buffer_lives", "offset") == [0, 3]
    assert problems(recording) == []


def test_what_one_instruction_asks_for_comes_before_what_it_lets_go(tmp_path: Path) -> None:
    made = two_allocations("+1@i1 -1@i2 +2@i2 -2@i4", "+3@i2 -3@i3")
    # Of one trace nothing changes places.
    assert curve(read(tmp_path, made)) == [1, 5, 4, 6, 2, 0]


def test_traces_that_cannot_be_placed_stay_one_after_another(tmp_path: Path) -> None:
    made = two_allocations("+1@i2 -1@i4", "+3 -3")
    assert curve(read(tmp_path, made)) == [1, 0, 4, 0]


def test_the_same_trace_of_several_allocations_is_counted_once(tmp_path: Path) -> None:
    words = "+1@i1 +3@i2 -1@i3 -3@i4"
    recording = read(tmp_path, two_allocations(words, words))
    assert curve(recording) == [1, 5, 4, 0]
    assert plan(recording)["fragmentation"] == 15 - 5
    assert compiler_peak(recording) == 5
    (said,) = problems(recording)
    assert said == "Heap trace 0 is of 2 allocations: they are shown together."


def test_a_temporary_allocation_without_a_trace_is_held_all_the_time(tmp_path: Path) -> None:
    recording = read(tmp_path, two_allocations("+1 -1", ""))
    assert curve(recording) == [13, 12]
    found = plan(recording)
    assert (found["untraced"], found["indefinite"], found["peak"]) == (12, 0, 13)
    assert compiler_peak(recording) == 1  # the compiler does not see it
    (said,) = problems(recording)
    assert said.startswith("Temporary allocation 1 has no heap trace: its 12 bytes")


def held() -> Module:
    """One allocation of every kind, of sizes that are powers of two, and two of more than one."""
    made = Module()
    flags: list[tuple[list[str], int | None]] = [
        ([], 0),
        (["output"], None),
        (["thread-local"], None),
        (["constant"], None),
        (["output"], 1),
        (["output", "tuple"], None),
    ]
    for place, (kinds, parameter) in enumerate(flags):
        made.instruction(f"i{place}", shape("pred", 1))
        made.buffer(f"i{place}", 1 << place)
        made.allocation(1 << place, {place + 1: 0}, kinds=kinds, parameter=parameter)
    return made


def test_kinds_of_allocations(tmp_path: Path) -> None:
    made = held()
    made.allocation(64, {}, parameter=2, parameter_index=(0, 1))
    recording = read(tmp_path, made)
    found = plan(recording)
    assert rows(recording, "buffer_allocations", "kind") == [0, 1, 2, 3, 0, 1, 0]
    columns = ("parameter", "parameter_index")
    assert rows(recording, "buffer_allocations", *columns)[4:] == [
        (1, None),
        (None, None),
        (2, "{0,1}"),
    ]
    assert found["parameter"] == 1 + 16 + 64
    assert found["output"] == 2 + 16 + 32
    assert (found["constant"], found["thread_local"], found["aliased"]) == (8, 4, 16)
    # What is thread-local is on the stacks of threads.
    assert found["indefinite"] == found["total"] == found["peak"] == 1 + 2 + 8 + 16 + 32 + 64
    # One byte of each is not padding; of what has no buffer nothing is known.
    assert found["unpadded_peak"] == 1 + 1 + 1 + 1 + 1 + 64
    assert found["peak_event"] == found["events"] == 0
    # The compiler counts buffers, of which the last has none.
    assert compiler_peak(recording) == 1 + 2 + 8 + 16 + 32


def test_what_shares_what_is_held_all_the_time_takes_nothing_by_the_compiler(
    tmp_path: Path,
) -> None:
    made = held()
    made.instruction("add", shape("pred", 64))
    made.buffer("add", 64)
    made.allocation(64, {7: 0})
    recording = read(tmp_path, made.trace("+7@add -7@add +1 -1"))
    assert compiler_peak(recording) == 59 + 64


def test_what_has_no_size(tmp_path: Path) -> None:
    made = heap([0, 8, 0], "+1 +2 3=1 -2 -1 -3")
    made.allocation(0, {}, parameter=0)
    made.allocation(0)
    recording = read(tmp_path, made)
    assert curve(recording) == [0, 8, 8, 0, 0, 0]
    assert problems(recording) == []
    assert [life[0] for life in lives(recording)] == [1, 2, 3]


def test_spaces_have_a_plan_each(tmp_path: Path) -> None:
    made = Module()
    for place, (size, space) in enumerate(((8, 0), (4, 1), (2, 5)), 1):
        made.instruction(f"i{place}", shape("pred", size))
        made.buffer(f"i{place}", size, space=space)
        made.allocation(size, {place: 0}, space=space, parameter=0 if space == 5 else None)
    recording = read(tmp_path, made.trace("+1 +2 -2 -1", of=0))
    found = rows(recording, "plans", "space", "peak", "events")
    assert found == [(0, 8, 2), (1, 4, 2), (5, 2, 0)]
    assert rows(recording, "plan_events", "plan", "size") == [(0, 8), (0, 0), (1, 4), (1, 0)]
    assert compiler_peak(recording) == 14


def test_a_second_place_for_a_buffer_is_left_out(tmp_path: Path) -> None:
    made = heap([8, 4], "+1 +2 -1 -2")
    made.allocation(64, {1: 0, 99: 0, 2: -8}, kinds=["output"])
    recording = read(tmp_path, made)
    assert curve(recording) == [72, 76, 68, 64]
    (said,) = problems(recording)
    assert said.startswith("3 assignments of buffers are left out")
