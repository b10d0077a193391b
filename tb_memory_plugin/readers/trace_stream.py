"""A chrome trace as a stream: its events in batches, then what stands around them.

A trace is one JSON object (or list) whose events are most of it. It is never decoded whole: a piece
of the stream is cut at the end of an event and decoded by itself. Where an event ends cannot be
told without reading all before it, so the cut is a guess (a brace, a comma, a brace) that decoding
proves: a piece that begins with an event and decodes as a list of them ends with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from tb_memory_plugin.readers.checked import Malformed

#: Bytes that are decoded together; what is no event may be as long as MOST.
PIECE = 2 << 20
MOST = 64 << 20
#: Guesses at the end of an event that are tried in a piece.
_TRIES = 32

_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
_LIST = re.compile(rb"\s*\[")
_BETWEEN = re.compile(rb"\}\s*,\s*\{")
_AFTER = re.compile(r"trailing characters \(byte (\d+)\)")
_CUT_OFF = "ends in the middle: it was cut off or is still being written"

_ESCAPE = re.compile(rb'(\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})|\\')
_BLANKS = bytes.maketrans(bytes(range(32)), b" " * 32)
_NUMBER = re.compile(rb"(?<=[:,\[\s])-?(?:NaN|Infinity)(?=\s*[,\]}])")

#: What decoding raises for what is not JSON (older versions have another for what is not UTF-8).
NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Event(msgspec.Struct, gc=False):
    """One event, as far as it is looked at."""

    ph: str | None = None
    name: str | None = None
    cat: str | None = None
    pid: int | float | str | None = None
    tid: int | float | str | None = None
    ts: int | float | str | None = None
    dur: int | float | str | None = None
    id: Any = None
    args: msgspec.Raw = msgspec.Raw()


class ExactEvent(Event, gc=False):
    """An event whose time stamp has more digits than a float can hold."""

    ts: Decimal | None = None  # type: ignore[assignment]


#: From here on a float of microseconds cannot tell nanoseconds apart.
_INEXACT = (1 << 53) / 1000

_events = msgspec.json.Decoder(list[Event]).decode
_exact_events = msgspec.json.Decoder(list[ExactEvent]).decode


class TraceStream:
    """The trace that ``read(count)`` gives the bytes of, at most so many, ``b""`` at the end.

    Attributes:
        about: what stands beside the events, known once all of them were seen.
        mended: pieces that are not quite JSON and were read all the same.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._decode: Callable[[bytes], list[Event]] = _events
        self._is_list = False
        self.about: dict[str, Any] = {}
        self.mended = 0

    def batches(self) -> Iterator[list[Event]]:
        """The events, some thousands at a time. Raises Malformed where it is not a trace."""
        head, rest = self._beginning()
        is_end = False
        while not is_end:
            more = self._filled(rest)
            is_last = len(more) == len(rest)
            events, used, is_end = self._piece(more, is_last)
            rest = more[used:]
            if events:
                yield events
        self._around(head, rest)

    def _filled(self, text: bytes) -> bytes:
        """``text`` and as much more or a piece; no more of it at the end of the stream."""
        # Twice as much where a piece was not enough, as it would otherwise be read ever again.
        parts, missing = [text], max(PIECE, len(text))
        while missing > 0 and (more := self._read(missing)):
            parts.append(more)
            missing -= len(more)
        return b"".join(parts)

    def _beginning(self) -> tuple[bytes, bytes]:
        """What stands before the first event, its bracket included, and what follows."""
        start, size = b"", -1
        while size < len(start) <= MOST:
            size, start = len(start), self._filled(start)
            listed = _LIST.match(start)
            if listed:
                self._is_list = True
                return b"[", start[listed.end() :]
            for found in _EVENTS.finditer(start):
                if _object(start[: found.end()] + b"]}") is not None:
                    return start[: found.end()], start[found.end() :]
        raise Malformed("is JSON without traceEvents, or is damaged before these begin")

    def _piece(self, text: bytes, is_last: bool) -> tuple[list[Event], int, bool]:
        """The events ``text`` begins with, the bytes these take, and whether it ends there."""
        if is_last:
            found = self._list(b"[" + text)
            if found is None and self._is_list:  # whose last bracket may be missing
                found = self._list(b"[" + text.rstrip().removesuffix(b",") + b"]")
            if found is None:
                raise Malformed(_CUT_OFF)
            return found[0], min(found[1] - 1, len(text)), True
        mended: bytes | None = None
        for end, after in _cuts(text):
            whole = b"[" + text[:end] + b"]"
            found = self._whole(whole)
            if found is None:  # mended once for all guesses, which takes longer than decoding
                mended = mend(text) if mended is None else mended
                again = b"[" + mended[:end] + b"]"
                found = None if again == whole else self._whole(again)
                self.mended += found is not None
            if found is not None and found[1] == len(whole):
                return found[0], after, False
            if found is not None:
                return found[0], found[1] - 1, True
        if len(text) > MOST:
            raise Malformed(f"is damaged, or has an event of more than {MOST >> 20} MiB")
        return [], 0, False

    def _list(self, text: bytes) -> tuple[list[Event], int] | None:
        """The events of the list that ``text`` begins with, and its bytes; None if it is none."""
        found = self._whole(text)
        if found is None:
            mended = mend(text)
            found = None if mended == text else self._whole(mended)
            self.mended += found is not None
        return found

    def _whole(self, text: bytes) -> tuple[list[Event], int] | None:
        try:
            return self._checked(text), len(text)
        except msgspec.ValidationError as error:
            raise Malformed(f"has an event that is none: {str(error)[:80]}") from None
        except NOT_JSON as error:
            after = _AFTER.search(str(error))
        if after is None:
            return None
        length = len(text[: int(after[1]) - 1].rstrip())
        return self._checked(text[:length]), length

    def _checked(self, text: bytes) -> list[Event]:
        """The events of a list, their times exact."""
        events = self._decode(text)
        if self._decode is _events and any(
            type(event.ts) is float and event.ts > _INEXACT for event in events
        ):
            self._decode = _exact_events  # type: ignore[assignment]
            events = self._decode(text)
        return events

    def _around(self, head: bytes, tail: bytes) -> None:
        """Decode what stands before and after the events; it is left out where it is damaged."""
        size = -1
        while size < len(tail) <= MOST:
            size, tail = len(tail), self._filled(tail)
        self.about = _object(head + b"]" + tail) or {}


def _cuts(text: bytes) -> Iterator[tuple[int, int]]:
    """Where events may end in ``text`` and the next ones begin, the last such place first."""
    stop = len(text)
    for _ in range(_TRIES):
        start = text.rfind(b"}", 0, stop)
        found = None
        while start >= 0 and (found := _BETWEEN.match(text, start)) is None:
            start = text.rfind(b"}", 0, start)
        if found is None:
            return
        yield start + 1, found.end() - 1
        stop = start


def _object(text: bytes) -> dict[str, Any] | None:
    """The JSON object that ``text`` is, None if it is none."""
    for each in (text, mend(text)):
        try:
            found = msgspec.json.decode(each)
        except NOT_JSON:
            continue
        return found if type(found) is dict else None
    return None


def mend(text: bytes) -> bytes:
    """What is often not quite JSON in traces, made into JSON of the same length.

    A stray backslash becomes a slash, a byte that is no UTF-8 a question mark, a control character
    a blank, a number that is none an empty text.
    """
    text = text.translate(_BLANKS)
    text = _ESCAPE.sub(lambda found: found[1] or b"/", text)
    text = _NUMBER.sub(lambda found: b'""'.ljust(len(found[0])), text)
    try:
        text.decode()
        return text
    except UnicodeDecodeError:
        return text.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
