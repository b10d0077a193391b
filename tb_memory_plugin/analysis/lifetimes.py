"""How long allocations live, and how old they are at a moment, in classes of ten."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import event_times, resolve
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER

_TIMES = ("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s")
_EVENTS = ("10", "100", "1 000", "10 000", "100 000", "1 000 000")
_NOT_FREED = "not freed"
_LATER = "born later"


def lifetimes(recording: Recording, device: Device) -> tuple[IntArray, tuple[str, ...]]:
    """For every allocation of a device its class, and what the classes are called.

    Of what was born before the window and died in it, only a part of the life is known: -1.
    By time where events have time stamps, else by events.
    """
    birth, death = (recording.values("allocations", name, device) for name in ("birth", "death"))
    is_timed = event_times(recording, device) is not None
    edges, names = _classes(is_timed)
    lived = death - birth
    if is_timed:
        begin = recording.values("allocations", "birth_time", device)
        end = recording.values("allocations", "death_time", device)
        # Where either end is not known the difference may wrap around; it is not used then.
        lived = end - begin
    found = np.searchsorted(edges, lived, side="right")
    found[birth < 0] = -1
    found[death == AFTER] = len(edges) + 1
    return found.astype(np.int32), (*names, _NOT_FREED)


def ages(recording: Recording, device: Device, at: str) -> tuple[IntArray, tuple[str, ...]]:
    """For every allocation of a device the class of its age at the moment ``at``, and their names.

    Those born later are the first class. Of what was born before the window nothing is known: -1.
    What is freed by then is as old as it would be. Raises QueryError for what is no moment.
    """
    moment = resolve(recording, device, at)
    birth = recording.values("allocations", "birth", device)
    is_timed = event_times(recording, device) is not None
    edges, names = _classes(is_timed)
    age = moment.event - birth
    if is_timed and moment.time is not None:
        age = moment.time - recording.values("allocations", "birth_time", device)
    found = 1 + np.searchsorted(edges, age, side="right")
    found[birth > moment.event] = 0
    found[birth < 0] = -1
    return found.astype(np.int32), (_LATER, *names)


def _classes(is_timed: bool) -> tuple[IntArray, tuple[str, ...]]:
    """Where classes end, the last one nowhere, and what they are called."""
    most = _TIMES if is_timed else tuple(f"{events} events" for events in _EVENTS)
    edges = (
        1_000 * 10 ** np.arange(len(_TIMES)) if is_timed else 10 ** np.arange(1, len(_EVENTS) + 1)
    )
    return edges, (*(f"under {each}" for each in most), f"{most[-1]} and more")
