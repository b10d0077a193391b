"""What events of a Kineto trace say of themselves, without what makes each of them unique."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.trace_stream import NOT_JSON
from tb_memory_plugin.recording.arrays import IntArray

#: Bytes that the words take while a trace is read: those that come later are left out.
MOST = 64 << 20
#: Bytes from which on numbers of autograd functions, of which each operator has another, are too.
SPARING = MOST // 4
#: What a word takes beside its text: an object and its place among the codes.
_EACH = 150
#: Characters of a value, and of all of an event's; of a longer list as much as fits is kept.
LONGEST, _LONGEST_ALL = 400, 4_000
_NOTHING: tuple[Any, ...] = ("", [], {}, None)

#: What is another for every event, or known from elsewhere: ids, numbers of calls, the times.
_UNIQUE = (
    "External id|external id|external ts|correlation|Ev Idx|Record function id|finished|cbid|cid"
    r"|queued|context|Device|Trace name|Trace iteration|Call stack|memory bandwidth \(GB/s\)"
    "|Python id|Python parent id|Python module id"
)
_SEQUENCES = "Sequence number|Fwd thread id"
_VALUE = r'"\s*:\s*(?:[-\d.eE+]+|"[^"\\]*(?:\\.[^"\\]*)*"|[a-z]+)\s*,?\s*'
_unique = re.compile(f'"(?:{_UNIQUE}){_VALUE}'.encode())
_unique_or_sequence = re.compile(f'"(?:{_UNIQUE}|{_SEQUENCES}){_VALUE}'.encode())
_LAST_COMMA = re.compile(rb",\s*\}\s*\Z")
BETWEEN = b"\0"  # which no JSON holds


class Arguments:
    """The words that arguments are, as JSON, by code.

    ``left_out`` counts those that are none, as there were too many.
    """

    def __init__(self) -> None:
        self._codes: dict[bytes, int] = {}
        self._size = 0
        self.left_out = 0

    def codes(self, joined: bytes) -> list[int]:
        """The codes of arguments, JSON as in the file with ``BETWEEN`` between them; -1 for none.

        At least one.
        """
        pattern = _unique if self._size < SPARING else _unique_or_sequence
        known = self._codes
        found = []
        for word in pattern.sub(b"", joined).split(BETWEEN):
            code = known.get(word)
            if code is None:
                code = self._code(word)
            found.append(code)
        return found

    def _code(self, word: bytes) -> int:
        if len(word) < 3:  # an empty object
            return -1
        self._size += len(word) + _EACH
        if self._size > MOST:
            self._size = MOST
            self.left_out += 1
            return -1
        return self._codes.setdefault(word, len(self._codes))

    def saying(self, part: bytes) -> IntArray:
        """Whether each word, by code, has ``part`` in it; last and of -1, that it does not."""
        return np.array([*(part in word for word in self._codes), False], dtype=bool)

    def take(self) -> tuple[IntArray, list[str]]:
        """Of every code and then of -1 the place of its word, -1 for none; and the words.

        Nothing is kept here.
        """
        places: dict[str, int] = {}
        found = np.full(len(self._codes) + 1, -1, dtype=np.int32)
        while self._codes:
            word, code = self._codes.popitem()
            said = _plain(word)
            if said:
                found[code] = places.setdefault(said, len(places))
        return found, list(places)


def _plain(word: bytes) -> str:
    """Arguments as a JSON object without blanks; empty where there are none."""
    try:
        said = msgspec.json.decode(_LAST_COMMA.sub(b"}", word))
        if type(said) is not dict:
            return ""
        told = {key: _short(value) for key, value in said.items() if value not in _NOTHING}
        return text(_short_object(told)) if told else ""
    except (*NOT_JSON, ValueError, OverflowError):
        return ""


def _short_object(told: dict[str, Any]) -> str:
    """As JSON, without what comes last where there is very much."""
    size, kept = 0, {}
    for key, value in told.items():
        size += len(key) + len(msgspec.json.encode(value))
        if size > _LONGEST_ALL:
            break
        kept[key] = value
    return msgspec.json.encode(kept).decode()


def _short(value: Any) -> Any:
    """A value, cut where it is very long."""
    if len(msgspec.json.encode(value)) <= LONGEST:
        return value
    if type(value) is str:
        return value[:LONGEST] + "…"
    if type(value) is not list:
        return "…"
    kept: list[Any] = []
    room = LONGEST
    for each in value:
        room -= len(msgspec.json.encode(each)) + 1
        if room < 0:
            break
        kept.append(each)
    return [*kept, f"… {len(value) - len(kept)} more"]
