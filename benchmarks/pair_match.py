"""Finding that a snapshot and a trace are of one process, and how their clocks differ.

Both have 1 000 000 births and frees, on 3 000 addresses or on 8; the trace's clock drifts by 300
millionths and writes everything down up to 2 µs late, the snapshot's has whole microseconds. And
finding that they are not, where another process used the same addresses. In this process; 2 s.

    python -m benchmarks.pair_match [--events N]
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from tb_memory_plugin.analysis.pairs.match import Match, match
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.worlds import World

_RUNS = 3
_OFFSET, _PPM, _LATE = 5_000_000_000, 300, 2_000


def traced(world: World) -> Recording:
    """The trace of a history, by a clock of its own."""
    late = np.random.default_rng(1).integers(0, _LATE, world.count)
    return world.trace(world.time - _OFFSET - world.time * _PPM // 1_000_000 + late)


def measured(ours: Recording, theirs: Recording) -> tuple[float, Match | None]:
    """Seconds that matching takes, the median, and what it finds."""
    taken, found = [], None
    for _ in range(_RUNS):
        start = time.perf_counter()
        found = match(ours, theirs)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), found


def main() -> None:
    """Print how long it takes and what is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    events = parser.parse_args().events
    print(f"{events:,} births and frees in each, median of {_RUNS}")
    for slots in (3_000, 8):
        world = World(events, slots)
        ours = world.snapshot(time=world.time // 1_000 * 1_000)
        seconds, found = measured(ours, traced(world))
        if found is None:
            raise SystemExit("the pair was not found")
        print(
            f"  {slots:5,} addresses   {seconds:.2f} s   {len(found):,} the same, "
            f"drift {found.clock.ppm:.3f} millionths, residual {found.spread[0]} ns"
        )
        seconds, found = measured(ours, traced(World(events, slots, seed=1)))
        if found is not None:
            raise SystemExit("two processes were taken for one")
        print(f"  {slots:5,} addresses   {seconds:.2f} s   another process: not a pair")


if __name__ == "__main__":
    main()
