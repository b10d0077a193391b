"""The slow truth of the picture of allocations: every pixel of it, drawn in plain Python."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action, Category
from tests.browser.binned import bins_of, columns_of
from tests.browser.charting import HEADROOM

CATEGORIES = {
    "parameter": "#4477aa",
    "optimizer_state": "#ccbb44",
    "gradient": "#66ccee",
    "activation": "#ee6677",
    "temporary": "#aa3377",
}
#: From the bottom up.
ORDER = [category.name.lower() for category in Category]
#: Where nothing is, and where something is mapped but nothing is allocated.
BACKGROUND = {"light": "#ffffff", "dark": "#303030"}
HELD = {"light": "#eceff1", "dark": "#424242"}
#: Share of black in the upper edge of what is at least so many pixels tall.
EDGE, TALL = 0.22, 4
#: Share of the background in what is not found.
FAINT = 0.78
#: Bytes that blocks of the caching allocator are multiples of.
ROUNDING = 512


@dataclass
class Life:
    """One allocation as the events tell it; dead after the last event where it is not freed."""

    birth: int
    death: int
    bytes: int
    category: str
    address: int

    def __contains__(self, event: int) -> bool:
        return self.birth <= event < self.death


@dataclass
class Stretch:
    """Something with a place in the picture, from byte to byte or from pixel to pixel.

    ``life`` is None of what is mapped; what ``is_tall`` has an edge.
    """

    life: Life | None
    begin: int
    end: int
    is_tall: bool = False


def lives(recording: Recording) -> list[Life]:
    """The lives of a recording that begins with nothing, in order of birth, event by event."""
    events = recording.table("events").to_pylist()
    labels = {each["event"]: each["category"] for each in recording.table("labels").to_pylist()}
    found: list[Life] = []
    living: dict[int, Life] = {}
    for number, event in enumerate(events):
        if event["action"] == Action.ALLOC:
            category = Category(labels[number]).name.lower()
            life = Life(number, len(events), event["size"], category, event["address"])
            found.append(life)
            living[event["address"]] = life
        elif event["action"] == Action.FREE_COMPLETED:
            living.pop(event["address"]).death = number
    return found


def expected(
    recording: Recording,
    width: int,
    height: int,
    layout: str = "stacked",
    theme: str = "light",
    axis: str = "event",
) -> list[list[str]]:
    """The picture of all there is, as ``Picture.pixels`` gives it; by event one a bin at most."""
    return painted(standing(recording, width, height, layout, axis), height, theme)


def painted(
    parts: list[list[Stretch]],
    height: int,
    theme: str = "light",
    *,
    colours: Mapping[int, str] | None = None,
    found: Container[int] | None = None,
) -> list[list[str]]:
    """What stands in each column, in pixels.

    ``colours`` are those of the lives by birth, of their categories where there are none. Where
    something is searched for, all but the births ``found`` stand back.
    """
    columns = []
    for there in parts:
        column = [BACKGROUND[theme]] * height
        for part in there:
            inner, edge = _shades(part.life, theme, colours, found)
            column[part.begin : part.end] = [inner] * (part.end - part.begin)
            if part.is_tall:
                column[part.end - 1] = edge
        columns.append(column)
    return columns


def _shades(
    life: Life | None,
    theme: str,
    colours: Mapping[int, str] | None,
    found: Container[int] | None,
) -> tuple[str, str]:
    """The colour of what stands somewhere, and of its upper edge."""
    if life is None:
        return HELD[theme], HELD[theme]
    colour = colours[life.birth] if colours else CATEGORIES[life.category]
    if found is None or life.birth in found:
        return colour, mixed(colour, "#000000", EDGE)
    faint = mixed(colour, BACKGROUND[theme], FAINT)
    return faint, mixed(faint, colour, EDGE)


def standing(
    recording: Recording,
    width: int,
    height: int,
    layout: str = "stacked",
    axis: str = "event",
) -> list[list[Stretch]]:
    """What stands in each column of that picture, in pixels, covered from their middle on."""
    of, events = lives(recording), recording.table("events").num_rows
    total = [sum(life.bytes for life in of if event in life) for event in range(events)]
    base, extent = _segment(recording)
    if layout == "stacked":
        top = max(total) * HEADROOM
    elif layout == "address":
        top = extent
        places = [life.address - base for life in of]
    else:
        places = lanes(of)
        top = max(place + life.bytes for place, life in zip(places, of, strict=True))
    columns: dict[int, list[Stretch]] = {}
    if axis == "time":
        bins = bins_of(recording, total, width)
        instants = [bins[each].event for each in columns_of(recording, bins, total, width)]
        of_one = {
            life.birth for life in of if sum(each.event in life for each in bins.values()) == 1
        }
    else:
        instants = list(shown_events(total, width))
        of_one = {life.birth for life in of if life.death - life.birth == 1}
    for event in set(instants):
        alive = [place for place, life in enumerate(of) if event in life]
        if layout == "stacked":
            parts = _piled([of[place] for place in alive], of_one)
        elif layout == "address":
            # All of the one segment, which the first event maps.
            parts = [Stretch(None, 0, extent)] if event >= 0 else []
            parts += [
                Stretch(of[at], places[at], places[at] + _rounded(of[at].bytes)) for at in alive
            ]
        else:
            parts = [Stretch(of[at], places[at], places[at] + of[at].bytes) for at in alive]
        columns[event] = [_in_pixels(part, height / top, height) for part in parts]
    return [columns[event] for event in instants]


def lanes(of: list[Life]) -> list[int]:
    """Where each lies that keeps its height for life: those of like size take turns in a lane.

    The lane left last is taken first; they are stacked in the order in which they are needed, each
    as tall as the largest that is ever in it.
    """
    free: dict[tuple[int, int], list[int]] = {}
    tall: list[int] = []
    lane: dict[int, int] = {}
    moments = [(life.birth, at) for at, life in enumerate(of)]
    moments += [(life.death, at) for at, life in enumerate(of)]
    for moment, at in sorted(moments):
        life = of[at]
        left = free.setdefault(_kind(life.bytes), [])
        if moment == life.death:
            left.append(lane[at])
        elif left:
            lane[at] = left.pop()
            tall[lane[at]] = max(tall[lane[at]], life.bytes)
        else:
            lane[at] = len(tall)
            tall.append(life.bytes)
    return [sum(tall[: lane[at]]) for at in range(len(of))]


def _kind(size: int) -> tuple[int, int]:
    """The power of two that a size is above, and the eighth of it."""
    power = size.bit_length() - 1
    return power, (size << 3 >> power) & 7


def _rounded(size: int) -> int:
    return -(-size // ROUNDING) * ROUNDING


def _segment(recording: Recording) -> tuple[int, int]:
    """Address and size of the only segment of a recording, which its first event maps."""
    events = recording.table("events").to_pylist()
    kinds = (Action.SEGMENT_ALLOC, Action.SEGMENT_FREE, Action.SEGMENT_MAP, Action.SEGMENT_UNMAP)
    mapped = [number for number, event in enumerate(events) if event["action"] in kinds]
    assert mapped == [0], mapped
    return events[0]["address"], events[0]["size"]


def shown_events(total: list[int], width: int) -> Iterator[int]:
    """The event of each column: the highest of those in it, the first of equals."""
    event, shown = -1, 0
    for x in range(width):
        stop = math.ceil((x + 1) * (len(total) / width))
        # Without an event of its own a column goes on showing the last one.
        if stop > shown:
            # What was before the first event is seen where the axis begins.
            inside = range(shown or -1, stop)
            event = max(inside, key=lambda e: (total[e] if e >= 0 else 0, -e))
            shown = stop
        yield event


def _piled(alive: list[Life], of_one: Container[int]) -> list[Stretch]:
    """Those that are seen in one column only lie on top, added up by category."""
    parts = []
    top = 0
    for life in alive:
        if life.birth not in of_one:
            parts.append(Stretch(life, top, top + life.bytes))
            top += life.bytes
    for category in ORDER:
        short = [life for life in alive if life.birth in of_one and life.category == category]
        if short:
            size = sum(life.bytes for life in short)
            parts.append(Stretch(replace(short[0], bytes=size), top, top + size))
            top += size
    return parts


def _in_pixels(part: Stretch, scale: float, height: int) -> Stretch:
    first, last = (min(math.floor(at * scale + 0.5), height) for at in (part.begin, part.end))
    is_tall = part.life is not None and part.life.bytes * scale >= TALL
    return Stretch(part.life, first, last, is_tall)


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with a share of another."""
    pairs = [(int(colour[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{math.floor(a + (b - a) * share + 0.5):02x}" for a, b in pairs)
