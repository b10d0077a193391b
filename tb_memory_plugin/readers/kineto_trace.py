"""Traces that PyTorch's profiler exports (chrome JSON, plain or gzip) with ``profile_memory``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from tb_memory_plugin import heap
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import kineto_tables as made
from tb_memory_plugin.readers import limits, opening
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.glance import Progress, look, unheard
from tb_memory_plugin.readers.kineto_beginning import beginning
from tb_memory_plugin.readers.kineto_columns import Columns
from tb_memory_plugin.readers.kineto_memory import histories
from tb_memory_plugin.readers.kineto_meta import meta
from tb_memory_plugin.readers.kineto_program import Program
from tb_memory_plugin.readers.trace_stream import TraceStream
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.arrays import TooMuchText
from tb_memory_plugin.recording.recording import Recording

FORMAT = "kineto_trace"

#: Inflated bytes: a trace is not kept while it is read, and none is as long.
MOST_BYTES = 1 << 40

_NAMES = re.compile(r"\.pt\.trace\.json(\.gz)?$", re.IGNORECASE)
_JSON = re.compile(r"\.json(\.gz)?$", re.IGNORECASE)
_HEAD = re.compile(
    rb'"(traceEvents|schemaVersion|deviceProperties)"\s*:|\A\s*\[\s*\{[^{}]*"ph"\s*:'
)
#: XProf's own export of its trace viewer.
_XPROF = b'"highres-ticks"'
_REMEDY = "export the trace again with export_chrome_trace() and copy it whole"
_RECORD = "profile with torch.profiler.profile(profile_memory=True, with_stack=True)"
_READING = 0.8  # of the time goes to reading
#: From so many bytes on less memory matters more than the time it takes to have it anew.
_LONG = 256 << 20
_LARGE = 256 << 10


def matches(name: str, head: bytes) -> bool:
    """Whether a file of this name and first bytes is a trace, readable or not. No I/O."""
    if _NAMES.search(name):
        return True
    start = opening.inflated_head(head)
    return bool(_JSON.search(name) and _HEAD.search(start)) and _XPROF not in start


def probe(path: Path) -> dict[str, Any]:
    """``compressed``, ``bytes`` and ``meta`` of a file: what its beginning says of the latter.

    Raises SourceError where it cannot be read.
    """
    told, start = look(path)
    if start.lstrip()[:1] not in (b"{", b"["):
        raise SourceError(path.name, "is not JSON", _REMEDY)
    return {**told, "meta": beginning(start)}


def read(path: Path, progress: Progress | None = None, limit: int = MOST_BYTES) -> Recording:
    """The recorded tables of a trace. Raises SourceError.

    Reads the file as a stream: memory goes by what is kept, not by its length. Limits this
    process's memory meanwhile, so it belongs in a process of its own. A compressed file may unpack
    to ``limit`` bytes.
    """
    report = progress or unheard
    try:
        with limits.without_collector():
            columns, about = _columns(path, report, limit)
            report(_READING, "finding what allocated")
            return _recording(columns, about, path.name)
    except Malformed as error:
        raise SourceError(path.name, str(error), _REMEDY) from error
    except TooMuchText as error:
        raise SourceError(path.name, str(error), "trace fewer steps") from error


def _columns(path: Path, report: Progress, limit: int) -> tuple[Columns, dict[str, Any]]:
    columns = Columns()
    with opening.regular_file(path, path.name) as file:
        before = os.fstat(file.fileno())
        try:
            with limits.memory_ceiling(before.st_size) as grant:

                def seen(part: float, count: int) -> None:
                    if count > _LONG:
                        heap.give_back_at_once(_LARGE)
                    grant(count)
                    report(_READING * part, "reading")

                stream = TraceStream(opening.Stream(file, limit, seen).read)
                for batch in stream.batches():
                    columns.add(batch)
        except MemoryError:
            raise opening.out_of_memory(path.name) from None
        except Malformed:
            opening.check_unchanged(path.name, before, os.fstat(file.fileno()))
            raise
        opening.check_unchanged(path.name, before, os.fstat(file.fileno()))
    columns.mended = stream.mended
    return columns, stream.about


def _recording(columns: Columns, about: dict[str, Any], name: str) -> Recording:
    if not len(columns.memory):
        raise SourceError(
            name, "holds no memory events: it was traced without profile_memory", _RECORD
        )
    program = Program(columns)
    found = histories(columns.memory)
    begins = [int(found.time[one.rows.start]) for one in found.devices]
    first = program.first
    origin = min(begins if first is None else [first, *begins])
    marks = made.marks(columns.failures, found, origin)
    tables, lost = made.tables(columns, program, found, origin)
    tables["marks"] = marks
    facts = meta(columns, program, found, about, origin, lost)
    return builder.recording({"format": FORMAT, "basis": "size", "source": name, **facts}, tables)
