"""What events of an XPlane say of themselves beyond name and time, as JSON objects.

Events keep their stats as bytes, each combination once (see ``xplane_events.Others``): words are
made of those only that a span is kept of.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping

import numpy as np

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.xplane_events import Others
from tb_memory_plugin.readers.xplane_wire import fields, varint
from tb_memory_plugin.readers.xplane_words import word
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.vocabulary import Vocabulary

#: Bytes of stats that are kept for all events, and of the words that are made of them.
MOST_BYTES, MOST_WORDS = 32 << 20, 64 << 20
#: What nobody reads, or what is another number in every event: the ids that say what goes with
#: what are read apart.
WITHOUT = frozenset(
    {
        *(b"_p", b"_pt", b"_c", b"_ct", b"_pid", b"_r", b"_a", b"step_num", b"group_id"),
        *(b"correlation_id", b"context_id", b"run_id", b"flow", b"id", b"request_id"),
        *(b"device_offset_ps", b"device_duration_ps", b"all_reduce_unique_id", b"symbol_id"),
        *(b"MemoryResidency_details", b"hbm_utilization_percent", b"self_duration_ps"),
    }
)
_MOST_TEXT = 1_000  # characters of one value
_MOST_EXACT = 1 << 53  # larger integers are not exact to who reads JSON
_ID, _REAL, _NATURAL, _INTEGER, _TEXT, _BYTES, _REFERENCE = range(1, 8)  # fields of XStat
_STATS, _LENGTH = 4, 2

Value = int | float | str
Said = dict[str, Value]


class Details:
    """Combinations of what is said of an event, by code; ``left_out`` of them had no room."""

    def __init__(self) -> None:
        self._room = np.array([MOST_BYTES], dtype=np.int64)
        self._known: Vocabulary = Vocabulary()
        self._plane: list[tuple[Mapping[int, bytes], Callable[[int], Said]]] = []
        self.left_out = 0

    def others(self) -> Others:
        """Where to collect the stats of the events of one more plane."""
        return Others({}, self._room)

    def plane(self, stat_names: Mapping[int, bytes], about: Callable[[int], Said]) -> int:
        """A number for a plane; ``about`` is what a code says of an event beside its stats."""
        self._plane.append((stat_names, about))
        return len(self._plane) - 1

    def codes(self, plane: int, about: IntArray, others: IntArray, known: Others) -> IntArray:
        """Codes of what events say: ``about`` by code, -1 for nothing; ``others`` of ``known``."""
        self.left_out += int((others == -2).sum())
        stats = list(known.known)
        width = len(stats) + 2
        distinct, place = np.unique((about + 1) * width + others + 2, return_inverse=True)
        codes = []
        for one in distinct.tolist():
            of, code = one // width - 1, one % width - 2
            said = (plane, of, stats[code] if code >= 0 else b"")
            codes.append(self._known.code(said if of >= 0 or code >= 0 else None))
        found: IntArray = np.array(codes, dtype=np.int32)[place.reshape(-1)]
        return found

    def texts(self, codes: IntArray) -> tuple[IntArray, list[str]]:
        """Codes of words for ``codes``, -1 for nothing, and the words: JSON objects."""
        words, known, spent = Vocabulary(), self._known.words, 0
        used = np.flatnonzero(np.bincount(codes + 1, minlength=1)[1:])
        of = np.full(len(known) + 1, -1, dtype=np.int32)
        for code in used.tolist():
            plane, about, stats = known[code]
            stat_names, says = self._plane[plane]
            said = {**(says(about) if about >= 0 else {}), **decoded(stats, stat_names)}
            made = json.dumps(said, ensure_ascii=False) if said else None
            if made is not None and made not in words.codes:
                spent += len(made)
            if spent > MOST_WORDS:
                self.left_out += int(np.isin(codes, used[used >= code]).sum())
                break
            of[code] = words.code(made)
        return of[codes], words.words


def decoded(stats: bytes, stat_names: Mapping[int, bytes]) -> Said:
    """What stats, fields of an ``XEvent``, say by name."""
    found: Said = {}
    for number, wire, _, begin, end in fields(stats, 0, len(stats)):
        if number == _STATS and wire == _LENGTH:
            found.update(stat(stats[begin:end], stat_names))
    return found


def stat(data: bytes, stat_names: Mapping[int, bytes]) -> Said:
    """What one ``XStat`` says: nothing where it has no name, or where it is bytes or none."""
    key, value = 0, None
    try:
        for number, _, _, begin, end in fields(data, 0, len(data)):
            if number == _ID:
                key = _signed(varint(data, begin, end)[0])
            elif number == _REAL:
                value = struct.unpack("<d", data[begin:end])[0]
            elif number == _REFERENCE:
                value = stat_names.get(varint(data, begin, end)[0])
            elif number == _NATURAL:
                value = varint(data, begin, end)[0]
            elif number == _INTEGER:
                value = _signed(varint(data, begin, end)[0])
            elif number in (_TEXT, _BYTES):
                value = data[begin:end] if number == _TEXT else None
    except (Malformed, struct.error):
        return {}
    name = stat_names.get(key)
    if not name or name in WITHOUT or value is None:
        return {}
    return {word(name): _shown(value)}


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def shortened(text: str) -> str:
    """``text``, cut where it is very long."""
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _shown(value: int | float | bytes) -> Value:
    if isinstance(value, bytes):
        return shortened(word(value))
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return value if abs(value) < _MOST_EXACT else str(value)
