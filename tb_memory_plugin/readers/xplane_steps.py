"""Steps that an XPlane may hold a part of only, made into a sentence.

XProf warns of them where the last event of its timeline is of no step after the first.
"""

from __future__ import annotations

from tb_memory_plugin.readers.xplane_memory import Memory
from tb_memory_plugin.readers.xplane_planes import Planes

_INCOMPLETE = "Steps may be incomplete"
_LONGER = "profile for longer to have whole ones."


def incomplete(planes: Planes, memory: Memory) -> str | None:
    """Why steps may be incomplete, None where nothing says so.

    A step that the program marks is written once it has ended, so it is whole or not there at all;
    none may be around any event. Of a group of events, or a step of a device, nobody knows what
    the profile missed of it: the one that the first event of an allocator is of may have begun
    before, that of the last may have gone on.
    """
    if planes.program.has_steps:
        if planes.program.in_steps(memory.events.time).any():
            return None
        return f"{_INCOMPLETE}: no event of memory is within one that is marked; {_LONGER}"
    first: set[int] = set()
    last: set[int] = set()
    for key, (begin, end) in zip(memory.keys, memory.bounds, strict=True):
        if not planes.driver.is_driver(key):
            first |= _step_of(planes, memory, begin)
            last |= _step_of(planes, memory, end - 1)
    told = []
    if first:
        told.append(f"step {min(first)} is under way at the first")
    if last:
        is_same = bool(first) and min(first) == max(last)
        told.append("the last" if is_same else f"step {max(last)} is under way at the last")
    where = "event of memory"
    return f"{_INCOMPLETE}: {' and '.join(told)} {where}; {_LONGER}" if told else None


def _step_of(planes: Planes, memory: Memory, row: int) -> set[int]:
    """The steps that an event is of, as it says itself, or as devices do."""
    events = memory.events
    if events.seen("group")[row] and events.column("group")[row] >= 0:
        return {int(events.column("group")[row])}
    time = int(events.time[row])
    return {span.step for span in planes.steps() if span.begin <= time < span.end}
