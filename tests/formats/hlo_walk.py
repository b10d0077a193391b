"""A plan walked by hand in its proto: who holds which memory from when to when, and what it says.

For one module with one temporary allocation and one heap trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb_memory_plugin.proto.hlo import hlo_classes

_FREE, _SHARE = 1, 2


@dataclass(frozen=True)
class Held:
    """Memory held after the events ``begin`` … ``end`` - 1, and what its instruction says."""

    begin: int
    end: int
    size: int
    place: int
    kind: str
    opcode: str
    op: str
    lines: tuple[tuple[str, int], ...]  # innermost first

    def at(self, event: int) -> bool:
        """Whether it is held after ``event``."""
        return self.begin <= event < self.end


def walked(path: Path) -> list[Held]:
    """All that is held at some time."""
    proto = hlo_classes()["HloProto"].FromString(path.read_bytes())
    plan = proto.buffer_assignment
    buffers = {each.id: each for each in plan.logical_buffers}
    told = {
        each.id: each
        for computation in proto.hlo_module.computations
        for each in computation.instructions
    }
    lines = _lines(proto.hlo_module.stack_frame_index)
    (trace,) = plan.heap_simulator_traces
    last, bottom, found = len(trace.events), 0, []

    def held(begin: int, end: int, size: int, place: int, kind: str, buffer: int) -> Held:
        said = told[buffers[buffer].defined_at.instruction_id]
        at = said.metadata
        own = (bytes(each).decode() for each in (said.opcode, at.op_name))
        opcode, op = own
        return Held(begin, end, size, place, kind, opcode, op, lines(at.stack_frame_id))

    temporary = None
    for each in plan.buffer_allocations:
        kind = (
            "parameter"
            if each.is_entry_computation_parameter
            else "output"
            if each.maybe_live_out
            else "thread-local"
            if each.is_thread_local
            else "constant"
            if each.is_constant
            else "temporary"
        )
        if kind == "temporary":
            assert temporary is None
            temporary = each
        elif kind != "thread-local":
            named = _named(each, buffers, told)
            found.append(held(-1, last, each.size, bottom, kind, named))
            bottom += each.size
    assert temporary is not None
    offset = {each.logical_buffer_id: each.offset for each in temporary.assigned}
    users: dict[int, int] = {}
    root: dict[int, int] = {}
    begun: dict[int, tuple[int, int]] = {}
    for at, event in enumerate(trace.events):
        own = event.buffer_id
        if event.kind == _FREE:
            top = root[own]
            users[top] -= 1
            if not users[top]:
                begin, holder = begun.pop(top)
                place = bottom + offset[top]
                found.append(held(begin, at, buffers[top].size, place, "temporary", holder))
            continue
        other = event.share_with_canonical_id
        top = root[own] = root.get(other, other) if event.kind == _SHARE else own
        if not users.get(top):
            begun[top] = at, own
        users[top] = users.get(top, 0) + 1
    assert not begun
    return found


def _named(allocation: Any, buffers: dict[int, Any], told: dict[int, Any]) -> int:
    """The buffer that an allocation is called by: the argument in it, else the largest."""
    inside = [buffers[each.logical_buffer_id] for each in allocation.assigned]
    for each in inside:
        at = each.defined_at
        if bytes(told[at.instruction_id].opcode) == b"parameter" and not at.shape_index:
            return int(each.id)
    return int(max(inside, key=lambda each: each.size).id)


def _lines(index: Any) -> Callable[[int], tuple[tuple[str, int], ...]]:
    """The way out from a frame of an index, whose ids count from 1."""

    def walk(frame: int) -> tuple[tuple[str, int], ...]:
        found = []
        while frame:
            here = index.stack_frames[frame - 1]
            place = index.file_locations[here.file_location_id - 1]
            name = bytes(index.file_names[place.file_name_id - 1]).decode()
            found.append((name, place.line))
            frame = here.parent_frame_id
        return tuple(found)

    return walk
