"""What stacks were weighed by, as the flame graph and the table of lines both say it."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import Weights
from tb_memory_plugin.analysis.instants import event_time, step_at
from tb_memory_plugin.analysis.members import members
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording


def described(
    recording: Recording, device: Device, of: str, window: EventWindow, weighed: Weights
) -> dict[str, Any]:
    """``device``, ``of``, ``unit``, ``moment``, ``window``, and how much it is altogether."""
    moment = None
    if weighed.event is not None:
        time = event_time(recording, device, weighed.event)
        step = step_at(recording, device, time)
        moment = {"event": weighed.event, "time": time, "step": step}
    return {
        "device": device.key,
        "of": of,
        "unit": weighed.unit,
        "moment": moment,
        "window": {
            "first": window.first,
            "stop": window.stop,
            "begin": window.begin,
            "end": window.end,
        },
        "total": int(weighed.value.sum()),
        "count": int(weighed.count.sum()),
    }


def picked_rows(
    recording: Recording, device: Device, by: str, pattern: str, top: int, key: str
) -> IntArray | None:
    """A mask over the device's allocations: those of the group picked; None where there is none."""
    if not by or not key:
        return None
    try:
        return members(recording, device, by, pattern, key, top)
    except QueryError:  # picked in another recording: nothing of it is here
        return None
