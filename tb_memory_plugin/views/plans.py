"""The modules of a recording and what the compiler planned for each memory space."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


def modules(recording: Recording) -> list[dict[str, Any]]:
    """Every module, in the order of the file, with its ``spaces`` by number; bytes are integers."""
    table = recording.table("plan_modules")
    names = arrays.all_words(recording.table("modules"), "name")
    programs = recording.values("modules", "program_id")
    peaks = recording.values("plan_modules", "compiler_peak")
    found: list[dict[str, Any]] = [
        {
            "module": names[row] or "",
            "program_id": int(programs[row]),
            "compiler_peak_bytes": int(peaks[row]),
            "problems": reading.problems(recording, row),
            "spaces": {},
        }
        for row in range(len(table))
    ]
    for plan in reading.all_plans(recording):
        found[plan.module]["spaces"][str(plan.space)] = {
            "name": plan.space_name,
            **{key: plan.numbers[name] for key, name in _NUMBERS.items()},
        }
    return found


#: Keys of an answer, by column of ``plans``.
_NUMBERS = {
    "peak_bytes": "peak",
    "unpadded_peak_bytes": "unpadded_peak",
    "peak_event": "peak_event",
    "events": "events",
    "total_bytes": "total",
    "indefinite_bytes": "indefinite",
    "untraced_bytes": "untraced",
    "fragmentation_bytes": "fragmentation",
    "parameter_bytes": "parameter",
    "output_bytes": "output",
    "constant_bytes": "constant",
    "temporary_bytes": "temporary",
    "aliased_bytes": "aliased",
}
