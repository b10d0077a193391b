"""What is derived of the compiler's plans, read: a plan's lives, and who is alive at a moment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

#: How people call memory spaces, by platform. Codes are those of XLA's layouts.
_SPACES = {
    "tpu": {
        0: "HBM",
        1: "VMEM",
        2: "sync flags",
        3: "CMEM",
        4: "SMEM",
        5: "host",
        6: "SparseCore",
        7: "SparseCore private stack",
        8: "SparseCore sync flags",
        9: "pinned HBM",
        10: "SparseCore tile sync flags",
    },
    "gpu": {0: "device memory", 1: "collective memory", 2: "temporary buffers", 5: "host"},
    "cpu": {0: "memory", 5: "host"},
}

#: Names in a sentence.
_MOST_NAMED = 10


@dataclass(frozen=True)
class Plan:
    """A row of ``plans``, with names."""

    row: int
    module: int
    module_name: str
    program_id: int
    space: int
    space_name: str
    numbers: dict[str, int]


def space_name(platform: str | None, space: int) -> str:
    """What people call a memory space: ``HBM``; ``space 3`` where that is not known."""
    known = _SPACES.get(platform or "", {0: "device memory", 5: "host"})
    return known.get(space, f"space {space}")


def module_name(recording: Recording, module: int) -> str:
    """The name of a module."""
    name = arrays.words_of(recording.table("modules"), "name", np.array([module]))[0]
    return name or "a module without a name"


def all_plans(recording: Recording) -> list[Plan]:
    """All plans, in the order of modules and spaces."""
    table = recording.table("plans")
    modules = recording.table("modules")
    names, platforms = (arrays.all_words(modules, name) for name in ("name", "platform"))
    programs = recording.values("modules", "program_id")
    found = []
    for row, numbers in enumerate(table.to_pylist()):
        module, space = numbers.pop("module"), numbers.pop("space")
        called = names[module] or "a module without a name"
        label = space_name(platforms[module], space)
        found.append(Plan(row, module, called, int(programs[module]), space, label, numbers))
    return found


def problems(recording: Recording, module: int) -> list[str]:
    """What is odd about a module."""
    told = arrays.words_of(recording.table("plan_modules"), "problems", np.array([module]))[0]
    found: list[str] = json.loads(told or "[]")
    return found


def chosen_plan(recording: Recording, module: str, space: int | None) -> Plan:
    """The plan of a module, by its name, ``name(program)`` or program id, in a memory space.

    Without ``space`` that of its highest peak. Raises QueryError, also where several modules of
    different programs are called alike.
    """
    every = all_plans(recording)
    called = [plan for plan in every if module in _called(plan)]
    found = [plan for plan in called if space is None or plan.space == space]
    if not found:
        raise QueryError(_missing(module, space, called or every))
    names = sorted({_called(plan)[1] for plan in found})
    if len(names) > 1:
        raise QueryError(f"Several modules are called {module}; choose one of {_some(names)}.")
    return max(found, key=lambda plan: plan.numbers["peak"])


def _missing(module: str, space: int | None, plans: Sequence[Plan]) -> str:
    """Why there is no plan: ``plans`` are those of the module, or all where it has none."""
    if not plans:
        return "There is no plan in it: it has no HLO module, or none after buffer assignment."
    if space is not None and any(module in _called(plan) for plan in plans):
        known = [str(each) for each in sorted({plan.space for plan in plans})]
        what = f"memory space {space} in module {module}"
    else:
        known = sorted({_called(plan)[1] for plan in plans})
        what = f"module {module}"
    return f"There is no {what} with a plan; choose one of {_some(known)}."


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")


def _called(plan: Plan) -> tuple[str, str, str]:
    program = str(plan.program_id)
    return plan.module_name, f"{plan.module_name}({program})", program


def moment(plan: Plan, at: str) -> int:
    """The event that ``at`` names: ``peak``, or its number (-1: before the first).

    Raises QueryError.
    """
    last = plan.numbers["events"] - 1
    if at == "peak":
        return min(plan.numbers["peak_event"], last)
    try:
        event = int(at)
    except ValueError:
        event = last + 1
    if not -1 <= event <= last:
        raise QueryError(
            f"{at!r} is no moment of this plan; say peak or a number from -1 to {last}."
        )
    return event


def lives(recording: Recording, plan: Plan) -> IntArray:
    """The rows of ``buffer_lives`` of a plan."""
    begin, end = np.searchsorted(recording.values("buffer_lives", "plan"), [plan.row, plan.row + 1])
    return np.arange(begin, end)


def alive(recording: Recording, plan: Plan, event: int) -> IntArray:
    """The rows of ``buffer_lives`` that hold memory after ``event``, in order of their births."""
    rows = lives(recording, plan)
    birth = recording.values("buffer_lives", "birth")[rows]
    death = recording.values("buffer_lives", "death")[rows]
    holds = arrays.truths(recording.table("buffer_lives"), "holds")[rows]
    found: IntArray = rows[holds & (birth <= event) & (death > event)]
    return found


def in_use(recording: Recording, plan: Plan, event: int) -> int:
    """The bytes in use after ``event``."""
    if event < 0:
        return plan.numbers["indefinite"] + plan.numbers["untraced"]
    first = int(np.searchsorted(recording.values("plan_events", "plan"), plan.row))
    return int(recording.values("plan_events", "size")[first + event])


def source_of(recording: Recording, stack: int) -> dict[str, Any] | None:
    """The innermost frame of a stack: ``{"file", "line", "function"}``; None without one."""
    if stack < 0:
        return None
    frames = recording.table("stacks").column("frames")[stack].as_py()
    if not frames:
        return None
    row: dict[str, Any] = recording.table("frames").slice(frames[0], 1).to_pylist()[0]
    return {"file": row["file"], "line": row["line"], "function": row["function"]}
