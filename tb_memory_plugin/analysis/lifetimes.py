"""How long allocations live, in classes of ten."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER

_TIMES = ("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s")
_EVENTS = ("10", "100", "1 000", "10 000", "100 000", "1 000 000")
_NOT_FREED = "not freed"


def lifetimes(recording: Recording, device: Device) -> tuple[IntArray, tuple[str, ...]]:
    """For every allocation of a device its class, and what the classes are called.

    Of what was born before the window and died in it, only a part of the life is known: -1.
    By time where events have time stamps, else by events.
    """
    birth, death = (recording.values("allocations", name, device) for name in ("birth", "death"))
    if event_times(recording, device) is None:
        names = tuple(f"under {most} events" for most in _EVENTS)
        longest = f"{_EVENTS[-1]} events and more"
        edges, lived = 10 ** np.arange(1, len(_EVENTS) + 1), death - birth
    else:
        names = tuple(f"under {most}" for most in _TIMES)
        longest = f"{_TIMES[-1]} and more"
        edges = 1_000 * 10 ** np.arange(len(_TIMES))
        begin = recording.values("allocations", "birth_time", device)
        end = recording.values("allocations", "death_time", device)
        # Where either end is not known the difference may wrap around; it is not used then.
        lived = end - begin
    found = np.searchsorted(edges, lived, side="right")
    found[birth < 0] = -1
    found[death == AFTER] = len(edges) + 1
    return found.astype(np.int32), (*names, longest, _NOT_FREED)
