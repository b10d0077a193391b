"""XLA's buffer assignment: allocations, the logical buffers in them, and events of heap traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.hlo_rows import Rows
from tb_memory_plugin.recording.plan_schema import BufferKind, HeapKind
from tb_memory_plugin.recording.schema import MOST_MEMORY

if TYPE_CHECKING:
    from tb_memory_plugin.readers.hlo_module import _Part

_SPACES = 1 << 16
_MOST_SPACES = 256
_MOST_TOLD = 3


class Assignment:
    """Rows of the buffers and allocations of a module, and what is odd about them."""

    def __init__(self, rows: Mapping[str, Rows], module: int, part: _Part, message: Any) -> None:
        self.problems: list[str] = []
        self._module, self._part = module, part
        self._rows: dict[int, int] = {}  # of buffers, by id
        self._assigned: set[int] = set()
        _few_spaces(message)
        self._buffers(rows["buffers"], message.logical_buffers)
        self._allocations(rows, message.buffer_allocations)
        self._heap(rows["heap"], message.heap_simulator_traces)

    def _buffers(self, rows: Rows, messages: Any) -> None:
        unknown, begin = 0, len(rows)
        for message in messages:
            if message.id in self._rows:
                raise Malformed(f"two of its buffers have the id {message.id}")
            where = message.defined_at
            index = tuple(where.shape_index)
            shape = self._part.shapes.get(where.instruction_id)
            at = shape.at(index) if shape is not None else None
            if at is None and shape is not None and shape.dtype != "tuple":
                at = shape  # an index into what is no tuple means the whole of it
            unknown += at is None
            row = self._part.rows_of.get(where.instruction_id)
            if row is None:
                row = self._part.only_named.get(where.instruction_name, -1)
            self._rows[message.id] = rows.add(
                module=self._module,
                id=message.id,
                instruction=row,
                index=f"{{{','.join(map(str, index))}}}" if index else "",
                shape=at.text if at else None,
                dtype=at.dtype if at else None,
                space=_space(message.color),
                size=_size(message.size, f"buffer {message.id}"),
                unpadded=-1 if at is None or at.bytes is None else at.bytes,
                allocation=-1,
                offset=0,
            )
        sizes, bare = (rows.columns[name][begin:] for name in ("size", "unpadded"))
        _bounded(max(sum(sizes), sum(size for size in bare if size > 0)), "buffers")
        if unknown:
            self.problems.append(
                f"{unknown} buffers name an instruction, or a part of its shape, that is not in "
                "the module: their shapes are not known."
            )

    def _allocations(self, rows: Mapping[str, Rows], messages: Any) -> None:
        buffers = rows["buffers"].columns
        strange = 0
        for message in messages:
            size = _size(message.size, f"allocation {message.index}")
            index = message.parameter_shape_index
            row = rows["buffer_allocations"].add(
                module=self._module,
                index=message.index,
                size=size,
                space=_space(message.color),
                kind=int(_kind(message)),
                is_parameter=message.is_entry_computation_parameter,
                is_output=message.maybe_live_out,
                is_thread_local=message.is_thread_local,
                is_constant=message.is_constant,
                is_tuple=message.is_tuple,
                parameter=(
                    message.parameter_number if message.is_entry_computation_parameter else -1
                ),
                parameter_index=f"{{{','.join(map(str, index))}}}" if index else None,
            )
            for assigned in message.assigned:
                buffer = self._rows.get(assigned.logical_buffer_id)
                offset = assigned.offset
                if buffer is None or not 0 <= offset < MOST_MEMORY or buffer in self._assigned:
                    strange += 1
                    continue
                self._assigned.add(buffer)
                buffers["allocation"][buffer] = row
                buffers["offset"][buffer] = offset
        _bounded(sum(message.size for message in messages), "allocations")
        if strange:
            self.problems.append(
                f"{strange} assignments of buffers are left out: they name none, a second place, "
                "or one that cannot be."
            )

    def _heap(self, rows: Rows, traces: Any) -> None:
        unknown: list[int] = []
        known: set[bytes] = set()
        number = 0
        for trace in traces:
            trace.buffer_allocation_index = 0
            content = trace.SerializeToString(deterministic=True)
            if content in known:
                continue  # of several allocations: once for each of them
            known.add(content)
            for event in trace.events:
                buffer = self._rows.get(event.buffer_id)
                shares = -1
                if event.kind == HeapKind.SHARE_WITH:
                    shares = self._rows.get(event.share_with_canonical_id, -1)
                if buffer is None or event.kind not in _KINDS:
                    unknown.append(event.buffer_id)
                    continue
                rows.add(
                    module=self._module,
                    trace=number,
                    kind=event.kind,
                    buffer=buffer,
                    shares=shares,
                    instruction=self._part.event_instruction(
                        event.computation_name, event.instruction_name
                    ),
                )
            number += 1
        if unknown:
            some = ", ".join(map(str, sorted(set(unknown))[:_MOST_TOLD]))
            some += " …" if len(set(unknown)) > _MOST_TOLD else ""
            self.problems.append(
                f"{len(unknown)} events of its heap traces are left out: they are of buffers that "
                f"the module does not have ({some}) "
                "or of an unknown kind."
            )


_KINDS = {int(kind) for kind in HeapKind}


def _kind(message: Any) -> BufferKind:
    if message.is_entry_computation_parameter:
        return BufferKind.PARAMETER
    if message.maybe_live_out:
        return BufferKind.OUTPUT
    if message.is_thread_local:
        return BufferKind.THREAD_LOCAL
    return BufferKind.CONSTANT if message.is_constant else BufferKind.TEMPORARY


def _size(size: int, what: str) -> int:
    if not 0 <= size < MOST_MEMORY:
        raise Malformed(f"the size of {what} is out of range ({size})")
    return size


def _few_spaces(message: Any) -> None:
    """Every memory space is worked out by itself: the largest devices have about a dozen."""
    both = (message.logical_buffers, message.buffer_allocations)
    spaces = {each.color for messages in both for each in messages}
    if len(spaces) > _MOST_SPACES:
        raise Malformed(f"it names {len(spaces)} memory spaces")


def _bounded(size: int, what: str) -> None:
    if size >= MOST_MEMORY:
        raise Malformed(f"its {what} are larger together than any memory ({size} bytes)")


def _space(color: int) -> int:
    if not 0 <= color < _SPACES:
        raise Malformed(f"there is no memory space {color}")
    return color
