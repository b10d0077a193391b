"""HLO modules by themselves: ``*.hlo_proto.pb`` of a profile, and what XLA dumps.

XLA writes ``*.hlo.pb`` where it is told ``--xla_dump_to=FOLDER --xla_dump_hlo_as_proto``; those
written after buffer assignment hold the plan, the others only the program (``hlo_names``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.glance import Progress, look, unheard
from tb_memory_plugin.readers.hlo_glance import holds_plan
from tb_memory_plugin.readers.hlo_module import Modules
from tb_memory_plugin.readers.hlo_names import may_hold_plan, platform_of
from tb_memory_plugin.readers.hlo_tables import tables
from tb_memory_plugin.readers.whole import reading
from tb_memory_plugin.readers.xplane_meta import session_of
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.arrays import TooMuchText
from tb_memory_plugin.recording.recording import Recording

FORMAT = "hlo"

#: Inflated bytes: no protobuf may be longer.
MOST_BYTES = (1 << 31) - 1

_REMEDY = "profile or dump it again, and copy it whole, as binary"
_UNPLANNED = {
    "what": "buffer assignment",
    "why": "The file holds the program alone, not the compiler's plan for its memory",
    "remedy": "Dump with XLA_FLAGS=--xla_dump_to=FOLDER --xla_dump_hlo_as_proto and open "
    "*cpu_after_optimizations, *gpu_after_optimizations or *after_buffer_assignment of the module, "
    "or take a profile",
}
_READING = 0.4  # of the time


def matches(name: str, head: bytes) -> bool:
    """Whether a file is a module with a plan by its name: its content is like any protobuf's."""
    del head
    return may_hold_plan(name)


def probe(path: Path) -> dict[str, Any]:
    """``compressed`` and ``bytes`` of a file, and ``planned`` (None: not known).

    Raises SourceError where it cannot be read.
    """
    told, _ = look(path)
    return {**told, "planned": holds_plan(path)}


def read(path: Path, progress: Progress | None = None, limit: int = MOST_BYTES) -> Recording:
    """The recorded tables of a module, of at most ``limit`` inflated bytes. Raises SourceError."""
    report = progress or unheard
    try:
        with reading(path, limit, report, _READING) as data:
            report(_READING, "decoding the module")
            proto = parsed(bytes(data))
            modules = Modules()
            modules.add(proto, platform_of(path.name))
            report(0.9, "making tables")
            made = tables(modules)
    except Malformed as error:
        fault = f"is not a valid HLO module: {error}"
        raise SourceError(path.name, fault, _REMEDY) from error
    except TooMuchText as error:
        raise SourceError(path.name, str(error), _REMEDY) from error
    return builder.recording(
        {
            "format": FORMAT,
            "basis": "size",
            "source": path.name,
            "devices": [],
            "has_history": False,
            "missing": [] if any(modules.rows["modules"].columns["planned"]) else [_UNPLANNED],
            "session": session_of(path),
        },
        made,
    )


def parsed(data: bytes) -> Any:
    """``data`` as an ``HloProto``. Raises Malformed."""
    from google.protobuf.message import DecodeError

    from tb_memory_plugin.proto.hlo import hlo_classes

    try:
        found = hlo_classes()["HloProto"].FromString(data)
    # The implementations of protobuf (C, Python) do not raise the same.
    except (DecodeError, RecursionError, ValueError, TypeError, IndexError):
        raise Malformed("it is no protobuf, was cut off, or is still being written") from None
    if not (found.hlo_module.name or found.hlo_module.computations):
        raise Malformed("it has no module")
    return found
