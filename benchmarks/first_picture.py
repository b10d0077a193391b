"""From a click on a snapshot to the picture of all its allocations, in a real Chromium.

A snapshot of a long training job (2 700 000 events, 900 000 allocations); the page of a real
TensorBoard is open, somebody clicks on it, and the Allocations view has drawn. Cold: it is read
for the first time. Warm: by another server, from the cache. Beside it a plain ``pickle.load`` of
the same file in a process of its own. The bars are 2.2 × that, and 0.5 s. A picture fills up tile
by tile: how long it takes until none is lacking is told beside.

    python -m benchmarks.first_picture [--events N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks import _clicking, _training
from benchmarks._measure import LOAD, run

_WARM = 5  # times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_700_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _clicking.chromium_open() as browser:
        logdir = _clicking.logdir_with(Path(folder), _training.write, chosen.events)
        path = _clicking.clicked_on(logdir)
        plain = run([sys.executable, "-c", LOAD, str(path)]).wall
        cold, *warm = (
            _clicking.seconds(browser, logdir, "allocations", _clicking.PICTURE)
            for _ in range(_WARM + 1)
        )
        whole = [
            _clicking.seconds(browser, logdir, "allocations", _clicking.WHOLE_PICTURE)
            for _ in range(_WARM)
        ]
    print(f"{chosen.events:,} events, {path.name}: from the click to the picture")
    print(f"  pickle.load  {plain:7.2f} s")
    print(f"  cold         {cold:7.2f} s   {cold / plain:.2f} × pickle.load")
    print(f"  warm         {statistics.median(warm):7.2f} s   fastest {min(warm):.2f} s")
    print(f"  warm, whole  {statistics.median(whole):7.2f} s   fastest {min(whole):.2f} s")


if __name__ == "__main__":
    main()
