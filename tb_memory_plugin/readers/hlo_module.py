"""One HLO module with the compiler's plan for its memory, made into rows of the plan's tables."""

from __future__ import annotations

import json
import re
from typing import Any

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.hlo_assignment import Assignment
from tb_memory_plugin.readers.hlo_frames import Frames
from tb_memory_plugin.readers.hlo_order import program_order
from tb_memory_plugin.readers.hlo_rows import TABLES, Rows
from tb_memory_plugin.readers.hlo_shapes import Shape, Shapes
from tb_memory_plugin.readers.xplane_words import word
from tb_memory_plugin.recording.schema import MOST_MEMORY
from tb_memory_plugin.recording.stacks import StackInterner

#: Memory space of TPUs that instructions reserve scoped memory in.
_VMEM = 1
_UINT64 = (1 << 64) - 1
_SCOPED = b"used_scoped_memory_configs"
#: What backends write of themselves into their instructions.
_TELLING = (
    ("cpu", re.compile(rb"outer_dimension_partitions|__ynn_fusion|__xla_cpu|xla_cpu_")),
    (
        "gpu",
        re.compile(rb"__cublas|__cudnn|triton_gemm|__triton|gpu_backend_config|reification_cost"),
    ),
    ("tpu", re.compile(rb"scoped_memory|tpu_custom_call|window_config|megacore|barrier_config")),
)


class Modules:
    """The modules of a source as rows of tables."""

    def __init__(self) -> None:
        self.rows = {name: Rows(name) for name in TABLES}
        self.stacks = StackInterner()
        self._shapes = Shapes()

    def add(self, proto: Any, platform: str | None, program: int | None = None) -> None:
        """Take in an ``HloProto``. Raises Malformed, and has then taken in nothing of it.

        ``program`` is the id that a profile calls it by, where that is not the module's own.
        """
        before = {name: len(rows) for name, rows in self.rows.items()}
        try:
            self._add(proto, platform, program)
        except Malformed:
            for name, length in before.items():
                self.rows[name].cut(length)
            raise

    def _add(self, proto: Any, platform: str | None, program: int | None) -> None:
        module, assignment = proto.hlo_module, proto.buffer_assignment
        number = len(self.rows["modules"])
        part = _Part(self, number, module, {_id(each) for each in assignment.logical_buffers})
        planned = Assignment(self.rows, number, part, assignment)
        scoped, instruction = part.scoped
        self.rows["modules"].add(
            name=word(module.name),
            program_id=module.id & _UINT64 if program is None else program,
            entry=word(module.entry_computation_name),
            platform=platform or part.platform,
            planned=bool(assignment.logical_buffers or assignment.buffer_allocations),
            scoped_bytes=scoped,
            scoped_instruction=instruction,
            problems=json.dumps(planned.problems),
        )

    def shape(self, data: bytes) -> Shape:
        """A shape by its bytes. Raises Malformed."""
        return self._shapes.of(data)


def _id(buffer: Any) -> int:
    found: int = buffer.defined_at.instruction_id
    return found


class _Part:
    """The instructions of one module: those that are scheduled, and those that define buffers."""

    def __init__(self, whole: Modules, number: int, module: Any, defining: set[int]) -> None:
        self.shapes: dict[int, Shape] = {}
        self.rows_of: dict[int, int] = {}  # by id
        self.named: dict[tuple[bytes, bytes], int] = {}  # by computation and name
        self.only_named: dict[bytes, int] = {}
        self.scoped: tuple[int, str | None] = (-1, None)
        self.platform: str | None = None
        frames = Frames(module.stack_frame_index, whole.stacks)
        sequences = {entry.key: entry.value.instruction_ids for entry in module.schedule.sequences}
        calls = {
            instruction.id: instruction.called_computation_ids
            for computation in module.computations
            for instruction in computation.instructions
            if instruction.called_computation_ids
        }
        order = program_order(sequences, calls, module.entry_computation_id)
        wanted = set(sequences) | {module.entry_computation_id}
        operands = []
        for computation in module.computations:
            name = word(computation.name)
            for instruction in computation.instructions:
                if computation.id not in wanted and instruction.id not in defining:
                    continue
                row = self._add(whole, number, instruction, name, frames, order)
                self.named[computation.name, instruction.name] = row
                operands.append((row, instruction.operand_ids))
        # Operands come first, but only within their computation.
        columns = whole.rows["instructions"].columns["operands"]
        for row, ids in operands:
            columns[row] = [self.rows_of[each] for each in ids if each in self.rows_of]

    def _add(
        self,
        whole: Modules,
        number: int,
        instruction: Any,
        computation: str,
        frames: Frames,
        order: dict[int, int],
    ) -> int:
        shape = whole.shape(instruction.shape)
        name = word(instruction.name)
        config = instruction.backend_config
        if config:
            self._look(config, name)
        row = whole.rows["instructions"].add(
            module=number,
            id=instruction.id,
            name=name,
            opcode=word(instruction.opcode) or None,
            computation=computation,
            shape=shape.text,
            bytes=-1 if shape.bytes is None else shape.bytes,
            op=word(instruction.metadata.op_name) or None,
            stack=frames.stack(instruction.metadata),
            position=order.get(instruction.id, -1),
            operands=None,
        )
        if instruction.id in self.rows_of:
            raise Malformed(f"two of its instructions have the id {instruction.id}")
        self.shapes[instruction.id] = shape
        self.rows_of[instruction.id] = row
        self.only_named.setdefault(instruction.name, row)
        return row

    def event_instruction(self, computation: bytes, name: bytes) -> int:
        """The row of the instruction that an event of the heap names; -1 for none."""
        found = self.named.get((computation, name))
        return self.only_named.get(name, -1) if found is None else found

    def _look(self, config: bytes, name: str) -> None:
        """What the backend wrote into an instruction."""
        if self.platform is None:
            telling = (platform for platform, words in _TELLING if words.search(config))
            self.platform = next(telling, None)
        if _SCOPED not in config:
            return
        size = _scoped(config)
        if size > self.scoped[0]:
            self.scoped = (size, name)


def _scoped(config: bytes) -> int:
    """The scoped VMEM in a backend's JSON, whose sizes are numbers or quoted; -1 for none."""
    try:
        entries = json.loads(config).get("used_scoped_memory_configs", [])
        sizes = [int(each["size"]) for each in entries if int(each.get("memory_space", 0)) == _VMEM]
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return -1
    return max((size for size in sizes if size < MOST_MEMORY), default=-1)
