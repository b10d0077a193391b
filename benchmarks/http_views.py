"""Segments, holes, pools, events and spans through HTTP, and the memory of all views together.

A real TensorBoard serves a recording of 2 700 000 events that is in the cache already: the state at
random events, the hole at random places of the picture by address, envelopes, steps and annotations
of random windows, and pages of the list of events, from the first one after the start (cold) and
again (warm). Then the curve, breakdown, tiles, flame graphs and lines of code are asked for too, so
that memory is that of a server all of whose views were used.
The alternative for memory is the same TensorBoard without the plugin.

    python -m benchmarks.http_views [--events N] [--queries N]
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import http_flame, http_tiles
from benchmarks._http import Asked, memory_without, run, serving, spans
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.flame import OF
from tb_memory_plugin.analysis.positions import ranges
from tb_memory_plugin.recording.recording import Recording

_WIDTH = 1600
_FILTERS = ("", "", "action:alloc", "size>1MiB", "action:free_completed size<4KiB")
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


def events(recording: Recording, chance: random.Random) -> Questions:
    """A page of the list, anywhere in it, and beside which row of it an event is."""
    last = len(recording.table("events"))
    while True:
        words = chance.choice(_FILTERS)
        offset = chance.randrange(last // 10 if words else last)
        yield {"filter": words, "offset": offset, "limit": 60, "near": chance.randrange(last)}


def span(recording: Recording, chance: random.Random) -> Questions:
    """Any step or annotation."""
    last = len(recording.table("spans"))
    while True:
        yield {"id": chance.randrange(last)}


#: What is measured, by route.
ROUTES: dict[str, Callable[[Recording, random.Random], Questions]] = {
    "segments": segments,
    "hole": hole,
    "pools": windows,
    "tracks": windows,
    "events": events,
    "span": span,
}


def use_other_views(asked: Asked, count: int) -> None:
    """Questions of the views that have a benchmark of their own."""
    recording = asked.recording
    chance = random.Random(2)
    for window in itertools.islice(windows(recording, chance), count):
        by = chance.choice(_GROUPINGS)
        asked.ask("usage", {**window, "by": by})
        asked.ask("breakdown", {"at": chance.randrange(len(recording.table("events"))), "by": by})
    for tiles in http_tiles.windows(recording, count, 2):
        for tile in tiles:
            asked.ask("tile", tile)
    for of in OF:
        for question in http_flame.questions(recording, of, count, 2):
            asked.ask("flame", question)
            kept = ("of", "axis", "begin", "end", "filter")
            asked.ask("lines", {name: question[name] for name in kept})


def measured(events: int, count: int, folder: Path) -> dict[str, Any]:
    """Times by route, cold and warm, the largest answer, and anonymous memory after all views."""
    found: dict[str, Any] = {}
    with serving(events, folder) as asked:
        for name, seed in (("cold", 0), ("warm", 1)):
            for route, questions in ROUTES.items():
                chance = random.Random(f"{route} {seed}")
                some = itertools.islice(questions(asked.recording, chance), count)
                found[f"{route}, {name}"] = Times.of([asked.ask(route, each) for each in some])
        use_other_views(asked, count)
        found["with"], found["most"] = asked.memory(), asked.most
    return {**found, "largest": asked.largest, "without": memory_without(folder)}


def main() -> None:
    """Measure and print."""
    run(measured, __doc__, 16)


if __name__ == "__main__":
    main()
