"""PyTorch memory snapshots, pickled or JSON, plain or gzip, to recordings."""

from __future__ import annotations

import io
import json
import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import limits, opening, unpickle
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.glance import Progress, unheard
from tb_memory_plugin.readers.torch_structure import FORMAT, from_structure
from tb_memory_plugin.recording.recording import Recording

__all__ = ["FORMAT", "from_structure", "matches", "probe", "read"]

_NAMES = re.compile(r"\.(pickle|pkl)(\.gz)?$", re.IGNORECASE)
_JSON = re.compile(
    rb'\s*(\{\s*"(segments|device_traces|external_annotations|allocator_settings)"'
    rb'|\[\s*\{\s*"(device|address|total_size|blocks)")'
)
_PICKLED = (b"segments", b"device_traces", b"segment_type")
_BUFFER = 1 << 18
_READING = 0.6  # of the time goes to unpickling
_DUMP_AGAIN = "dump the snapshot again with torch.cuda.memory._dump_snapshot() and copy it whole"
_REFUSED = "delete it unless you trust where it is from; a real snapshot asks for nothing"


def matches(name: str, head: bytes) -> bool:
    """Whether a file of this name and first bytes is one of ours, readable or not."""
    if _NAMES.search(name):
        return True
    start = opening.inflated_head(head)
    if unpickle.protocol(start) is not None:
        return any(word in start for word in _PICKLED)
    return _JSON.match(start) is not None


def probe(path: Path) -> dict[str, Any]:
    """``encoding`` (pickle or json), ``protocol``, ``compressed`` and ``bytes`` of a file.

    Reads its two ends only. Raises SourceError where these already say it cannot be read.
    """
    with opening.regular_file(path, path.name) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(opening.HEAD)
        compressed = head.startswith(opening.GZIP_MAGIC)
        start = opening.inflated_head(head)
        protocol = unpickle.protocol(start)
        _check_start(path.name, start, protocol)
        if protocol is not None and not compressed:
            file.seek(size - 1)
            if file.read(1) != b".":
                raise _not_whole(path.name)
    encoding = "json" if protocol is None else "pickle"
    return {"encoding": encoding, "protocol": protocol, "compressed": compressed, "bytes": size}


def read(path: Path, progress: Progress | None = None, limit: int | None = None) -> Recording:
    """The recorded tables of a snapshot. Raises SourceError.

    Runs no code of the file. Limits this process's memory while it reads and switches the
    garbage collector off, so it belongs in a process of its own. A compressed file may unpack to
    ``limit`` bytes, by default half of the memory there is.
    """
    report = progress or unheard
    with limits.without_collector():
        structure = _structure(path, report, limit)
        return from_structure(
            structure,
            path.name,
            consume=True,
            progress=lambda part, phase: report(_READING + (1 - _READING) * part, phase),
        )


def _structure(path: Path, report: Progress, limit: int | None) -> Any:
    name = path.name
    unpacked = limits.available() // 2 if limit is None else limit
    with opening.regular_file(path, name) as file, ExitStack() as stack:
        before = os.fstat(file.fileno())
        grant = stack.enter_context(limits.memory_ceiling(before.st_size))

        def seen(part: float, count: int) -> None:
            grant(count)
            report(_READING * part, "reading")

        try:
            stream = opening.Stream(file, unpacked, seen)
            structure = _decoded(io.BufferedReader(stream, _BUFFER), name)
        except (SourceError, MemoryError, Malformed) as error:
            opening.check_unchanged(name, before, os.fstat(file.fileno()))
            raise _sentence(name, error) from error
        opening.check_unchanged(name, before, os.fstat(file.fileno()))
        return structure


def _decoded(buffered: io.BufferedReader, name: str) -> Any:
    start = buffered.peek(opening.HEAD)
    protocol = unpickle.protocol(start)
    _check_start(name, start, protocol)
    if protocol is not None:
        return unpickle.load(buffered)
    try:
        return json.loads(buffered.read())
    except UnicodeDecodeError:
        raise Malformed("is JSON in an unknown encoding, or damaged") from None
    except ValueError as error:
        raise Malformed(f"is not valid JSON ({str(error)[:80]})") from None
    except RecursionError:
        raise Malformed("is nested too deeply") from None


def _check_start(name: str, start: bytes, protocol: int | None) -> None:
    if protocol is None:
        if start.lstrip()[:1] not in (b"{", b"["):
            raise SourceError(name, "is neither a pickle nor JSON", _DUMP_AGAIN)
    elif not unpickle.OLDEST <= protocol <= unpickle.NEWEST:
        raise SourceError(
            name,
            f"is a pickle of protocol {protocol}; protocols {unpickle.OLDEST} to "
            f"{unpickle.NEWEST} are known",
            "dump the snapshot with torch.cuda.memory._dump_snapshot()",
        )


def _sentence(name: str, error: Exception) -> SourceError:
    if isinstance(error, SourceError):
        return error
    if isinstance(error, MemoryError):
        return opening.out_of_memory(name)
    remedy = _REFUSED if isinstance(error, unpickle.Refused) else _DUMP_AGAIN
    return SourceError(name, str(error), remedy)


def _not_whole(name: str) -> SourceError:
    return SourceError(
        name, "ends in the middle: it was cut off or is still being written", _DUMP_AGAIN
    )
