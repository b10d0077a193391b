"""A plan in words and numbers: the head of the page's Memory Viewer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import plan_lives
from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.plan_advice import advice
from tb_memory_plugin.analysis.plan_padding import Padded, padded
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.analysis.plan_recording import KEY
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.units import format_bytes

#: Buffers of a finding that are named, and modules without a plan.
_NAMED, _MOST_UNPLANNED = 20, 100
#: Operations that cause padding.
_CAUSES = 3
#: Columns of ``plans`` that are told as they are.
_NUMBERS = (
    *("events", "peak", "unpadded_peak", "peak_event", "total", "untraced", "fragmentation"),
    *("parameter", "output", "constant", "temporary", "aliased"),
)
_UNPLANNED = "It holds no buffer assignment: the program alone."
_EMPTY = "Its buffer assignment holds no memory."


def listed(recording: Recording) -> list[dict[str, Any]]:
    """Every plan as lists name it: key, module, program, space, peak, total."""
    planned = recording.values("plan_modules", "compiler_peak")
    return [
        {
            "key": f"{KEY}{plan.row}",
            "module": plan.module_name,
            "program": str(plan.program_id),
            "space": plan.space_name,
            "peak": plan.numbers["peak"],
            "total": plan.numbers["total"],
            "events": plan.numbers["events"],
            "compiler_peak": int(planned[plan.module]),
        }
        for plan in reading.all_plans(recording)
    ]


def unplanned(recording: Recording) -> dict[str, Any]:
    """Modules without any plan: their ``count``, and of some ``module``, ``program``, ``why``."""
    found = np.ones(len(recording.table("modules")), dtype=bool)
    found[recording.values("plans", "module")] = False
    rows = np.flatnonzero(found)
    table = recording.table("modules").select(["name", "program_id", "planned"])
    told = table.take(arrays.column(rows[:_MOST_UNPLANNED], pa.int64())).to_pylist()
    return {
        "count": len(rows),
        "modules": [
            {
                "module": each["name"] or "a module without a name",
                "program": str(each["program_id"]),
                "why": _EMPTY if each["planned"] else _UNPLANNED,
            }
            for each in told
        ],
    }


def overview(recording: Recording, plan: Plan) -> dict[str, Any]:
    """Everything about a plan that is one number or a sentence; bytes are integers."""
    ids = plan_lives.ids(recording)
    told = memo(recording, ("advice", plan.row), lambda: advice(recording, plan))
    causes = memo(recording, ("padded", plan.row), lambda: padded(recording, plan))
    module = recording.table("modules").slice(plan.module, 1).to_pylist()[0]
    others = [each for each in reading.all_plans(recording) if each.module == plan.module]
    return {
        "key": f"{KEY}{plan.row}",
        "module": plan.module_name,
        "program": str(plan.program_id),
        "space": plan.space_name,
        "platform": module["platform"],
        **{name: plan.numbers[name] for name in _NUMBERS},
        "temporary_at_peak": plan.numbers["peak"] - plan.numbers["indefinite"],
        "padded": {
            "count": sum(each.count for each in causes),
            "causes": [_cause(each, ids) for each in causes[:_CAUSES]],
        },
        "compiler_peak": int(recording.values("plan_modules", "compiler_peak")[plan.module]),
        "differs": differs(recording, plan),
        "scoped": _scoped(module) if plan.space in (0, 1) else None,
        "problems": reading.problems(recording, plan.module),
        "advice": [_named(each, ids) for each in map(asdict, told)],
        "spaces": [
            {
                "key": f"{KEY}{each.row}",
                "space": each.space_name,
                "peak": each.numbers["peak"],
            }
            for each in others
        ],
    }


def differs(recording: Recording, plan: Plan) -> list[str]:
    """Why the compiler's own peak of a plan's module is another than the plan's, in sentences."""
    peak = int(recording.values("plan_modules", "compiler_peak")[plan.module])
    if peak == plan.numbers["peak"]:
        return []
    others = [
        f"{each.space_name} ({format_bytes(each.numbers['peak'])})"
        for each in reading.all_plans(recording)
        if each.module == plan.module and each.row != plan.row and each.numbers["peak"]
    ]
    found = []
    if others:
        found.append(f"It counts other memory spaces too: {', '.join(others)}.")
    if plan.numbers["untraced"]:
        size = format_bytes(plan.numbers["untraced"])
        found.append(f"Temporary allocations that no heap trace is of, {size}, are not in it.")
    return found or ["It counts the largest buffer of each allocation that is held all the time."]


def _cause(each: Padded, ids: IntArray) -> dict[str, Any]:
    """An operation that causes padding; ``id`` of its buffer that has most of it."""
    told = {name: getattr(each, name) for name in ("op", "instruction", "bytes", "count")}
    return {**told, "id": str(ids[each.life])}


def _scoped(module: dict[str, Any]) -> dict[str, Any] | None:
    if not module["scoped_bytes"]:
        return None
    return {"bytes": module["scoped_bytes"], "instruction": module["scoped_instruction"]}


def _named(each: dict[str, Any], ids: IntArray) -> dict[str, Any]:
    lives = each.pop("lives")
    named = [str(ids[row]) for row in lives[:_NAMED] if ids[row] >= 0]
    return {**each, "count": len(lives), "ids": named}
