"""An allocation beside what the program did: made, used, freed, and what ran between."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from tb_memory_plugin.views import allocation
from tests.fixtures.programs import Program, programs


def card(program: Program, birth: int) -> dict[str, Any]:
    """What is told of the allocation that the event ``birth`` made."""
    recording = program.recording()
    rows = recording.table("allocations").column("birth").to_pylist()
    return allocation.card(recording, str(rows.index(birth)))


@given(programs())
def test_allocations_know_the_spans_that_made_and_freed_them(program: Program) -> None:
    recording = program.recording()
    for row, life in enumerate(recording.table("allocations").to_pylist()):
        told = allocation.card(recording, str(row))
        for word, event in (("made_in", life["birth"]), ("freed_in", life["death"])):
            inside = [] if event is None else program.moved[event].inside
            assert (told[word] or {}).get("id") == (str(inside[-1]) if inside else None)


def step_of_training() -> Program:
    """``mm`` allocates, launches a kernel; its backward does so too; then the memory is freed."""
    program = Program()

    def span(thread: int, kind: str, name: str, begin: int, end: int) -> int:
        program.time = begin
        program.enter(thread, kind, name)
        program.time = end
        program.leave(thread)
        return len(program.spans) - 1

    program.enter(0, "op", "mm")
    program.time = 1
    program.enter(0, "op", "empty")
    program.time = 2
    program.move(0, 512, 100)
    program.time = 3
    program.leave(0)
    launch = span(0, "runtime", "launch", 4, 5)
    program.time = 6
    program.leave(0)
    kernel = span(7, "kernel", "gemm", 8, 20)
    backward = span(1, "op", "mm backward", 30, 40)
    idle = [span(2, "kernel", "relu", begin, begin + 5) for begin in (50, 60)]
    program.time = 70
    program.enter(0, "op", "del")
    program.time = 71
    program.move(0, 512, 0)
    program.leave(0)
    assert (launch, kernel, backward, idle) == (2, 3, 4, [5, 6])
    return program


def test_the_last_use_is_what_its_operator_led_to() -> None:
    program = step_of_training()
    told = card(program, 0)
    assert (told["last_use"]["span"]["name"], told["last_use"]["why"]) == ("mm", "made")
    program.links = [(2, 3, "launch")]
    told = card(program, 0)
    assert (told["last_use"]["span"]["name"], told["last_use"]["why"]) == ("gemm", "launch")
    program.links.append((0, 4, "forward_backward"))
    told = card(program, 0)
    assert told["last_use"]["span"]["name"] == "mm backward"
    assert told["last_use"]["why"] == "forward_backward"
    assert (told["between"]["begin"], told["between"]["end"]) == (40, 71)
    assert told["between"]["rows"] == [
        {"kind": "kernel", "name": "relu", "calls": 2, "time": 10},
        {"kind": "op", "name": "del", "calls": 1, "time": 1},
    ]


def test_what_is_led_to_after_the_free_is_no_use() -> None:
    program = step_of_training()
    program.time = 90
    program.enter(1, "op", "late")
    program.time = 95
    program.leave(1)
    program.links = [(0, len(program.spans) - 1, "forward_backward")]
    assert card(program, 0)["last_use"]["span"]["name"] == "mm"


def test_what_is_not_freed_has_nothing_between() -> None:
    program = Program()
    program.enter(0, "op", "mm")
    program.time = 5
    program.move(0, 512, 10)
    told = card(program, 0)
    assert told["made_in"]["name"] == "mm" and told["freed_in"] is None
    assert told["between"] is None
