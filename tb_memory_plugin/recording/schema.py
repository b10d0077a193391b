"""The tables of a recording: their columns, codes and versions.

Every reader fills these columns and every analysis reads them. Bytes and times are int64; a
column that a source cannot fill is null. Where a null stands in an integer column its value
buffer holds the column's *sentinel* (see :func:`sentinel`), so that analysis can use the buffer
as it lies in the file, without a copy (see ``arrays.values``).

Rows of ``events``, ``labels``, ``allocations``, ``usage``, ``blocks`` and ``segments`` are grouped
by ``device`` (an index into ``meta["devices"]``); within a device they are in the order named in
:data:`ORDER`. An event's *ordinal* is its place within its device.
"""

from __future__ import annotations

from enum import IntEnum

import pyarrow as pa

from tb_memory_plugin.recording import plan_schema, trace_schema
from tb_memory_plugin.recording.columns import BOOL as _BOOL
from tb_memory_plugin.recording.columns import I8 as _I8
from tb_memory_plugin.recording.columns import I16 as _I16
from tb_memory_plugin.recording.columns import I32 as _I32
from tb_memory_plugin.recording.columns import I64 as _I64
from tb_memory_plugin.recording.columns import TEXT as _TEXT
from tb_memory_plugin.recording.columns import U64 as _U64
from tb_memory_plugin.recording.columns import schema as _schema

#: Version of the recorded tables. Every later version of the package reads it.
SCHEMA_VERSION = 1

#: No memory is as large: what adds up to more is no sizes. (What is drawn needs room above it.)
MOST_MEMORY = 1 << 60
#: Nanoseconds, in the year 2001: an earlier time stamp is not one since 1970.
EARLIEST_UNIX = 10**18


class Action(IntEnum):
    """What an event did. Codes are part of the file format: never reuse one."""

    ALLOC = 0
    FREE_REQUESTED = 1
    FREE_COMPLETED = 2
    SEGMENT_ALLOC = 3
    SEGMENT_FREE = 4
    SEGMENT_MAP = 5
    SEGMENT_UNMAP = 6
    SNAPSHOT = 7
    OOM = 8
    USER_DEFINED = 9
    ANNOTATE = 10
    UNKNOWN = 255


class Category(IntEnum):
    """What a tensor is for, in stacking order from the bottom of the picture.

    Codes are part of the file format. ``OUTPUT`` is what a compiled program returns.
    """

    PARAMETER = 0
    OPTIMIZER_STATE = 1
    GRADIENT = 2
    ACTIVATION = 3
    INPUT = 4
    TEMPORARY = 5
    AUTOGRAD_DETAIL = 6
    UNKNOWN = 7
    OUTPUT = 8

    @property
    def label(self) -> str:
        """The word for people: ``optimizer state`` for ``OPTIMIZER_STATE``."""
        return self.name.lower().replace("_", " ")


class BlockState(IntEnum):
    """State of a block at the end of the recording."""

    ACTIVE = 0
    PENDING_FREE = 1
    INACTIVE = 2


#: Recorded tables: what the source said.
RECORDED: dict[str, pa.Schema] = {
    # One row an entry of an allocator's history.
    "events": _schema(
        device=_I16,
        time=_I64,  # ns since meta["time_origin_ns"]
        action=pa.uint8(),  # Action
        address=_U64,
        size=_I64,  # in the recording's basis for allocations; mapped bytes for segments
        stream=_U64,  # raw stream handle, 0 = default
        pool=_I32,  # index into meta["pools"]
        stack=_I32,  # row of stacks
        forward_stack=_I32,
        compile_context=_TEXT,
        user_metadata=_TEXT,
        span=_I32,  # row of spans: the innermost around it on its thread, where stacks hold none
        step=_I64,  # that it says it is of, where no span of a step does
    ),
    # What is known of an allocation beyond its event, keyed by the ordinal of its birth
    # (-1: before the window, then by address).
    "labels": _schema(
        device=_I16,
        event=_I64,
        address=_U64,
        category=_I8,  # Category
        inferred=_BOOL,  # the category is a guess
        name=_TEXT,
        dtype=_TEXT,
        shape=_TEXT,  # "[4, 16, 1024]"
        op=_TEXT,
        module=_TEXT,
        region=_TEXT,  # what XLA and TensorFlow call the kind of memory: "output", "temp", …
        step=_I64,
        requested=_I64,  # where the basis is size
    ),
    # The end state, where a source has one.
    "blocks": _schema(
        device=_I16,
        segment=_I32,  # row of segments
        address=_U64,
        size=_I64,
        requested=_I64,
        state=pa.uint8(),  # BlockState
        stack=_I32,
        forward_stack=_I32,
    ),
    "segments": _schema(
        device=_I16,
        address=_U64,
        size=_I64,
        pool=_I32,
        stream=_U64,
        kind=_TEXT,  # "small" | "large"
        expandable=_BOOL,
        stack=_I32,
    ),
    # What the source itself says of a device after an event, where it says it.
    "reported": _schema(
        device=_I16,
        event=_I64,
        allocated=_I64,
        reserved=_I64,
        # What XLA's and TensorFlow's allocators say beside it.
        stack=_I64,  # bytes kept for the programs' stack, beside what is allocated
        free=_I64,
        fragmentation=pa.float64(),  # of the free list: 1 − largest free chunk ÷ free bytes
        lifetime_peak=_I64,  # the most that was allocated since the allocator was made
    ),
    # Interned by content.
    "frames": _schema(function=_TEXT, file=_TEXT, line=_I32, extra=_TEXT),
    "stacks": _schema(frames=pa.list_(pa.int32())),  # rows of frames, innermost first
    "spans": _schema(
        device=_I16,  # null: not of one device
        track=_TEXT,  # e.g. "thread 1", "stream 7"
        # "step" | "annotation" | "op" | "module" | "python" | "runtime" (calls of the driver) |
        # "kernel" | "copy" (what runs on a device) | "hlo_module"
        kind=_TEXT,
        name=_TEXT,
        begin=_I64,  # ns since origin; null: began before the window
        end=_I64,  # null: not ended in the window
        depth=_I32,
        parent=_I32,  # row of spans
        step=_I64,
        args=_TEXT,  # JSON
    ),
    # "from" is a Python keyword, hence source and target.
    "links": _schema(source=_I32, target=_I32, kind=_TEXT),
    "marks": _schema(
        device=_I16,
        event=_I64,
        time=_I64,
        kind=_TEXT,  # "out_of_memory" | "snapshot"
        text=_TEXT,
        values=_TEXT,  # JSON of integers
    ),
    **plan_schema.RECORDED,
}

#: Derived tables: worked out by analysis, kept in the cache only.
DERIVED: dict[str, pa.Schema] = {
    # One row a life. Null birth: before the window. Null death: not freed in the window.
    "allocations": _schema(
        device=_I16,
        address=_U64,
        requested=_I64,
        size=_I64,  # what the allocator gave; null where not known
        size_inferred=_BOOL,
        birth=_I64,  # ordinals within the device; alive after events birth … death - 1
        free_requested=_I64,
        death=_I64,
        birth_time=_I64,
        free_requested_time=_I64,
        death_time=_I64,
        birth_stack=_I32,
        death_stack=_I32,
        forward_stack=_I32,
        stream=_U64,
        pool=_I32,
        segment=_I32,  # row of segment_lives
        category=_I8,
        category_inferred=_BOOL,
        name=_TEXT,
        dtype=_TEXT,
        shape=_TEXT,
        op=_TEXT,
        module=_TEXT,
        region=_TEXT,
        annotation=_TEXT,  # innermost annotation at birth
        compile_context=_TEXT,
        user_metadata=_TEXT,
        step=_I64,
    ),
    # One row an event that moves allocated or reserved, and a first row a device (event -1) for
    # the state before the window. ``allocation`` is the row that was born or died, null where
    # the row is about reserved.
    "usage": _schema(
        device=_I16,
        event=_I64,
        time=_I64,
        allocated=_I64,
        reserved=_I64,
        allocation=_I32,
    ),
    # One row a mapped range, per life. Null birth/death as in allocations.
    "segment_lives": _schema(
        device=_I16,
        address=_U64,
        size=_I64,
        birth=_I64,
        death=_I64,
        pool=_I32,
        stream=_U64,
        kind=_TEXT,
        expandable=_BOOL,
        stack=_I32,
    ),
    # One row a row of allocations: where it stands in pictures in which nothing slides, in bytes
    # from the bottom.
    "positions": _schema(
        device=_I16,
        address=_I64,  # in the address space, without its holes
        lane=_I64,  # where no two that live at once overlap
    ),
    # One row a row of frames.
    "frame_kinds": _schema(
        kind=pa.uint8(),  # OWN … PLUMBING of analysis.telling
        label=_I32,  # the same for frames that people read alike
    ),
    # One row a row of stacks.
    "stack_names": _schema(
        content=_U64,  # hash of the frames, the same in every recording; 0 without frames
        same=_I32,  # the first stack with the same frames; -1 without frames
        own=_I32,  # row of frames: the innermost of the user's own, or the most telling
        python=_I32,  # row of frames: the innermost of Python, or the most telling
    ),
    **plan_schema.DERIVED,
    **trace_schema.DERIVED,
}

SCHEMAS: dict[str, pa.Schema] = {**RECORDED, **DERIVED}

#: Columns that the rows of a device-grouped table are sorted by, within the device.
ORDER: dict[str, tuple[str, ...]] = {
    "events": (),  # history order
    "labels": ("event", "address"),
    "blocks": ("address",),
    "segments": ("address",),
    "allocations": ("birth", "address"),  # nulls (before the window) first
    "usage": ("event",),
    "reported": ("event",),
    "segment_lives": ("birth", "address"),
}

#: Lives that had not ended stand after every ordinal.
AFTER = (1 << 63) - 1

_AFTER_COLUMNS = {
    "death",
    "free_requested",
    "death_time",
    "free_requested_time",
}
_ZERO_COLUMNS = {"address", "stream", "size", "requested"}
_BEFORE = -(1 << 63)


def sentinel(column: str) -> int:
    """The integer that stands in the value buffer of ``column`` where it is null.

    -1 for rows, codes and ordinals (a null birth is -1: before the first event); ``AFTER`` for
    ends of lives; the smallest int64 for ``birth_time`` and ``begin``; 0 for sizes and addresses.
    """
    if column in _AFTER_COLUMNS:
        return AFTER
    if column in ("birth_time", "begin"):
        return _BEFORE
    if column == "end":
        return AFTER
    if column in _ZERO_COLUMNS:
        return 0
    return -1
