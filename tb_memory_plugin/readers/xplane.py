"""Profiles of JAX and TensorFlow (``*.xplane.pb``) with the events of allocators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import opening
from tb_memory_plugin.readers import xplane_tables as made
from tb_memory_plugin.readers import xplane_wire as wire
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.glance import Progress, look, unheard
from tb_memory_plugin.readers.hlo_tables import tables as planned
from tb_memory_plugin.readers.whole import reading
from tb_memory_plugin.readers.xplane_memory import check, histories
from tb_memory_plugin.readers.xplane_meta import host_of, meta, session_of
from tb_memory_plugin.readers.xplane_modules import modules
from tb_memory_plugin.readers.xplane_planes import Planes
from tb_memory_plugin.readers.xplane_untraced import Untraced, untraced
from tb_memory_plugin.readers.xplane_words import word
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.arrays import TooMuchText
from tb_memory_plugin.recording.recording import Recording

FORMAT = "xplane"

#: Inflated bytes: no protobuf may be longer.
MOST_BYTES = (1 << 31) - 1

_NAMES = re.compile(r"\.xplane\.pb(\.gz)?$", re.IGNORECASE)
_PROTOBUF = re.compile(r"\.pb(\.gz)?$", re.IGNORECASE)
#: A first plane, of any length and id, with a name that profilers give to planes.
_HEAD = re.compile(
    rb"\A\n[\x80-\xff]{0,4}[\0-\x7f](\x08[\x80-\xff]{0,9}[\0-\x7f])?"
    rb"\x12[\0-\x7f](/host:|/device:|Task Environment)",
    re.DOTALL,
)
#: What a text conversion makes of a byte that is not UTF-8.
_REPLACED = b"\xef\xbf\xbd"
_REMEDY = "profile again and copy the file whole, as binary"
_READING, _DECODING = 0.3, 0.6  # of the time


def matches(name: str, head: bytes) -> bool:
    """Whether a file is an XPlane by its name or, where that is another ``.pb``, its content."""
    if _NAMES.search(name):
        return True
    return bool(_PROTOBUF.search(name)) and _HEAD.match(opening.inflated_head(head)) is not None


def probe(path: Path) -> dict[str, Any]:
    """``compressed`` and ``bytes`` of a file. Raises SourceError where it cannot be read."""
    told, _ = look(path)
    return told


def read(path: Path, progress: Progress | None = None, limit: int = MOST_BYTES) -> Recording:
    """The recorded tables of a profile, of at most ``limit`` inflated bytes. Raises SourceError."""
    report = progress or unheard
    try:
        with reading(path, limit, report, _READING) as data:
            try:
                return _recording(data, path, report)
            except (Malformed, _NoMemory) as error:
                if _is_converted(data):
                    raise Malformed(_CONVERTED) from error
                raise
    except _NoMemory as error:
        raise SourceError(path.name, error.why.fault, error.why.remedy) from error
    except (Malformed, TooMuchText) as error:
        raise SourceError(path.name, str(error), _REMEDY) from error


_CONVERTED = "was ruined by a conversion to text: its bytes that are no UTF-8 were replaced"


class _NoMemory(ValueError):
    """A profile without any event of memory, and why."""

    def __init__(self, why: Untraced) -> None:
        super().__init__(why.fault)
        self.why = why


def _is_converted(data: bytearray) -> bool:
    """Whether bytes were replaced as a conversion to text does: none above 0x7f was left alone."""
    if _REPLACED not in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _recording(data: bytearray, path: Path, report: Progress) -> Recording:
    found, hosts = wire.planes(data)
    planes, size = Planes(), sum(plane.size for plane in found) or 1
    done = 0
    for plane in found:
        report(_READING + (_DECODING - _READING) * done / size, "decoding events")
        planes.add(plane, data)
        done += plane.size
    plan, unread = modules(found, data, planes.devices)
    report(_DECODING, "ordering allocations")
    events = planes.events()
    if events is None:
        why = untraced(planes, found)
        if not len(plan.rows["modules"]):
            raise _NoMemory(why)
        missing = {
            "what": "allocator events",
            "why": _sentence(why.fault),
            "remedy": _sentence(why.remedy),
        }
        lacking = {"devices": [], "missing": [missing], "problems": unread, "has_history": False}
        return _made({**lacking, **_named(path, hosts)}, planned(plan))
    check(events)
    data.clear()
    memory = histories(events, planes.words["device"].words, planes.driver.devices)
    del events
    planes.program.settle()
    begins = [int(memory.events.time.min()), *planes.begins()]
    origin = min(begins)
    tables = made.tables(planes, memory, origin)
    facts: dict[str, Any] = meta(found, planes, memory, tables, origin)
    facts["problems"] += unread
    if len(plan.rows["modules"]):
        tables |= planned(plan, tables)
    return _made({**facts, **_named(path, hosts)}, tables)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _made(facts: dict[str, Any], tables: dict[str, pa.Table]) -> Recording:
    return builder.recording({"format": FORMAT, "basis": "size", **facts}, tables)


def _named(path: Path, hosts: Sequence[bytes]) -> dict[str, Any]:
    host = next((word(name) for name in hosts if name), None) or host_of(path.name)
    return {"source": path.name, "host": host, "session": session_of(path)}
