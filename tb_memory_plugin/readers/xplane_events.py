"""Lines of an XPlane, bytes of ``XLine`` each, as columns of integers.

Where the package was built with a C compiler, ``_xlines`` decodes lines that are regular; what it
does not take, and everything where it is missing or ``TB_MEMORY_PURE_PYTHON`` is set, is decoded by
protobuf, to the same columns.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.xplane_wire import Range, fields, parsed
from tb_memory_plugin.recording.arrays import IntArray

_compiled: Any = None
if not os.environ.get("TB_MEMORY_PURE_PYTHON"):
    with suppress(ImportError):  # where there was no compiler
        from tb_memory_plugin.readers import _xlines as _compiled

#: What becomes of a stat's value: the integer, the bits of the real, the code of a text, nothing.
INTEGER, REAL, TEXT, NUMBER_AS_TEXT, NOTHING_OF_IT = range(5)

#: Stats that are read (xla/tsl/profiler/utils/xplane_schema.cc): the column each fills, and how.
#: Of those that fill the same column the last in an event stays, as in XProf.
STATS: dict[bytes, tuple[str, int]] = {
    b"allocator_name": ("device", TEXT),
    b"index_on_host": ("device", NUMBER_AS_TEXT),
    b"device_ordinal": ("device", NUMBER_AS_TEXT),
    b"bytes_reserved": ("stack", INTEGER),
    b"bytes_allocated": ("allocated", INTEGER),
    b"bytes_available": ("free", INTEGER),
    b"fragmentation": ("fragmentation", REAL),
    b"peak_bytes_in_use": ("lifetime_peak", INTEGER),
    b"requested_bytes": ("requested", INTEGER),
    b"allocation_bytes": ("size", INTEGER),
    b"addr": ("address", INTEGER),
    b"tf_op": ("op", TEXT),
    b"group_id": ("group", INTEGER),
    b"region_type": ("region", TEXT),
    b"data_type": ("dtype", INTEGER),
    b"tensor_shapes": ("shape", TEXT),
    b"shape": ("shape", TEXT),
    b"step_num": ("step", INTEGER),
    b"hlo_module": ("module", TEXT),
    b"program_id": ("program", INTEGER),
    b"MemoryResidency_details": ("residency", TEXT),
    b"memalloc_details": ("driver_alloc", TEXT),
    b"MemFree_details": ("driver_free", TEXT),
    b"hbm_utilization_percent": ("bandwidth", INTEGER),
}
#: Likewise of what a program and its devices did: which other event each goes with.
TRACED: dict[bytes, tuple[str, int]] = {
    b"step_num": ("step", INTEGER),
    b"_p": ("producer", INTEGER),
    b"_pt": ("producer_type", INTEGER),
    b"_c": ("consumer", INTEGER),
    b"_ct": ("consumer_type", INTEGER),
    b"correlation_id": ("correlation", INTEGER),
    b"run_id": ("run", INTEGER),
    b"device_ordinal": ("ordinal", INTEGER),
}
#: What every row has before the stats. ``seen`` has a bit for each stat's column that is filled.
HEAD = ("kind", "offset", "duration", "seen")
#: How many those are.
FIRST = len(HEAD)
_MOST_REFERENCE = 1 << 62
#: Bytes of the stats of one event, and what each combination of such costs beside its bytes.
MOST_OTHERS, COST_OF_OTHERS = 4_096, 64
_NO_EVENT = "holds an event that is no valid protobuf"
_NO_LINE = "holds a line that is no valid protobuf"
_STATS, _LENGTH = 4, 2  # of XEvent; the wire type of messages
_BATCH = 1 << 18


@dataclass(frozen=True)
class Others:
    """All stats of an event that are not named, each combination once.

    ``known`` holds their bytes, fields of ``XEvent``, and the code of each; -1 is none, -2 one for
    which there was no room. ``room`` is a single integer: how many bytes there may still be.
    """

    known: dict[bytes, int]
    room: IntArray


@dataclass(frozen=True)
class Wish:
    """What to read of the lines of a plane.

    Attributes:
        names: the columns that stats fill.
        stats: rows of (id, place in ``names``, how) by the plane's ids.
        kinds: ids of events, ``listed`` to be read, or to be left out.
        others: where a column ``others`` is wanted, what it is the codes of.
    """

    names: tuple[str, ...]
    stats: IntArray
    kinds: IntArray
    listed: bool
    others: Others | None = None

    @property
    def width(self) -> int:
        """How many columns a table has."""
        return FIRST + len(self.names)


def wish(
    names: Sequence[str],
    stat_names: Mapping[int, bytes],
    kinds: Iterable[int] = (),
    *,
    listed: bool = False,
    known: Mapping[bytes, tuple[str, int]] = STATS,
    others: Others | None = None,
    without: Collection[bytes] = (),
) -> Wish:
    """Of a plane the columns ``names`` of the events of ``kinds``, or of all the others.

    ``known`` says which stats fill columns. With ``others`` a last column is of all stats that
    fill none and are not among the ``without``.
    """
    place = {name: at for at, name in enumerate(names)}
    found = [
        (key, place[known[name][0]], known[name][1])
        for key, name in stat_names.items()
        if name in known and known[name][0] in place
    ]
    if others is not None:
        found += [
            (key, 0, NOTHING_OF_IT)
            for key, name in stat_names.items()
            if name in without and known.get(name, ("",))[0] not in place
        ]
        names = (*names, "others")
    stats = np.array(found, dtype=np.int64).reshape(-1, 3)
    return Wish(tuple(names), stats, np.array(list(kinds), dtype=np.int64), listed, others)


class Table:
    """Events as columns: those of ``HEAD``, then those that stats fill."""

    def __init__(self, names: Sequence[str], count: int) -> None:
        self.names = (*HEAD, *names)
        self.columns = np.empty((len(self.names), count), dtype=np.int64)

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    def column(self, name: str) -> IntArray:
        """A column; 0 where no stat fills it."""
        found: IntArray = self.columns[self.names.index(name)]
        return found

    def seen(self, name: str) -> IntArray:
        """Which rows have the column ``name`` from a stat."""
        bit = self.names.index(name) - FIRST
        found: IntArray = self.columns[3] >> bit & 1 != 0
        return found


class Line:
    """A line of a plane: its names, when it begins, and its events, still bytes.

    ``listed`` of them are of the ``kinds`` it was opened with, ``others`` are not. Raises
    Malformed.
    """

    def __init__(self, data: bytes | bytearray, place: Range, kinds: IntArray) -> None:
        self._data, self._place, self._message = data, place, None
        made = _compiled and _compiled.outline(data, *place, kinds.tobytes())
        if made is None:
            line = parsed("XLine", data[slice(*place)], _NO_LINE)
            self._message = line
            wanted = set(kinds.tolist())
            total = len(line.events)
            listed = sum(_event(event).metadata_id in wanted for event in line.events)
            made = (listed, total - listed, line.timestamp_ns, line.name, line.display_name)
        self.listed: int = made[0]
        self.others: int = made[1]
        self.timestamp_ns: int = made[2]
        self.name: bytes = made[3]
        self.display_name: bytes = made[4]

    def count(self, wanted: Wish) -> int:
        """How many events are ``wanted``, of the kinds the line was opened with."""
        return self.listed if wanted.listed else self.others

    def fill(self, wanted: Wish, texts: dict[bytes, int], table: Table, row: int) -> None:
        """Put the ``wanted`` events into ``table`` from ``row`` on.

        A text is its code in ``texts``, which grows; a text that is another stat's name is -2
        minus that stat's id; -1 is none. Raises Malformed.
        """
        done, others = None, wanted.others
        if self._message is None:
            more = () if others is None else (len(wanted.names) - 1, others.known, others.room)
            done = _compiled.fill(
                self._data,
                *self._place,
                wanted.kinds.tobytes(),
                wanted.listed,
                wanted.stats.tobytes(),
                texts,
                table.columns,
                row,
                *more,
            )
        if done is None:
            rows = list(_rows(self._events(), wanted, texts))
            made = np.array(rows, dtype=np.int64).reshape(-1, wanted.width)
            table.columns[:, row : row + len(made)] = made.T

    def _events(self) -> Sequence[bytes]:
        if self._message is None:
            self._message = parsed("XLine", self._data[slice(*self._place)], _NO_LINE)
        events: Sequence[bytes] = self._message.events
        return events


def table(lines: Sequence[Line], wanted: Wish, texts: dict[bytes, int]) -> tuple[Table, IntArray]:
    """The ``wanted`` events of ``lines``, one line after the other, and the line of each.

    Raises Malformed.
    """
    counts = [line.count(wanted) for line in lines]
    made, row = Table(wanted.names, sum(counts)), 0
    for line, count in zip(lines, counts, strict=True):
        if count:
            line.fill(wanted, texts, made, row)
            row += count
    return made, np.repeat(np.arange(len(lines), dtype=np.int32), counts)


def batches(lines: Sequence[Line], wanted: Wish) -> Iterator[Sequence[Line]]:
    """``lines`` in parts of not too many ``wanted`` events, or of one line."""
    first = count = 0
    for place, line in enumerate(lines):
        count += line.count(wanted)
        if count >= _BATCH:
            yield lines[first : place + 1]
            first, count = place + 1, 0
    if first < len(lines):
        yield lines[first:]


def _event(data: bytes) -> Any:
    return parsed("XEvent", data, _NO_EVENT)


def _rows(events: Sequence[bytes], wanted: Wish, texts: dict[bytes, int]) -> Iterator[list[int]]:
    known = {key: (place, how) for key, place, how in wanted.stats.tolist()}
    others = wanted.others
    kinds, empty = set(wanted.kinds.tolist()), [0] * len(wanted.names)
    for data in events:
        event = _event(data)
        if (event.metadata_id in kinds) != wanted.listed:
            continue
        values, filled = empty.copy(), 0
        for stat in event.stats:
            place, how = known.get(stat.metadata_id, (-1, 0))
            if place >= 0 and how != NOTHING_OF_IT:
                values[place] = _value(stat, how, texts)
                filled |= 1 << place
        if others is not None:
            named = [stat.metadata_id in known for stat in event.stats]
            values[-1] = _code_of_others(_without(data, named), others)
        yield [event.metadata_id, event.offset_ps, event.duration_ps, filled, *values]


def _without(data: bytes, named: Sequence[bool]) -> bytes:
    """The stats of an event that are not ``named``, as they lie in it; nothing of odd events."""
    try:
        stats = [
            data[start:end]
            for number, wire, start, _, end in fields(data, 0, len(data))
            if number == _STATS and wire == _LENGTH
        ]
    except Malformed:
        return b""
    return b"".join(part for part, left in zip(stats, named, strict=True) if not left)


def _code_of_others(data: bytes, others: Others) -> int:
    if not data or len(data) > MOST_OTHERS:
        return -2 if data else -1
    code = others.known.get(data, -2)
    if code < 0 and others.room[0] >= len(data) + COST_OF_OTHERS:
        others.room[0] -= len(data) + COST_OF_OTHERS
        code = others.known[data] = len(others.known)
    return code


def _value(stat: Any, how: int, texts: dict[bytes, int]) -> int:
    if how == TEXT:
        if stat.str_value:
            return texts.setdefault(stat.str_value, len(texts))
        if stat.ref_value > _MOST_REFERENCE:
            raise Malformed("refers to a text that it does not have")
        return -2 - int(stat.ref_value) if stat.ref_value else -1
    integer: int = stat.int64_value or stat.uint64_value
    integer -= (integer >> 63 & 1) << 64 if integer > 0 else 0
    if how == REAL:  # profilers write a whole number as an integer
        (bits,) = struct.unpack("<q", struct.pack("<d", stat.double_value or float(integer)))
        return int(bits)
    if how == NUMBER_AS_TEXT:
        return texts.setdefault(b"%d" % integer, len(texts))
    return integer
