"""Values of a foreign structure, made into what a table can hold or refused in words."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from tb_memory_plugin.recording.arrays import IntArray

INT64_MAX = (1 << 63) - 1
UINT64_MAX = (1 << 64) - 1
#: In the year 2116. What is later is no time stamp, and too far away to be counted in ns.
LATEST_US = (1 << 62) // 1_000

_PLAIN_DEPTH = 6
_PLAIN_ITEMS = 2_000
_TEXT_LIMIT = 65_536


class Malformed(ValueError):
    """A structure that is not what its format says; ``str()`` is the fault, for a SourceError."""


def shown(value: Any) -> str:
    """A short, harmless description of ``value`` for a sentence."""
    if isinstance(value, int) and not isinstance(value, bool):
        digits = value.bit_length()
        return str(value) if digits <= 128 else f"an integer of {digits} bits"
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "…")
    return f"a {type(value).__name__}" if value is not None else "None"


def integer(value: Any, what: str, low: int = 0, high: int = INT64_MAX) -> int:
    """``value`` if it is an integer in ``low … high``. Raises Malformed."""
    if type(value) is not int:
        raise Malformed(f"{what} is {shown(value)}, not an integer")
    if not low <= value <= high:
        reason = "negative" if value < 0 <= low else "out of range"
        raise Malformed(f"{what} is {reason} ({shown(value)})")
    return value


def address(value: Any, what: str) -> int:
    """``value`` if it is an address of at most 64 bits. Raises Malformed."""
    if type(value) is int and value > UINT64_MAX:
        raise Malformed(f"{what} is wider than 64 bits ({shown(value)})")
    return integer(value, what, 0, UINT64_MAX)


def is_time(value: Any) -> TypeGuard[int]:
    """Whether ``value`` can be a time stamp in microseconds."""
    return type(value) is int and 0 <= value <= LATEST_US


def integers(
    values: list[Any], what: str, *, unsigned: bool = False, first: int = 0
) -> tuple[IntArray, IntArray | None]:
    """A column of ``values`` (int64 not negative, or uint64) and the mask of its Nones, if any.

    ``what`` names the column and ``first`` the place of its first value, for the sentence of
    the Malformed that is raised for anything else.
    """
    kind = "Q" if unsigned else "q"
    column = _packed(values, kind)
    missing: IntArray | None = None
    if column is None and None in values:
        missing = np.array([value is None for value in values])
        values = [0 if value is None else value for value in values]
        column = _packed(values, kind)
    if column is not None and (unsigned or not (column < 0).any()):
        return column, missing
    check = address if unsigned else integer
    for place, value in enumerate(values):
        check(value, f"{what} of entry {first + place}")
    raise Malformed(f"{what} is not a column of integers")  # pragma: no cover


def _packed(values: list[Any], kind: str) -> IntArray | None:
    """``values`` as a column, None unless all are integers that fit it."""
    try:
        column = np.frombuffer(array(kind, values), dtype=kind)
    except (OverflowError, TypeError):
        return None
    # Booleans pass for 0 and 1.
    if (column <= 1).any() and bool in set(map(type, values)):
        return None
    return column


def text(value: str) -> str:
    """``value`` as UTF-8 can hold it: lone surrogates are spelled out, absurd lengths cut."""
    if len(value) > _TEXT_LIMIT:
        value = value[:_TEXT_LIMIT] + "…"
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def string(value: Any, what: str) -> str:
    """``value`` if it is text. Raises Malformed."""
    if type(value) is not str:
        raise Malformed(f"{what} is {shown(value)}, not text")
    return text(value)


def sequence(value: Any, what: str) -> Sequence[Any]:
    """``value`` if it is a list or a tuple. Raises Malformed."""
    if type(value) not in (list, tuple):
        raise Malformed(f"{what} is {shown(value)}, not a list")
    found: Sequence[Any] = value
    return found


def mapping(value: Any, what: str) -> dict[Any, Any]:
    """``value`` if it is a dictionary. Raises Malformed."""
    if type(value) is not dict:
        raise Malformed(f"{what} is {shown(value)}, not a dictionary")
    return value


def plain(value: Any) -> Any:
    """``value`` as JSON can hold it, at most a few thousand items and a few levels of it."""
    return _plain(value, _PLAIN_DEPTH, [_PLAIN_ITEMS])


def _plain(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        return "…"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 64 else shown(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return text(value)
    if depth and isinstance(value, dict):
        return {
            text(key) if isinstance(key, str) else shown(key): _plain(item, depth - 1, left)
            for key, item in _few(value.items(), left)
        }
    if depth and isinstance(value, (list, tuple)):
        return [_plain(item, depth - 1, left) for item in _few(value, left)]
    return shown(value)


def _few(items: Any, left: list[int]) -> list[Any]:
    return [item for item, _ in zip(items, range(max(left[0], 0) + 1), strict=False)]
