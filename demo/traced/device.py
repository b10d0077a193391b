"""What the GPU was asked to do, and when it did that: by rule, from what the CPU did itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from .kernels import kernel_of
from .program import Program, Span

#: Streams by number, as CUPTI counts them.
COMPUTE, COPIES = 7, 20
#: ns from a call of the runtime to when the GPU begins, at the earliest, and between two pieces.
LATENCY, BETWEEN = 4_000, 500
#: The shortest kernel, and the longest call, in ns.
SHORTEST, CALL = 1_200, 5_000
#: What batches are made by: on the CPU, so that they are copied.
MADE_ON_CPU = "batch"
#: Bytes that are copied in a ns.
WIDTH = 12
#: Numbers that the runtime's calls have in CUPTI.
CALLS = {"cudaLaunchKernel": 211, "cudaMemcpyAsync": 41, "cudaMemsetAsync": 51}

_THREADS = 512  # of a block


@dataclass(frozen=True)
class Work:
    """A call of the runtime inside of an operator, and what the GPU did for it; times in ns.

    ``args`` are what the profiler says of the latter beside where it ran.
    """

    operator: Span
    call: str
    called: int
    returned: int
    category: str
    name: str
    stream: int
    begin: int
    end: int
    args: dict[str, Any]


@dataclass(frozen=True)
class _Asked:
    operator: Span
    call: str
    category: str
    name: str
    stream: int
    args: dict[str, Any]
    length: int | None  # None: what the CPU took decides


def work(program: Program) -> list[Work]:
    """All of it, in the order in which it was launched.

    A stream does one thing after the other. What is computed waits for what was copied before.
    """
    gaps = _gaps(program)
    asked = sorted(
        ((*gaps[each.operator.row], each) for each in _asked(program)), key=lambda each: each[0]
    )
    free = {COMPUTE: 0, COPIES: 0}
    found = []
    for begin, end, each in asked:
        called = begin + (end - begin) // 8
        returned = called + min(CALL, max((end - begin) // 2, 1))
        busy = free[COPIES] if each.stream == COPIES else max(free.values())
        start = max(called + LATENCY, busy + BETWEEN)
        room = each.operator.end - returned
        length = max(room * 3 // 4, SHORTEST) if each.length is None else each.length
        free[each.stream] = start + length
        found.append(
            Work(
                each.operator,
                each.call,
                called,
                returned,
                each.category,
                each.name,
                each.stream,
                start,
                start + length,
                each.args,
            )
        )
    return found


def _gaps(program: Program) -> dict[int, tuple[int, int]]:
    """The longest time, by operator, in which it is in no other that it called."""
    done: dict[int, int] = {}
    longest: dict[int, tuple[int, int]] = {}
    operators = [span for span in program.spans.values() if span.kind == "op"]
    for span in operators:
        done[span.row] = span.begin
        longest[span.row] = (span.begin, span.begin)
        if span.parent in done:
            _gap(longest, span.parent, done[span.parent], span.begin)
            done[span.parent] = span.end
    for span in operators:
        _gap(longest, span.row, done[span.row], span.end)
    return longest


def _gap(longest: dict[int, tuple[int, int]], row: int, begin: int, end: int) -> None:
    if end - begin > longest[row][1] - longest[row][0]:
        longest[row] = begin, end


def _asked(program: Program) -> Iterator[_Asked]:
    copied = {
        row
        for row, stack in program.stacks.items()
        if any(function == MADE_ON_CPU for function, _, _ in stack)
    }
    # Launched by what is inside: an operator is only asked for what nothing in it computes.
    inner = {
        span.parent
        for span in program.spans.values()
        if span.kind == "op" and span.name == "aten::fill_"
    }
    for span in program.spans.values():
        if span.kind != "op":
            continue
        if span.outermost in copied:
            if span.row == span.outermost and (sizes := program.made.get(span.row)):
                yield _copy(span, "HtoD (Pinned -> Device)", sizes[-1], COPIES)
        elif span.name == "aten::_local_scalar_dense" and not _on_cpu(program, span):
            yield _copy(span, "DtoH (Device -> Pageable)", 4, COMPUTE)
        elif span.name == "aten::zero_" and span.row not in inner:
            yield _Asked(
                span, "cudaMemsetAsync", "gpu_memset", "Memset (Device)", COMPUTE, {}, SHORTEST
            )
        elif (kernel := kernel_of(span.name)) and not _on_cpu(program, span):
            yield _Asked(
                span, "cudaLaunchKernel", "kernel", kernel, COMPUTE, _shape(program, span), None
            )


def _copy(span: Span, way: str, size: int, stream: int) -> _Asked:
    length = SHORTEST + size // WIDTH
    args = {"bytes": size, "memory bandwidth (GB/s)": size / length}
    return _Asked(span, "cudaMemcpyAsync", "gpu_memcpy", f"Memcpy {way}", stream, args, length)


def _on_cpu(program: Program, span: Span) -> bool:
    """Whether it is about numbers that stay on the CPU: Adam's count of steps, and constants."""
    around = program.spans[span.outermost]
    parent = program.spans[span.parent] if span.parent is not None else None
    if parent is not None and (parent.kind, parent.name) == ("op", "aten::_to_copy"):
        return True
    is_number = around.name == "aten::item" or (around.shapes or [None])[0] == []
    return is_number and program.inside(span, "Optimizer.step")


def _shape(program: Program, span: Span) -> dict[str, Any]:
    """How many threads a kernel has, where the shapes of what it is given are recorded."""
    around = program.spans[span.outermost]
    if not around.shapes or not around.shapes[0]:
        return {}
    blocks = -(-prod(around.shapes[0]) // _THREADS)
    return {"grid": [blocks, 1, 1], "block": [_THREADS, 1, 1]}
