"""Tiles of the picture of all lives through HTTP, and the memory TensorBoard takes for them.

A real TensorBoard serves a recording of 2 700 000 events (900 000 allocations) that is in the cache
already; random windows of every zoom, layout, axis and grouping, half of them of bytes too, half of
them narrowed (only alive, a least size, a filter, a search), from the first one after the start
(cold) and again (warm). Every tile that a window 1600 pixels wide needs is asked for, one after the
other. Then the same of a caching allocator's recording, in which thousands of segments of two pools
and streams are shared and given back, and of the segments themselves. The alternative for memory is
the same TensorBoard without the plugin.

    python -m benchmarks.http_tiles [--events N] [--windows N]
"""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._http import Make, memory_without, serving, show, spans
from benchmarks._packed import packed
from benchmarks._recordings import training
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.positions import ranges
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.tile.window import BINS, LAYOUTS

_WIDTH, _HEIGHT = 1600, 800
_GROUPINGS = ("category", "stack", "op", "module", "step", "size", "pool", "stream", "lifetime")
#: What a few questions ask for beside.
_NARROWER: tuple[dict[str, Any], ...] = (
    {"only": "alive"},
    {"only": "freed"},
    {"only": "never"},
    {"minimum": 1 << 20},
    {"filter": "category:gradient"},
    {"filter": "size>10MiB"},
    {"find": "op:op 7"},
    {"find": "category:activation step:3"},
    {"by": "age", "pattern": "peak"},
    {"by": "pattern", "pattern": "/gradient/, op 1"},
)
_NARROWER_SEGMENTS: tuple[dict[str, Any], ...] = (
    {"only": "alive"},
    {"only": "freed"},
    {"only": "never"},
    {"minimum": 1 << 26},
)

#: What is served, and what is asked for: how it is called, and what the picture is of.
_MEASURED: tuple[tuple[str, Make, dict[str, str]], ...] = (
    ("job", training, {"tiles": "allocations"}),
    ("allocator", packed, {"allocator's tiles": "allocations", "segments' tiles": "segments"}),
)


def windows(
    recording: Recording, count: int, seed: int, of: str = "allocations"
) -> Iterator[list[dict[str, Any]]]:
    """Random windows of the picture of what there is ``of``, each the questions for its tiles."""
    (device,) = recording.devices
    chance = random.Random(seed)
    curve = "allocated" if of == "allocations" else "reserved"
    peak = int(recording.values("usage", curve, device).max())
    narrower = _NARROWER if of == "allocations" else _NARROWER_SEGMENTS
    extent = ranges(recording, device).extent
    for axis, begin, end in itertools.islice(spans(recording, chance), count):
        level = max(((end - begin) // _WIDTH).bit_length() - 1, 0)
        question: dict[str, Any] = {
            "of": of,
            "axis": axis.name,
            "level": level,
            "layout": chance.choice(LAYOUTS),
            "by": chance.choice(_GROUPINGS),
            "height": _HEIGHT,
        }
        if chance.random() < 0.5:  # closer in bytes, too
            tall = extent if question["layout"] == "address" else peak
            shown = max(1, int(tall * 2 ** -chance.uniform(0, 8)))
            question["low"] = chance.randint(0, tall - shown)
            question["high"] = question["low"] + shown
        if chance.random() < 0.5:
            question |= chance.choice(narrower)
        first, last = (begin >> level) // BINS, ((end - 1) >> level) // BINS
        yield [{**question, "index": index} for index in range(first, last + 1)]


def measured(events: int, count: int, folder: Path) -> dict[str, Any]:
    """Times by tile and by window, the largest answer, and anonymous memory."""
    found: dict[str, Any] = {"largest": 0, "with": 0, "most": 0}
    for name, make, pictures in _MEASURED:
        with serving(events, folder / name, make) as asked:
            for (called, of), (state, seed) in itertools.product(
                pictures.items(), (("cold", 0), ("warm", 1))
            ):
                taken = [
                    [asked.ask("tile", question) for question in questions]
                    for questions in windows(asked.recording, count, seed, of)
                ]
                times = Times.of([tile for tiles in taken for tile in tiles])
                found[f"{called}, {state}"] = times
                whole = Times.of([sum(tiles) for tiles in taken])
                found[f"{called}, {state}, all of a window"] = whole
            told = {"largest": asked.largest, "with": asked.memory(), "most": asked.most}
            found |= {name: max(found[name], value) for name, value in told.items()}
    return {**found, "without": memory_without(folder / "job")}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    parser.add_argument("--windows", type=int, default=150)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(chosen.events, chosen.windows, Path(folder))
    show(chosen.events, found, 40)


if __name__ == "__main__":
    main()
