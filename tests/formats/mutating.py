"""What tests of damaged files share: damage, and what a reader may do with it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording.recording import Recording
from tests.formats.test_snapshot_fuzz import check

#: Values in place of whatever a file has.
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1 << 63,
    1 << 64,
    1 << 200,
    1.5,
    1e300,
    "",
    "alloc",
    "two\nlines. And more",
    [],
    {},
    [{}],
)


def sentence(error: SourceError, name: str) -> str:
    """What an error says: one line and sentence that names the file, its fault and a remedy."""
    said = str(error)
    assert error.fault and error.remedy
    assert said.startswith(f"{name}: ") and said.endswith(f"; {error.remedy}."), said
    assert not re.search("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]", said) and len(said) < 400, said
    assert not re.search(r"[.!?;:]\.$|\.\.$", said), said
    return said


def is_read(
    read: Callable[[Path], Recording],
    path: Path,
    then: Callable[[Recording], None] | None = None,
) -> bool:
    """Whether a file is read, as a recording that holds together; else it is refused as it should.

    Anything but a SourceError of one sentence fails the test. ``then`` checks more of what is
    derived of a recording.
    """
    try:
        recording = read(path)
        check(recording)
        derived = derive(recording)
        check(derived)
        if then is not None:
            then(derived)
    except SourceError as error:
        sentence(error, path.name)
        return False
    return True


def tried(
    read: Callable[[Path], Recording],
    path: Path,
    files: Iterable[bytes],
    then: Callable[[Recording], None] | None = None,
) -> tuple[int, int]:
    """How many of the files are read and how many are refused, each of them as ``path``."""
    outcomes = [0, 0]
    for data in files:
        path.write_bytes(data)
        outcomes[not is_read(read, path, then)] += 1
    return outcomes[0], outcomes[1]


def cut(data: bytes, count: int) -> Iterator[bytes]:
    """The first bytes of a file, about ``count`` times, never all of it."""
    for length in range(0, len(data), max(1, len(data) // count)):
        yield data[:length]


def damaged(data: bytes, chance: random.Random, start: int = 0) -> bytes:
    """A file of which a few bytes from ``start`` on are others, are missing or are more."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        place = chance.randrange(start, len(changed))
        kind = chance.randrange(4)
        if kind == 0:
            changed[place] = chance.choice((0, 255, chance.randrange(256)))
        elif kind == 1:
            changed[place] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del changed[place : place + chance.randrange(1, 9)]
        else:
            changed[place:place] = chance.randbytes(chance.randrange(1, 9))
    return bytes(changed)


def with_odd_values(rows: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """Rows of which a few values, or values of their arguments, are odd ones."""
    changed = list(rows)
    for _ in range(chance.choice((1, 1, 3))):
        at = chance.randrange(len(changed))
        row = dict(changed[at])
        if isinstance(row.get("args"), dict) and row["args"] and chance.random() < 0.6:
            row["args"] = {**row["args"], chance.choice(list(row["args"])): chance.choice(ODD)}
        else:
            row[chance.choice(list(row))] = chance.choice(ODD)
        changed[at] = row
    return changed
