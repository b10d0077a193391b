"""Rows of words and numbers, made into aligned text; coloured on a terminal only."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from tb_memory_plugin.units import format_bytes

_CODES = {"bold": "1", "quiet": "2", "red": "31", "yellow": "33"}
#: What would move the cursor or end the line, and the codes of :func:`styled`, which may stand.
_CONTROL = re.compile(
    r"(\033\[(?:0|1|2|31|33)m)|[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def say(line: str = "") -> None:
    """Print a line of the answer."""
    print(harmless(line))


def say_json(answer: Any) -> None:
    """Print an answer for programs."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print(json.dumps(answer, indent=2, ensure_ascii=not unicode))


def say_csv(pieces: Iterable[str]) -> None:
    """Print lines of CSV, as the page saves them, for programs."""
    for piece in pieces:
        for line in piece.split("\r\n")[:-1]:
            say(line)


def warn(line: str) -> None:
    """Print a line that is not the answer."""
    print(harmless(line), file=sys.stderr)


def harmless(line: str) -> str:
    """``line`` with control characters, which names in a file may hold, spelled out."""
    return _CONTROL.sub(lambda found: found[1] or ascii(found[0])[1:-1], line)


def styled(text: str, style: str) -> str:
    """``text`` in a style (``bold``, ``quiet``, ``red``, ``yellow``) if a terminal shows it."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{_CODES[style]}m{text}\033[0m"


def grouped(number: int) -> str:
    """A count with its thousands apart: ``12 345``."""
    return f"{number:,}".replace(",", " ")


def counted(number: int, noun: str) -> str:
    """``1 event``, ``12 345 events``."""
    return f"{grouped(number)} {noun}{'' if number == 1 else 's'}"


def blocks(count: int, sums: int) -> str:
    """``3 blocks``, of which ``sums`` stand for nobody knows how many."""
    if not sums:
        return counted(count, "block")
    known = count - sums
    told = f"{counted(known, 'block')} and " if known else ""
    return f"{told}a sum, the number of blocks in it is not known"


def moment(event: int, *, events: bool = True) -> str:
    """After which event; ``events``: whether there are any, or the recording is of one moment."""
    if not events:
        return "at the end"
    return "before the first event" if event < 0 else f"after event {event}"


def exact_bytes(count: int | None) -> str:
    """Bytes for reading and for copying: ``11.6 GiB (12 426 629 128 bytes)``."""
    if count is None:
        return "not known"
    if abs(count) < 1024:
        return counted(count, "byte")
    return f"{format_bytes(count)} ({grouped(count)} bytes)"


def cut(words: str, most: int = 64) -> str:
    """``words`` in at most ``most`` characters: of long ones the middle is left out.

    What a frame's file and line are stands at the end, the function at the beginning.
    """
    if len(words) <= most:
        return words
    tail = most // 2
    return f"{words[: most - tail - 1]}…{words[-tail:]}"


def facts(rows: Sequence[tuple[str, str]], indent: int = 2) -> list[str]:
    """Lines of words and what they are, the latter aligned."""
    wide = max((len(word) for word, _ in rows), default=0)
    return [f"{' ' * indent}{word:<{wide}}  {value}".rstrip() for word, value in rows]


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], indent: int = 2
) -> list[str]:
    """Lines of a table with its ``head``; the columns named in ``right`` are set to the right."""
    wide = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        set_out = [
            f"{cell:>{wide[place]}}" if place in right else f"{cell:<{wide[place]}}"
            for place, cell in enumerate(cells)
        ]
        return (" " * indent + "  ".join(set_out)).rstrip()

    return [styled(line(head), "quiet"), *map(line, rows)]
