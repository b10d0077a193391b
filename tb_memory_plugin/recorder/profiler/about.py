"""What a profiler's recording says of itself: devices, what is missing and why, what is odd."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.recorder.engine import torch_module
from tb_memory_plugin.recorder.profiler.ledger import Ledger
from tb_memory_plugin.recorder.statistics import lifetime_peak


def about(ledger: Ledger, *, stacks: bool, ended: str) -> dict[str, Any]:
    """``devices``, ``missing`` and ``problems`` of ``meta``; ``ended``: why it goes no further."""
    return {
        "devices": [_device(name) for name in ledger.devices],
        "missing": _missing(ledger, stacks, ended),
        "problems": _problems(ledger),
    }


def _device(name: str) -> dict[str, Any]:
    kind, _, ordinal = name.partition(":")
    capacity, peak = None, None
    if kind in ("cuda", "xpu"):
        torch, number = torch_module(), int(ordinal or 0)
        capacity = int(getattr(torch, kind).get_device_properties(number).total_memory)
        peak = lifetime_peak(torch, kind, number, "allocated_bytes")
    return {
        "key": name,
        "name": name,
        "type": kind,
        "ordinal": int(ordinal) if ordinal else None,
        "capacity": capacity,
        "lifetime_peak": peak,  # a CPU's is not known: nobody counts before the window
    }


def _missing(ledger: Ledger, stacks: bool, ended: str) -> list[dict[str, str]]:
    found = []
    if "cpu" in ledger.devices:
        freed = ledger.unknown_frees
        freed_too = f"; {freed} frees in the window are of such blocks" if freed else ""
        found += [
            {
                "what": "untracked memory of the cpu from before the window",
                "why": f"the profiler does not see what was allocated before it started{freed_too}",
                "remedy": "call MemoryWriter.track(model, optimizer), or create tensors "
                "inside the writer",
            },
            {
                "what": "reserved memory of the cpu",
                "why": "its allocator holds nothing in reserve that could be counted",
                "remedy": "none is needed: allocated is all there is",
            },
        ]
    if not stacks:
        found.append(
            {
                "what": "stacks and modules",
                "why": "it was recorded with stacks=False",
                "remedy": "record with MemoryWriter(stacks=True)",
            }
        )
    if ended:
        found.append(
            {
                "what": "what came after the last event",
                "why": ended,
                "remedy": "see docs/recording.md, limits",
            }
        )
    return found


def _problems(ledger: Ledger) -> list[str]:
    found = []
    if ledger.unseen_frees:
        found.append(
            f"{ledger.unseen_frees} frees were not seen by the profiler (another thread, or "
            "between two chunks); they stand where it was noticed that the memory is gone"
        )
    if ledger.unseen_births:
        found.append(
            f"{ledger.unseen_births} tracked tensors were allocated without an event (by "
            "another thread, or between two chunks); they are born where they were noticed"
        )
    return found
