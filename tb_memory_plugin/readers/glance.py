"""What readers have alike: a cheap look at a file, and progress that nobody hears."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tb_memory_plugin.readers import opening

#: The part of the work that is done, and what is being done.
Progress = Callable[[float, str], None]


def unheard(part: float, phase: str) -> None:
    """Progress nobody asked for."""


def look(path: Path) -> tuple[dict[str, Any], bytes]:
    """``compressed`` and ``bytes`` of a file, and its first bytes, inflated if it is gzip.

    Raises SourceError where it cannot be read.
    """
    with opening.regular_file(path, path.name) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(opening.HEAD)
    told = {"compressed": head.startswith(opening.GZIP_MAGIC), "bytes": size}
    return told, opening.inflated_head(head)
