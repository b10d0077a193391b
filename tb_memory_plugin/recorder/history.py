"""torch's switch for the history of an allocator, and whose history it is."""

from __future__ import annotations

import time
from typing import Any

# When this process switched off a history of its own (unix µs), by backend.
_SWITCHED_OFF: dict[str, float] = {}


def is_on(torch: Any, kind: str) -> bool:
    """Whether the program has switched a history on.

    Where torch cannot be asked (XPU), there is one if it holds entries, other than what one of
    ours may have left.
    """
    ask = getattr(torch._C, f"_{kind}_isHistoryEnabled", None)
    if ask is not None:
        return bool(ask())
    since = _SWITCHED_OFF.get(kind, -1.0)
    traces = getattr(torch, kind).memory._snapshot().get("device_traces", ())
    return any(trace[-1].get("time_us", 0) > since for trace in traces if trace)


def switch_on(torch: Any, kind: str, *, stacks: bool, entries: int) -> None:
    """Begin a history of the last ``entries``."""
    getattr(torch, kind).memory._record_memory_history(
        "all", context="all" if stacks else None, stacks="python", max_entries=entries
    )


def switch_off(torch: Any, kind: str) -> None:
    """End it; torch forgets what it held."""
    getattr(torch, kind).memory._record_memory_history(None)
    _SWITCHED_OFF[kind] = time.time() * 1e6
