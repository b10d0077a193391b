"""One import as TensorBoard does it, made into what the child process took, as JSON.

python -m benchmarks._import_child SOURCE FOLDER
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from tb_memory_plugin.store import children

_LIMITS = children.Limits(memory=1 << 36, seconds=3600)


def main() -> None:
    """Import and print wall and processor seconds and peak bytes of the child alone."""
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    start = time.perf_counter()
    children.read(source, "measured", folder, _LIMITS, _unheard)
    wall = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    sys.stdout.write(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit]))


def _unheard(fraction: float, phase: str) -> None:
    """Progress nobody asked for."""


if __name__ == "__main__":
    main()
