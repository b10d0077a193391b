"""Events of an XPlane's line, bytes of ``XEvent`` each, as rows of integers.

Where the package was built with a C compiler, ``_xevents`` decodes events that are regular; what it
does not take, and everything where it is missing or ``TB_MEMORY_PURE_PYTHON`` is set, is decoded by
protobuf, to the same rows.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.recording.arrays import IntArray

_compiled: Any = None
if not os.environ.get("TB_MEMORY_PURE_PYTHON"):
    with suppress(ImportError):  # where there was no compiler
        from tb_memory_plugin.readers import _xevents as _compiled

#: What becomes of a stat's value: the integer, the bits of the real, the code of a text.
INTEGER, REAL, TEXT, NUMBER_AS_TEXT = range(4)

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
}
#: The columns of a row. ``seen`` has a bit for each that a stat filled, from ``FIRST`` on.
COLUMNS = ("kind", "offset", "duration", "seen", *dict.fromkeys(name for name, _ in STATS.values()))
FIRST = 4
_PLACE = {name: place - FIRST for place, name in enumerate(COLUMNS)}
_STEP = 1 << _PLACE["step"]
_MOST_REFERENCE = 1 << 62


def stats_of(names: Iterable[tuple[int, bytes]]) -> IntArray:
    """What to read by the ids of a plane's stats: rows of (id, column, how)."""
    found = [(key, _PLACE[STATS[name][0]], STATS[name][1]) for key, name in names if name in STATS]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def rows(
    events: list[bytes],
    stats: IntArray,
    wanted: Sequence[int],
    texts: dict[bytes, int],
    *,
    every: bool = False,
) -> IntArray:
    """A row of ``COLUMNS`` for each event of a ``wanted`` kind, each step, or ``every`` event.

    A text is its code in ``texts``, which grows; a text that is another stat's name is -2 minus
    that stat's id; -1 is none. Raises Malformed.
    """
    kinds = np.array(wanted, dtype=np.int64)
    width = len(COLUMNS) - FIRST
    found = _compiled and _compiled.rows(
        events, stats.tobytes(), kinds.tobytes(), _STEP, every, width, texts
    )
    if found is None:
        return _rows(events, stats, set(wanted), texts, every)
    return np.frombuffer(found, dtype=np.int64).reshape(-1, len(COLUMNS))


def seen(table: IntArray, name: str) -> IntArray:
    """Which rows have the column ``name`` from a stat."""
    found: IntArray = table[:, COLUMNS.index("seen")] >> _PLACE[name] & 1 != 0
    return found


def column(table: IntArray, name: str) -> IntArray:
    """A column of rows; 0 where no stat fills it."""
    found: IntArray = table[:, COLUMNS.index(name)]
    return found


def _rows(
    events: list[bytes], stats: IntArray, wanted: set[int], texts: dict[bytes, int], every: bool
) -> IntArray:
    from google.protobuf.message import DecodeError

    from tb_memory_plugin.proto.xplane import xplane_classes

    parse = xplane_classes()["XEvent"].FromString
    known = {key: (place, how) for key, place, how in stats.tolist()}
    empty = [0] * (len(COLUMNS) - FIRST)
    found: list[list[int]] = []
    for data in events:
        try:
            event: Any = parse(data)
        # The implementations of protobuf (C, Python) do not raise the same.
        except (DecodeError, RecursionError, ValueError, TypeError, IndexError):
            raise Malformed("holds an event that is no valid protobuf") from None
        values, filled = empty.copy(), 0
        for stat in event.stats:
            place, how = known.get(stat.metadata_id, (-1, 0))
            if place >= 0:
                values[place] = _value(stat, how, texts)
                filled |= 1 << place
        kind = event.metadata_id
        if every or kind in wanted or filled & _STEP:
            found.append([kind, event.offset_ps, event.duration_ps, filled, *values])
    return np.array(found, dtype=np.int64).reshape(-1, len(COLUMNS))


def _value(stat: Any, how: int, texts: dict[bytes, int]) -> int:
    if how == REAL:
        (bits,) = struct.unpack("<q", struct.pack("<d", stat.double_value))
        return int(bits)
    if how == TEXT:
        if stat.str_value:
            return texts.setdefault(stat.str_value, len(texts))
        if stat.ref_value > _MOST_REFERENCE:
            raise Malformed("refers to a text that it does not have")
        return -2 - int(stat.ref_value) if stat.ref_value else -1
    integer: int = stat.int64_value or stat.uint64_value
    integer -= (integer >> 63 & 1) << 64 if integer > 0 else 0
    if how == NUMBER_AS_TEXT:
        return texts.setdefault(b"%d" % integer, len(texts))
    return integer
