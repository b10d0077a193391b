"""What stacks of a real recording weigh, worked out allocation by allocation in plain Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tb_memory_plugin

#: Function, file and line.
Frame = tuple[str, str, int]
#: Frames from the outermost inwards, or why there are none.
Stack = tuple[Frame, ...] | str

BEFORE, NONE = "before the window", "no stack recorded"


@dataclass(frozen=True)
class Life:
    """One allocation: alive after the events ``birth`` … ``death`` - 1, both within or beyond."""

    birth: int
    death: int
    bytes: int
    stack: Stack

    def alive(self, event: int) -> bool:
        return self.birth <= event < self.death


@dataclass(frozen=True)
class Weighed:
    """The first device of a recording, as ``tb_memory_plugin.load`` gives it."""

    lives: list[Life]
    times: list[int | None]
    stacks: list[Stack]  # by event

    @staticmethod
    def of(path: Path) -> Weighed:
        """Reads the recording at ``path``."""
        read = tb_memory_plugin.load(path)
        frames = read.table("frames").to_pylist()
        stacks = [row["frames"] for row in read.table("stacks").to_pylist()]
        events = [row for row in read.table("events").to_pylist() if row["device"] == 0]

        def stack_of(row: int | None) -> tuple[Frame, ...]:
            found = stacks[row] if row is not None else []
            return tuple(_frame(frames[frame]) for frame in reversed(found))

        names = ("device", "birth", "death", "requested", "birth_stack")
        lives = [
            Life(
                birth=-1 if row["birth"] is None else row["birth"],
                death=len(events) if row["death"] is None else row["death"],
                bytes=row["requested"],
                stack=stack_of(row["birth_stack"]) or (BEFORE if row["birth"] is None else NONE),
            )
            for row in read.table("allocations").select(names).to_pylist()
            if row["device"] == 0
        ]
        times = [event["time"] for event in events]
        return Weighed(lives, times, [stack_of(event["stack"]) or NONE for event in events])

    def allocated(self, event: int) -> int:
        return sum(life.bytes for life in self.lives if life.alive(event))

    def highest(self, first: int, stop: int) -> int:
        """The first event of a window after which the most is alive."""
        change = [0] * (len(self.times) + 1)
        for life in self.lives:
            change[max(life.birth, 0)] += life.bytes if life.death > max(life.birth, 0) else 0
            if max(life.birth, 0) < life.death < len(change):
                change[life.death] -= life.bytes
        total, best, at = 0, -1, first
        for event in range(stop):
            total += change[event]
            if event >= first and total > best:
                best, at = total, event
        return at

    def weights(self, of: str, first: int, stop: int, peak: int) -> Counter[Stack]:
        """What each stack weighs by ``of``, as docs/page.md says it, in the events of a window."""
        if of in ("alive", "highest"):
            at = peak if of == "alive" else self.highest(first, stop)
            return self._sum(lambda life: life.bytes * life.alive(at))
        if of == "lifetime":
            return self._sum(lambda life: life.bytes * self._lasted(life, first, stop))
        if of == "allocations":
            return self._sum(lambda life: int(first <= life.birth < stop))
        if of == "kept":
            return self._sum(lambda life: life.bytes * (first <= life.birth < stop <= life.death))
        return self._sum(lambda life: life.bytes * (first <= life.birth <= life.death < stop))

    def _lasted(self, life: Life, first: int, stop: int) -> int:
        begin, end = max(life.birth, first), min(life.death, stop)
        return max(self._moment(end) - self._moment(begin), 0) if begin < end else 0

    def _moment(self, event: int) -> int:
        """When an event was, the end of everything a nanosecond after the last one."""
        if self.times[0] is None:
            return event
        if event < len(self.times):
            return self.times[event] or 0
        return (self.times[-1] or 0) + 1

    def _sum(self, weigh: Callable[[Life], int]) -> Counter[Stack]:
        sums: Counter[Stack] = Counter()
        for life in self.lives:
            sums[life.stack] += weigh(life)
        return +sums


def _frame(row: dict[str, object]) -> Frame:
    line = row["line"]
    return str(row["function"] or ""), str(row["file"] or ""), line if isinstance(line, int) else 0


def said(frame: Frame) -> str:
    """A frame in the words of folded stacks."""
    function, file, line = frame
    place = f" ({file}:{line})" if file and line > 0 else f" ({file})" if file else ""
    return " ".join((f"{function or '?'}{place}").replace(";", ":").split())


def has(stack: Stack, asked: re.Pattern[str]) -> bool:
    """Whether a frame of a stack, as filters read it, matches an expression."""
    if isinstance(stack, str):
        return False
    return any(asked.search(f"{name} {file}:{line}") for name, file, line in stack)
