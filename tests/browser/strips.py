"""The stacked picture where much is too small to be drawn by itself, in plain Python.

What is smaller than a pixel of the tile is a paler strip of its group's colour in its place. Tiles
add such lives up in parts of about a pixel, so an edge may be off by as much: of every pixel there
is what it is by the bytes at its middle, and all that it may be.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.browser.reference import BACKGROUND, EDGE, TALL, mixed

#: Share of the background in what is too small.
PALE = 0.35
#: Pixels by which what is drawn may be off, and what is in a strip.
NEAR, NEARBY = 1, 2


@dataclass(frozen=True)
class Part:
    """Something of one colour in a column, from byte to byte."""

    begin: int
    end: int
    colour: str
    is_small: bool


def least_drawn(top: float, height: int) -> int:
    """Bytes of the smallest life drawn by itself: a power of two, and no more than a pixel."""
    return 1 << math.floor(math.log2(top / height))


def piled(
    lives: Iterable[tuple[int, str]], merged: Iterable[tuple[int, str]], least: int
) -> list[Part]:
    """Bytes and colours of ``lives`` one on top of the other, and on them those added up."""
    parts, top = [], 0
    for size, colour in lives:
        parts.append(Part(top, top + size, colour, size < least))
        top += size
    for size, colour in merged:
        parts.append(Part(top, top + size, colour, False))
        top += size
    return parts


def likely(parts: Sequence[Part], height: int, pixel: float, theme: str = "light") -> list[str]:
    """A column of ``height`` pixels of so many bytes as it is if nothing is off."""
    column = [BACKGROUND[theme]] * height
    for part in parts:
        first, last = (min(math.floor(at / pixel + 0.5), height) for at in (part.begin, part.end))
        inner, edge = _shades(part, pixel, theme)
        column[first:last] = [inner] * (last - first)
        if edge != inner and first < last:
            column[last - 1] = edge
    return column


def possible(
    parts: Sequence[Part], height: int, pixel: float, theme: str = "light"
) -> list[set[str]]:
    """All that every pixel of such a column may be."""
    found: list[set[str]] = [set() for _ in range(height)]

    def may(colour: str, begin: float, end: float) -> None:
        for at in range(max(math.floor(begin), 0), min(math.ceil(end), height)):
            found[at].add(colour)

    for part in parts:
        inner, edge = _shades(part, pixel, theme)
        near = NEARBY if part.is_small else NEAR
        may(inner, part.begin / pixel - near, part.end / pixel + near)
        if edge != inner:
            top = math.floor(part.end / pixel + 0.5)
            may(edge, top - 1 - NEAR, top + NEAR)
    may(BACKGROUND[theme], (parts[-1].end if parts else 0) / pixel - NEARBY, height)
    return found


def _shades(part: Part, pixel: float, theme: str) -> tuple[str, str]:
    """The colour of a part and of its upper edge."""
    if part.is_small:
        pale = mixed(part.colour, BACKGROUND[theme], PALE)
        return pale, pale
    is_tall = part.end - part.begin >= TALL * pixel
    return part.colour, mixed(part.colour, "#000000", EDGE) if is_tall else part.colour


def compare(
    pixels: list[list[str]],
    columns: Sequence[Sequence[Part]],
    pixel: float,
    theme: str = "light",
) -> Counter[str]:
    """That every pixel is what it may be and nearly all are what they are likely to be.

    Answers how many there are of each colour.
    """
    known: dict[int, tuple[list[str], list[set[str]]]] = {}
    found: Counter[str] = Counter()
    off = 0
    for x, (column, parts) in enumerate(zip(pixels, columns, strict=True)):
        if id(parts) not in known:
            height = len(column)
            known[id(parts)] = (
                likely(parts, height, pixel, theme),
                possible(parts, height, pixel, theme),
            )
        wanted, allowed = known[id(parts)]
        found.update(column)
        if column == wanted:
            continue
        for y, (colour, one, several) in enumerate(zip(column, wanted, allowed, strict=True)):
            assert colour in several, f"column {x}, pixel {y}: {colour}, not {one} or {several}"
            off += colour != one
    assert off < found.total() / 50, f"{off} of {found.total()} pixels are off"
    return found
