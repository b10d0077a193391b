"""How indexing and asking grow with the recording: from 100 000 to 10 000 000 events.

Snapshots of the simulated training job (``_training``), beside a plain ``pickle.load`` of each.
Indexing is the import child as TensorBoard starts it. Window queries are those of ``usage_window``,
on the mapped entry, in a process of their own, grouping by grouping as somebody looks at them: the
first of each apart, which works out the grouping, then windows of every zoom. Tiles are those of
``http_tiles``, all tiles of random windows, asked a second time: what the first of each grouping
works out grows with the recording, and is told for windows. The list of all events is asked for
pages anywhere in it and for the place of an event, filter by filter (the first use of each apart:
it goes through all events), the allocator's state after random events. All are judged by processor
time, which is steady on a machine that does other things.

The fits: a line (least squares of relative misses) and an exponent (slope of logarithms).

    python -m benchmarks.growth [--events N,N,…] [--queries N] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import _training
from benchmarks._growing import asked
from benchmarks._measure import LOAD, ROOT, by_turns, spawned
from benchmarks.snapshot_index import imported
from benchmarks.usage_window import Times
from tb_memory_plugin.readers.limits import available

EVENTS = (100_000, 300_000, 1_000_000, 2_700_000, 10_000_000)
_ONCE_FROM = 2_500_000  # events: longer ones are measured once
_MILLION = 1_000_000
_EACH = 1_000  # bytes of memory an event takes, about, when a snapshot is made


@dataclass(frozen=True)
class Row:
    """What was measured of one recording; seconds and bytes."""

    events: int
    file: int
    entry: int
    load: float
    load_peak: int
    wall: float
    processor: float
    peak: int
    first: Times
    queries: Times
    tiles: Times
    first_filtered: Times
    listed: Times
    states: Times


def measured(events: int, queries: int, folder: Path) -> Row:
    """One recording of ``events`` events."""
    path, cache = folder / "snapshot.pickle", folder / "cache"
    # In a process of its own: a child's peak memory counts from its parent's.
    spawned(_training.write, events, path)
    found = by_turns(
        {
            "load": [sys.executable, "-c", LOAD, str(path)],
            "index": partial(imported, path, cache),
        },
        rounds=1 if events >= _ONCE_FROM else 3,
    )
    (entry,) = cache.glob("*.tbmem")
    return Row(
        events,
        path.stat().st_size,
        entry.stat().st_size,
        found["load"].wall,
        found["load"].peak,
        found["index"].wall,
        found["index"].processor,
        found["index"].peak,
        *asked_elsewhere(entry, queries),
    )


def asked_elsewhere(entry: Path, queries: int) -> list[Times]:
    """:func:`asked`, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth", "--ask", str(entry)]
    command += ["--queries", str(queries)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return [Times(**times) for times in json.loads(done.stdout)]


def line(events: list[int], values: list[float]) -> tuple[float, float, float]:
    """Start and slope (per million events) of the line, and its largest relative miss."""
    x, y = np.array(events) / _MILLION, np.array(values)
    slope, start = np.polyfit(x, y, 1, w=1 / y)
    return float(start), float(slope), float(np.abs((start + slope * x) / y - 1).max())


def exponent(events: list[int], values: list[float]) -> float:
    """The power of the number of events that ``values`` grow with."""
    return float(np.polyfit(np.log(events), np.log(values), 1)[0])


def fitted(rows: list[Row]) -> list[str]:
    """The fits in words."""
    events = [row.events for row in rows]
    words = []
    for name, unit, values in (
        ("index, processor s", "s", [row.processor for row in rows]),
        ("index, peak MiB", "MiB", [row.peak / 2**20 for row in rows]),
        ("entry MiB", "MiB", [row.entry / 2**20 for row in rows]),
    ):
        start, slope, miss = line(events, values)
        large = [place for place, count in enumerate(events) if count >= _MILLION]
        late = [events[place] for place in large], [values[place] for place in large]
        words.append(
            f"{name:20} {start:7.2f} {unit} + {slope:7.2f} {unit} a million events, "
            f"{miss:4.0%} off at most; exponent {exponent(events, values):.2f}"
            + (f", from a million on {exponent(*late):.2f}" if len(large) > 1 else "")
        )
    for name, times in (
        ("window, median ms", [row.queries.median for row in rows]),
        ("tile, median ms", [row.tiles.median for row in rows]),
        ("list, median ms", [row.listed.median for row in rows]),
        ("state, median ms", [row.states.median for row in rows]),
    ):
        grown = f"{times[-1] / times[0]:.1f} × from {events[0]:,} to {events[-1]:,} events"
        words.append(f"{name:20} {grown}; exponent {exponent(events, times):.2f}")
    return words


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", default=",".join(map(str, EVENTS)))
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ask:
        print(json.dumps([asdict(times) for times in asked(chosen.ask, chosen.queries)]))
        return
    rows = []
    for events in map(int, chosen.events.split(",")):
        if events * _EACH > available():
            print(f"{events:,} events are left out: {available() / 2**30:.1f} GiB are available")
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(events, chosen.queries, Path(folder)))
    if chosen.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    print("A simulated training job, stacks 40 deep; windows in milliseconds of processor time")
    print(
        "    events  file MiB | pickle.load s  peak MiB | index s  processor s  peak MiB  "
        "entry MiB | window ms first  median   p95 | tile ms  median   p95"
    )
    for row in rows:
        print(
            f"{row.events:10,}{row.file / 2**20:10.0f} |{row.load:14.2f}"
            f"{row.load_peak / 2**20:10.0f} |{row.wall:8.2f}{row.processor:13.2f}"
            f"{row.peak / 2**20:10.0f}{row.entry / 2**20:11.0f} |"
            f"{row.first.median:16.1f}{row.queries.median:8.2f}{row.queries.p95:6.2f} |"
            f"{row.tiles.median:16.2f}{row.tiles.p95:6.2f}"
        )
    print("    events | list of events ms first  median   p95 | state ms median   p95")
    for row in rows:
        print(
            f"{row.events:10,} |{row.first_filtered.median:24.1f}{row.listed.median:8.2f}"
            f"{row.listed.p95:6.2f} |{row.states.median:16.2f}{row.states.p95:6.2f}"
        )
    print("\n".join(fitted(rows)))


if __name__ == "__main__":
    main()
