"""The tables of a compiler's plan for memory: what XLA assigned, and what follows from it."""

from __future__ import annotations

from enum import IntEnum

import pyarrow as pa

from tb_memory_plugin.recording.columns import BOOL, I32, I64, TEXT, U64, schema


class BufferKind(IntEnum):
    """What an allocation of XLA's plan is for. Codes are part of the file format."""

    PARAMETER = 0
    OUTPUT = 1
    THREAD_LOCAL = 2
    CONSTANT = 3
    TEMPORARY = 4

    @property
    def label(self) -> str:
        """The word for people."""
        return "thread-local" if self is BufferKind.THREAD_LOCAL else self.name.lower()


class HeapKind(IntEnum):
    """What an event of a heap trace does. Codes are XLA's."""

    ALLOC = 0
    FREE = 1
    SHARE_WITH = 2


#: Recorded tables.
RECORDED: dict[str, pa.Schema] = {
    # What XLA's compiler planned: one row a module.
    "modules": schema(
        name=TEXT,
        program_id=U64,
        entry=TEXT,  # its first computation
        platform=TEXT,  # "tpu" | "gpu" | "cpu", null where the source does not tell
        planned=BOOL,  # false: it holds no buffer assignment
        scoped_bytes=I64,  # the most scoped VMEM that one instruction uses
        scoped_instruction=TEXT,
        problems=TEXT,  # JSON list of sentences
    ),
    # The rows of these four are grouped by module.
    "instructions": schema(
        module=I32,
        id=I64,
        name=TEXT,
        opcode=TEXT,
        computation=TEXT,
        shape=TEXT,
        bytes=I64,  # of its result, without padding
        op=TEXT,  # what the framework calls it
        stack=I32,  # row of stacks: where in the program it comes from
        position=I64,  # its place in program order
        operands=pa.list_(I32),  # rows of instructions
    ),
    "buffer_allocations": schema(
        module=I32,
        index=I64,  # XLA's number
        size=I64,
        space=I32,  # memory space, which XLA calls color
        kind=pa.uint8(),  # BufferKind: the first of the following that holds, else temporary
        is_parameter=BOOL,
        is_output=BOOL,
        is_thread_local=BOOL,
        is_constant=BOOL,
        is_tuple=BOOL,
        parameter=I64,  # number
        parameter_index=TEXT,  # "{0,1}" in a tuple
    ),
    # Logical buffers.
    "buffers": schema(
        module=I32,
        id=I64,
        instruction=I32,  # row of instructions that defines it
        index=TEXT,  # "{0}": which part of the instruction's tuple; "" for the whole
        shape=TEXT,
        dtype=TEXT,
        space=I32,
        size=I64,
        unpadded=I64,
        allocation=I32,  # row of buffer_allocations that it lies in
        offset=I64,  # in there
    ),
    # Events of the compiler's heap simulator, trace after trace.
    "heap": schema(
        module=I32,
        trace=I32,
        kind=pa.uint8(),  # HeapKind
        buffer=I32,  # row of buffers
        shares=I32,  # row of buffers whose memory it shares
        instruction=I32,  # row of instructions
    ),
}

#: Derived tables.
DERIVED: dict[str, pa.Schema] = {
    # One row a memory space of a module (its *plan*), in the order of modules and spaces. A moment
    # of program order is after event 0 … ``events`` - 1 of its heap, -1 before the first.
    "plans": schema(
        module=I32,
        space=I32,
        events=I64,
        peak=I64,
        unpadded_peak=I64,  # at the same moment
        peak_event=I64,
        total=I64,  # of all allocations
        indefinite=I64,  # of those that are held all the time
        unpadded_indefinite=I64,
        untraced=I64,  # of temporary ones that no heap trace is of, held all the time as well
        fragmentation=I64,  # by what traced allocations exceed the most in use in them
        parameter=I64,
        output=I64,
        thread_local=I64,
        constant=I64,
        temporary=I64,
        aliased=I64,  # outputs in the memory of parameters
    ),
    # One row a module.
    "plan_modules": schema(
        compiler_peak=I64,  # as the compiler itself counts, over all spaces
        problems=TEXT,  # JSON list: the recorded ones and what its traces show
    ),
    # One row an event of a plan, in program order: what is in use after it.
    "plan_events": schema(
        plan=I32,
        size=I64,
        unpadded=I64,
        instruction=I32,
        kind=pa.uint8(),  # HeapKind
        buffer=I32,
    ),
    # One row a stretch of memory that a buffer holds. Null birth: before the first event, as what
    # is held all the time; null death: to the end.
    "buffer_lives": schema(
        plan=I32,
        buffer=I32,
        holds=BOOL,  # false: it shares what another row counts
        birth=I64,
        death=I64,
        size=I64,
        unpadded=I64,
        allocation=I32,
        offset=I64,  # from the bottom of the space, allocation upon allocation
    ),
}
