"""The allocator's state at random events of 2 700 000, beside a replay from the start.

In process: the state itself, its answer for a screen, a page of the list of all events (with and
without a filter), and a window of what pools held.

    python -m benchmarks.segment_state [--events N] [--queries N] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks._packed import write
from benchmarks.usage_window import Times
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.recording.recording import Recording, open_recording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.views import events, pools, segments

#: What is looked for in the list of all events.
FILTERS = ("", "action:alloc size>10MiB", "address:0x7f0000000000", "pool:private -action:free")


class Replay:
    """The state as every viewer of snapshots has it: event by event, in plain Python."""

    def __init__(self, recording: Recording) -> None:
        columns = ("action", "address", "size")
        self._rows = list(
            zip(*(recording.values("events", name).tolist() for name in columns), strict=True)
        )

    def at(self, event: int) -> tuple[int, int]:
        """Bytes allocated and reserved after ``event``."""
        blocks: dict[int, int] = {}
        mapped: dict[int, int] = {}
        for action, address, size in self._rows[: event + 1]:
            if action == Action.ALLOC:
                blocks[address] = size
            elif action == Action.FREE_COMPLETED:
                blocks.pop(address, None)
            elif action == Action.SEGMENT_ALLOC:
                mapped[address] = size
            elif action == Action.SEGMENT_FREE:
                mapped.pop(address, None)
        return sum(blocks.values()), sum(mapped.values())


def timed(ask: Callable[[int], object], asked: list[int]) -> list[float]:
    """Seconds that every question took."""
    taken = []
    for question in asked:
        start = time.perf_counter()
        ask(question)
        taken.append(time.perf_counter() - start)
    return taken


def measured(path: Path, queries: int) -> dict[str, Times]:
    """Times of each kind of question at random events, cold ones included, and of the replay."""
    recording = open_recording(path)
    (device,) = recording.devices
    count = len(recording.values("events", "action"))
    chance = random.Random(0)
    asked = [chance.randrange(count) for _ in range(queries)]

    def window(event: int) -> object:
        span = max(1, int(count * 2 ** -chance.uniform(0, 16)))
        begin = min(event, count - span)
        return pools.window(
            recording, device, axis="event", begin=begin, end=begin + span, width=1200
        )

    def listed(event: int) -> object:
        return events.page(
            recording, device, filter=chance.choice(FILTERS), offset=event // 4, near=event
        )

    found = {
        "state": timed(lambda event: segment_state(recording, device, event), asked),
        "its answer": timed(
            lambda event: segments.window(recording, device, at=f"event:{event}", pixel=1 << 16),
            asked,
        ),
        "events": timed(listed, asked),
        "pools": timed(window, asked),
    }
    replay = Replay(recording)
    few = asked[: max(queries // 40, 3)]
    for event in few:
        state = segment_state(recording, device, event)
        if (state.allocated, state.mapped) != replay.at(event):
            raise SystemExit(f"the state after event {event} is not that of the replay")
    found["replay"] = timed(replay.at, few)
    return {name: Times.of(taken) for name, taken in found.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = write(chosen.events, Path(folder) / "recording.tbmem")
        found = measured(path, chosen.queries)
    if chosen.json:
        print(json.dumps({name: asdict(times) for name, times in found.items()}))
        return
    print(f"{chosen.events:,} events, milliseconds at a random event, in process")
    for name, times in found.items():
        print(
            f"  {name:<10} median {times.median:8.2f}   p95 {times.p95:8.2f}   "
            f"longest {times.longest:8.2f}   of {times.queries}"
        )
    ratio = found["state"].median / found["replay"].median
    print(f"   {ratio:.4f} × state / replay from the start, medians")


if __name__ == "__main__":
    main()
