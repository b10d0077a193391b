"""What a Kineto trace says of itself, what it leaves out, and what is odd about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tb_memory_plugin.readers.checked import INT64_MAX
from tb_memory_plugin.readers.kineto_columns import Columns
from tb_memory_plugin.readers.kineto_memory import TYPES, Histories, History
from tb_memory_plugin.readers.kineto_program import Program
from tb_memory_plugin.recording.schema import EARLIEST_UNIX

_VERSIONS = re.compile(r"[a-z]+(_[a-z]+)*_version")
_ACCELERATORS = ("cuda", "hip", "xpu")
#: Arrows that may be lost without a word: those at the ends of what was traced.
MANY = 1_000


def meta(
    columns: Columns,
    program: Program,
    found: Histories,
    about: dict[str, Any],
    origin: int,
    lost: int,
) -> dict[str, Any]:
    """Devices, clock, rank, versions, ``missing`` and ``problems`` of a recording.

    ``lost`` arrows lead to or from nothing.
    """
    base = about.get("baseTimeNanoseconds")
    base = base if type(base) is int and 0 <= base <= INT64_MAX - abs(origin) else 0
    whole = origin + base
    is_unix = whole >= EARLIEST_UNIX
    rank = _of(about.get("distributedInfo"), "rank")
    return {
        "devices": [_device(history, about) for history in found.devices],
        "time_origin_ns": whole,
        "clock": "unix" if is_unix else "monotonic",
        "rank": rank if type(rank) is int else None,
        "versions": {
            key: value
            for key, value in about.items()
            if _VERSIONS.fullmatch(key) and type(value) in (int, float, str)
        },
        "missing": list(_missing(columns, program, found.devices)),
        "problems": list(_problems(columns, found.devices, lost)),
    }


def _device(history: History, about: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "key": history.key,
        "name": history.name,
        "type": TYPES.get(history.type, f"device type {history.type}"),
        "device_type": history.type,
        "device_id": history.ordinal,
    }
    if history.ordinal >= 0:
        entry["ordinal"] = history.ordinal
    if entry["type"] in _ACCELERATORS:
        capacity = _capacity(about.get("deviceProperties"), history.ordinal)
        if capacity is not None:
            entry["capacity"] = capacity
    return entry


def _capacity(properties: Any, ordinal: int) -> int | None:
    for one in properties if type(properties) is list else ():
        if _of(one, "id") == ordinal:
            size = _of(one, "totalGlobalMem")
            return size if type(size) is int and 0 < size <= INT64_MAX else None
    return None


def _of(value: Any, key: str) -> Any:
    return value.get(key) if type(value) is dict else None


def _missing(columns: Columns, program: Program, found: list[History]) -> Iterator[dict[str, str]]:
    if any(history.made_up for history in found):
        yield {
            "what": "addresses",
            "why": "The trace does not say where allocations are, as torch does since 1.10: a free "
            "is taken for that of the latest allocation of its size, so sums are exact and "
            "single lives are guesses",
            "remedy": "Trace with a later torch",
        }
    if not all(history.has_allocated for history in found):
        yield {
            "what": "what was there before",
            "why": "The trace has no totals of the allocator: curves begin at what the trace frees",
            "remedy": "Trace with a later torch",
        }
    if any(history.rest for history in found):
        yield {
            "what": "allocations before the window",
            "why": "Of what was alive before the trace began and was never freed in it the trace "
            "has the sum only, and not how many blocks it is",
            "remedy": "Begin to trace before the model is built, or take a snapshot",
        }
    if not program.has_python:
        yield {
            "what": "stacks",
            "why": "Python calls were not traced: stacks are of operators and annotations",
            "remedy": "Profile with with_stack=True",
        }
    if program.idle:
        yield {
            "what": "calls of Python in which nothing was allocated",
            "why": f"The trace has so many spans that {program.idle} of them are left out; stacks "
            "and modules are whole",
            "remedy": "Trace fewer steps",
        }
    if columns.arguments.left_out:
        yield {
            "what": "arguments of spans",
            "why": "The trace has so many different ones (shapes, sizes, grids) that those of "
            f"{columns.arguments.left_out} spans are left out",
            "remedy": "Trace fewer steps",
        }
    if not program.has_steps:
        yield {
            "what": "steps",
            "why": "No step is marked in the trace",
            "remedy": "Call step() of the profiler after every training step",
        }


def _problems(columns: Columns, found: list[History], lost: int) -> Iterator[str]:
    for history in found:
        if history.breaks:
            yield (
                f"{history.name}: {history.breaks} times the allocator's total moves by other than "
                "the event says: events are missing from the trace, and the curve goes by those "
                "that are there."
            )
    if columns.strange_times:
        yield f"{columns.strange_times} events without a valid time stamp were left out."
    if lost >= MANY:
        yield f"{lost} arrows of the trace lead to or from nothing that is in it."
    if columns.mended:
        yield (
            "The file is not quite JSON (stray backslashes, bytes that are no UTF-8): what could "
            "not be read is written as ? or /."
        )
