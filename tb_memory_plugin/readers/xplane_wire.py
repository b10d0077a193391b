"""The bytes of an XSpace to its planes, their lines left where they are.

A profile may hold millions of events. Its messages are walked down to the lines, which stay ranges
of the bytes for a columnar decoder (see ``xplane_events``); what else a plane has, its names and
stats, is small and decoded by protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tb_memory_plugin.readers.checked import Malformed

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_PLANES, _HOSTNAMES = 1, 4  # of XSpace
_NAME, _LINES, _EVENT_NAMES = 2, 3, 4  # of XPlane
_FAULT = "is not a valid XPlane: it is no protobuf, was cut off, or is still being written"
#: Planes of which events are looked at; the others' names of events may be whole HLO modules.
_LOOKED_AT = (b"/host:", b"/device:")
#: The plane of which events are HLO modules.
METADATA = b"/host:metadata"

Range = tuple[int, int]


@dataclass(frozen=True)
class Plane:
    """A plane: names of events and stats by id, its own stats, and where its lines are."""

    name: bytes
    lines: Sequence[Range]
    event_names: dict[int, bytes]
    stat_names: dict[int, bytes]
    stats: Sequence[Any]  # XStat
    size: int  # bytes
    modules: Sequence[Range] = ()  # of the plane of HLO modules: where each is
    #: What names of events are shown as, and stats (``XStat``, still bytes) of all such events.
    shown_names: Mapping[int, bytes] = field(default_factory=dict)
    event_stats: Mapping[int, Sequence[bytes]] = field(default_factory=dict)

    def said(self) -> dict[bytes, Any]:
        """The stats of the plane itself by name: bytes, an integer or a float each."""
        found = {}
        for stat in self.stats:
            name = self.stat_names.get(stat.metadata_id)
            if name:
                found[name] = stat.str_value or stat.int64_value or stat.uint64_value
        return found


def planes(data: bytes | bytearray) -> tuple[list[Plane], list[bytes]]:
    """The planes of an XSpace, and the names of its hosts. Raises Malformed."""
    found, hosts = [], []
    for number, wire, _, begin, end in fields(data, 0, len(data)):
        if number in (_PLANES, _HOSTNAMES) and wire != _LENGTH:
            raise Malformed(_FAULT)
        if number == _PLANES:
            found.append(_plane(data, begin, end))
        elif number == _HOSTNAMES:
            hosts.append(bytes(data[begin:end]))
    return found, hosts


def _plane(data: bytes | bytearray, begin: int, end: int) -> Plane:
    lines, rest, names, values = [], [], [], []
    name = b""
    for number, wire, start, first, last in fields(data, begin, end):
        if number == _LINES and wire == _LENGTH:
            lines.append((first, last))
        elif number == _EVENT_NAMES:
            names.append((start, last))
            values.append((first, last))
        else:
            rest.append((start, last))
            if number == _NAME and wire == _LENGTH:
                name = bytes(data[first:last])
    if name.startswith(_LOOKED_AT) and name != METADATA:
        rest += names
    about = parsed("XPlane", b"".join(data[start:last] for start, last in rest), _FAULT)
    return Plane(
        about.name,
        lines,
        {entry.key: entry.value.name for entry in about.event_metadata},
        {entry.key: entry.value.name for entry in about.stat_metadata},
        about.stats,
        end - begin,
        values if name == METADATA else (),
        {
            entry.key: entry.value.display_name
            for entry in about.event_metadata
            if entry.value.display_name
        },
        {
            entry.key: tuple(entry.value.stats)
            for entry in about.event_metadata
            if entry.value.stats
        },
    )


def parsed(message: str, data: bytes | bytearray, fault: str) -> Any:
    """``data`` as a ``message`` of ``proto.xplane``. Raises Malformed, saying ``fault``."""
    from google.protobuf.message import DecodeError

    from tb_memory_plugin.proto.xplane import xplane_classes

    try:
        return xplane_classes()[message].FromString(bytes(data))
    # The implementations of protobuf (C, Python) do not raise the same.
    except (DecodeError, RecursionError, ValueError, TypeError, IndexError):
        raise Malformed(fault) from None


def fields(data: bytes | bytearray, at: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """The fields of a message in ``data[at:end]``: number, wire type, where the field and its
    value begin, and where it ends. Raises Malformed.
    """
    while at < end:
        start = at
        tag, at = varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        first = at
        if wire == _LENGTH:
            length, first = varint(data, at, end)
            at = first + length
        elif wire == _VARINT:
            _, at = varint(data, at, end)
        elif wire in (_FIXED32, _FIXED64):
            at += 8 if wire == _FIXED64 else 4
        else:
            raise Malformed(_FAULT)
        if at > end or not number or tag >> 32:
            raise Malformed(_FAULT)
        yield number, wire, start, first, at


def varint(data: bytes | bytearray, at: int, end: int) -> tuple[int, int]:
    """The integer at ``at``, and where what follows begins. Raises Malformed."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise Malformed(_FAULT)
