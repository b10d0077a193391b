"""The map of segments as it is to be: laid out in plain Python from the segments of a snapshot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator

#: Heights of a line, of the heading over a group and of the bar in a line; air beside segments.
LINE, HEAD, BAR, GAP = 22, 24, 17, 3
#: Lines that what is reserved at most fills while nothing is zoomed.
LINES = 9
COLOURS = {"requested": "#4477aa", "rounding": "#d9822b", "pending": "#aa3377", "free": "#f4f5f6"}

_PIXELS = """canvas => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const [names, letters] = [[], new Map()];
  const pixels = Array.from(new Uint32Array(data.buffer), (value) => {
    if (!letters.has(value)) {
      letters.set(value, String.fromCodePoint(names.length));
      names.push([value & 255, (value >>> 8) & 255, (value >>> 16) & 255]);
    }
    return letters.get(value);
  });
  return { names, pixels: pixels.join(""), width };
}"""


@dataclass(frozen=True)
class Part:
    """Bytes of one kind in a segment."""

    begin: int
    end: int
    kind: str


@dataclass(frozen=True)
class Strip:
    """What of a segment lies on one line."""

    segment: dict[str, Any]
    begin: int
    end: int
    x: float
    y: int
    width: float

    def x_of(self, offset: float) -> float:
        """Where on the line a byte of the segment is."""
        return self.x + (offset - self.begin) * self.width / (self.end - self.begin)

    def between(self, left: float, right: float) -> list[Part]:
        """What there is between two places of the line."""
        return [
            part
            for part in self._parts
            if self.x_of(part.end) > left and self.x_of(part.begin) < right
        ]

    @cached_property
    def _parts(self) -> list[Part]:
        own = parts(self.segment)
        return [part for part in own if part.end >= self.begin and part.begin <= self.end]


def parts(segment: dict[str, Any], kind: str | None = None) -> list[Part]:
    """What a segment is made of, as its blocks say, or of that what is of a ``kind``."""
    found, begin = [], 0
    for block in segment["blocks"]:
        end = begin + block["size"]
        if block["state"] == "inactive":
            found.append(Part(begin, end, "free"))
        else:
            asked = "pending" if block["state"] == "active_pending_free" else "requested"
            filled = begin + block["requested_size"]
            found += [Part(begin, filled, asked), Part(filled, end, "rounding")]
        begin = end
    return [part for part in found if part.begin < part.end and kind in (None, part.kind)]


def strips(
    segments: list[dict[str, Any]], width: int, zoom: int = 0, most: int | None = None
) -> Iterator[Strip]:
    """Segments by pool, stream and address, in lines of ``width`` pixels.

    ``zoom`` is how often the scale is doubled. ``most`` is what is reserved at most, if that is not
    what ``segments`` are together.
    """
    whole = most or sum(each["total_size"] for each in segments)
    line = math.ceil(whole / LINES) / 2**zoom
    y = 0
    for _, group in groupby(sorted(segments, key=_order), key=lambda each: _order(each)[:2]):
        y, x = y + HEAD - LINE, float(width)
        for segment in group:
            size = segment["total_size"]
            wide, lines = max(3, size / line * width), max(1, math.ceil(size / line))
            if x + wide > width:
                y, x = y + LINE, 0
            for at in range(lines):
                begin, end = int(at * line), int(min(size, (at + 1) * line))
                share = wide if lines == 1 else (end - begin) / line * width
                yield Strip(segment, begin, end, x, y + at * LINE, share)
            y += (lines - 1) * LINE
            x = width if lines > 1 else x + wide + GAP
        y += LINE


def _order(segment: dict[str, Any]) -> tuple[Any, ...]:
    return segment["segment_pool_id"], segment["stream"], segment["address"]


class Painted:
    """The pixels of the map's canvas: what kinds of byte each column of a bar shows."""

    def __init__(self, canvas: Locator) -> None:
        found = canvas.evaluate(_PIXELS)
        self.width: int = found["width"]
        self._names = ["#" + "".join(f"{each:02x}" for each in name) for name in found["names"]]
        self._kinds = [_kind(name) for name in self._names]
        self._pixels: str = found["pixels"]
        self.height = len(self._pixels) // self.width

    def kinds(self, x: int, top: int) -> set[str]:
        """The kinds in a column of the bar that begins at ``top``, between its frames."""
        rows = range(top + 3, top + BAR - 3)
        found = (self._kinds[ord(self._pixels[y * self.width + x])] for y in rows)
        return {kind for kind in found if kind}

    def colours(self, x: int, top: int) -> set[str]:
        """The colours in a column of the bar that begins at ``top``, between its frames."""
        rows = range(top + 3, top + BAR - 3)
        return {self._names[ord(self._pixels[y * self.width + x])] for y in rows}

    def places(self, colour: str) -> set[tuple[int, int]]:
        """Where in the picture a colour is, from its upper left corner."""
        if colour not in self._names:
            return set()
        letter = chr(self._names.index(colour))
        found = (at for at, each in enumerate(self._pixels) if each == letter)
        return {(at % self.width, at // self.width) for at in found}


def _kind(name: str) -> str | None:
    """What a colour stands for."""
    return next((kind for kind, own in COLOURS.items() if own == name), None)
