"""What ``growth`` asks of an entry, and the processor time that takes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.http_tiles import windows
from benchmarks.segment_state import FILTERS
from benchmarks.usage_window import Times, grouped, questions
from tb_memory_plugin.analysis.grouping import GROUPINGS
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.recording.recording import Device, Recording, open_recording
from tb_memory_plugin.views import events
from tb_memory_plugin.views.tile.window import tile
from tb_memory_plugin.views.usage import window

#: Beside those of ``segment_state``: words of frames.
_WORDS = ("forward size>1MiB", "event>=1000 -forward")


def asked(entry: Path, queries: int) -> list[Times]:
    """Times of window queries, the first by each grouping and the others, and of tiles.

    Then those of the list of events, the first by each filter and the others, and of states.
    """
    recording = open_recording(entry)
    (device,) = recording.devices
    first, others = [], []
    for by in GROUPINGS:
        some = questions(recording, 1 + queries // len(GROUPINGS), seed=len(first))
        taken = [
            _spent(partial(window, recording, device, **{**question, **grouped(by)}))
            for question in some
        ]
        first.append(taken[0])
        others += taken[1:]
    tiles = [question for each in windows(recording, queries // 8, 0) for question in each]
    taken = [_spent(partial(tile, recording, device, **each)) for each in [*tiles, *tiles]]
    chance = random.Random(0)
    count = len(recording.values("events", "action", device))
    states = [chance.randrange(count) for _ in range(queries // 4)]
    seen = [
        first,
        others,
        taken[len(tiles) :],
        *_listed(recording, device, [chance.randrange(count) for _ in range(queries // 8)]),
        [_spent(partial(segment_state, recording, device, event)) for event in states],
    ]
    return [Times.of(each) for each in seen]


def _listed(
    recording: Recording, device: Device, places: list[int]
) -> tuple[list[float], list[float]]:
    """Pages of the list of all events: the first by each filter, and the others."""
    first, others = [], []
    for filter in (*FILTERS, *_WORDS):
        taken = [
            _spent(
                partial(events.page, recording, device, filter=filter, offset=near // 4, near=near)
            )
            for near in places
        ]
        first.append(taken[0])
        others += taken[1:]
    return first, others


def _spent(ask: Callable[[], object]) -> float:
    """Seconds of processor time that a question takes."""
    start = time.process_time()
    ask()
    return time.process_time() - start
