"""The routes of all views but pictures and graphs through HTTP, and the memory of all together.

A real TensorBoard serves a recording of 2 700 000 events that is in the cache already: the curve,
steps, annotations and envelopes of random windows, the breakdown and the state of the allocator at
random events, the hole at random places of the picture by address, pages of the list of events,
pages of all allocations of random windows in four orders, what operators did in them, and lines of
code, from the first one after the start (cold) and again (warm). Then tiles and flames are asked
for too, so that memory is that of a server all of whose views were used. What is about segments is
asked of a second server as well, whose recording is a caching allocator's: thousands of segments of
two pools and two streams, mapped and shared by allocations of all sizes. The alternative for memory
is the same TensorBoard without the plugin.

    python -m benchmarks.http_views [--events N] [--queries N]
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import http_flame, http_tiles
from benchmarks._http import Asked, memory_without, run, serving, spans
from benchmarks._packed import packed
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.analysis.positions import ranges
from tb_memory_plugin.recording.recording import Recording

_WIDTH = 1600
_FILTERS = ("", "", "action:alloc", "size>1MiB", "action:free_completed size<4KiB")
_ORDERS = ("-bytes", "birth", "-duration", "label")
_GROUPINGS = ("category", "stack", "op", "module", "step", "size")

Questions = Iterator[dict[str, Any]]


def segments(recording: Recording, chance: random.Random) -> Questions:
    """The state at any event, in pixels of any size."""
    last = len(recording.table("events"))
    while True:
        yield {
            "at": chance.randrange(last),
            "pixel": 1 << chance.randrange(24),
            "by": chance.choice(("", *_GROUPINGS)),
        }


def hole(recording: Recording, chance: random.Random) -> Questions:
    """What is free at any place of the picture by address."""
    extent = ranges(recording, recording.devices[0]).extent
    for question in segments(recording, chance):
        place = chance.randrange(extent)
        yield {"at": question["at"], "pixel": question["pixel"], "place": place}


def windows(recording: Recording, chance: random.Random) -> Questions:
    """Windows of any axis, as wide as a screen."""
    for axis, begin, end in spans(recording, chance):
        yield {"axis": axis.name, "begin": begin, "end": end, "width": _WIDTH}


def curves(recording: Recording, chance: random.Random) -> Questions:
    """The curve of any window by any grouping."""
    for window in windows(recording, chance):
        yield {**window, "by": chance.choice(_GROUPINGS)}


def breakdowns(recording: Recording, chance: random.Random) -> Questions:
    """What is alive after any event, by any grouping."""
    last = len(recording.table("events"))
    while True:
        yield {"at": chance.randrange(last), "by": chance.choice(_GROUPINGS)}


def lines(recording: Recording, chance: random.Random) -> Questions:
    """Lines of code, weighed in any way."""
    kept = ("of", "at", "axis", "begin", "end", "filter")
    while True:
        of, seed = chance.choice(list(OF)), chance.randrange(1 << 30)
        for question in http_flame.questions(recording, of, 1, seed):
            yield {name: question[name] for name in kept}


def events(recording: Recording, chance: random.Random) -> Questions:
    """A page of the list, anywhere in it, and beside which row of it an event is."""
    last = len(recording.table("events"))
    while True:
        words = chance.choice(_FILTERS)
        offset = chance.randrange(last // 10 if words else last)
        yield {"filter": words, "offset": offset, "limit": 60, "near": chance.randrange(last)}


def all_lives(recording: Recording, chance: random.Random) -> Questions:
    """A page of the allocations of any window, in a few orders, some of them of a size only."""
    for axis, begin, end in spans(recording, chance):
        yield {
            "axis": axis.name,
            "begin": begin,
            "end": end,
            "sort": chance.choice(_ORDERS),
            "minimum": chance.choice((0, 0, 1 << 20)),
            "offset": 100 * chance.randrange(100),
        }


def operators(recording: Recording, chance: random.Random) -> Questions:
    """What operators did in any window."""
    for axis, begin, end in spans(recording, chance):
        yield {"axis": axis.name, "begin": begin, "end": end}


def span(recording: Recording, chance: random.Random) -> Questions:
    """Any step or annotation."""
    last = len(recording.table("spans"))
    while True:
        yield {"id": chance.randrange(last)}


#: What is measured, by route.
ROUTES: dict[str, Callable[[Recording, random.Random], Questions]] = {
    "usage": curves,
    "breakdown": breakdowns,
    "lines": lines,
    "segments": segments,
    "hole": hole,
    "pools": windows,
    "tracks": windows,
    "events": events,
    "lives": all_lives,
    "operators": operators,
    "span": span,
}


#: Those that go by segments.
OF_SEGMENTS = ("segments", "hole", "pools", "events")


def use_other_views(asked: Asked, count: int) -> None:
    """Questions of the views that have a benchmark of their own."""
    for tiles in http_tiles.windows(asked.recording, count, 2):
        for tile in tiles:
            asked.ask("tile", tile)
    for of in OF:
        for question in http_flame.questions(asked.recording, of, count, 2):
            asked.ask("flame", question)


def timed(asked: Asked, routes: Iterable[str], count: int) -> dict[str, Times]:
    """Times by route, cold and warm."""
    found = {}
    for name, seed in (("cold", 0), ("warm", 1)):
        for route in routes:
            chance = random.Random(f"{route} {seed}")
            some = itertools.islice(ROUTES[route](asked.recording, chance), count)
            found[f"{route}, {name}"] = Times.of([asked.ask(route, each) for each in some])
    return found


def measured(events: int, count: int, folder: Path) -> dict[str, Any]:
    """Times by route, the largest answer, and anonymous memory after all views."""
    with serving(events, folder / "job") as asked:
        found: dict[str, Any] = timed(asked, ROUTES, count)
        use_other_views(asked, count)
        found["with"], found["most"] = asked.memory(), asked.most
    with serving(events, folder / "allocator", packed) as other:
        for name, times in timed(other, OF_SEGMENTS, count).items():
            found[f"allocator's {name}"] = times
        use_other_views(other, count)
        found["with"] = max(found["with"], other.memory())
        found["most"] = max(found["most"], other.most)
    found["largest"] = max(asked.largest, other.largest)
    return {**found, "without": memory_without(folder / "job")}


def main() -> None:
    """Measure and print."""
    run(measured, __doc__, 28)


if __name__ == "__main__":
    main()
