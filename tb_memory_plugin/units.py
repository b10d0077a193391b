"""Bytes and nanoseconds as people write and read them; the only place units are made."""

from __future__ import annotations

import re

_BINARY = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_FACTORS: dict[str, int] = {
    "": 1,
    "b": 1,
    **{
        spelling: 1024**power
        for power, letter in enumerate("kmgtpe", start=1)
        for spelling in (letter, f"{letter}b", f"{letter}ib")
    },
}
_SIZE = re.compile(r"(\d{1,40})(?:\.(\d{1,40}))?\s*([a-zA-Z]*)")


def format_bytes(count: int) -> str:
    """``count`` bytes with three or four digits and a binary unit: ``11.6 GiB``, ``512 B``."""
    magnitude = abs(count)
    if magnitude < 1024:
        return f"{count} B"
    power = min((magnitude.bit_length() - 1) // 10, len(_BINARY))
    number = count / 1024**power
    if abs(number) >= 1023.5 and power < len(_BINARY):
        power += 1
        number = count / 1024**power
    digits = 2 if abs(number) < 9.995 else 1 if abs(number) < 99.95 else 0
    return f"{number:.{digits}f} {_BINARY[power - 1]}"


def parse_bytes(text: str) -> int:
    """Bytes from ``10MiB``, ``1.5 GB``, ``4096``; K, KB and KiB all mean 1024.

    Raises ValueError.
    """
    found = _SIZE.fullmatch(text.strip())
    factor = _FACTORS.get(found.group(3).lower()) if found else None
    if found is None or factor is None:
        raise ValueError(f"{text[:60]!r} is not a size; write it like 512, 10MiB or 1.5GiB")
    whole, decimals = found.group(1), found.group(2) or ""
    scaled: int = int(whole + decimals) * factor // 10 ** len(decimals)
    return scaled


def format_duration(nanoseconds: int) -> str:
    """A length of time in the unit that suits it: ``0.41 s``, ``3.2 ms``, ``870 ns``."""
    magnitude = abs(nanoseconds)
    for factor, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "µs")):
        if magnitude >= factor:
            number = nanoseconds / factor
            digits = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
            return f"{number:.{digits}f} {unit}"
    return f"{nanoseconds} ns"
