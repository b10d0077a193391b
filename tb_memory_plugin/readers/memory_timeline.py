"""What ``profiler.export_memory_timeline`` writes: memory by category over time, of one device.

``.json`` holds the level of every category at every time, ``.raw.json.gz`` what moved them. Neither
says which allocation is freed, so lives are made up: sums are exact, single lives are not.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import memory_timeline_lives as lives
from tb_memory_plugin.readers import opening
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.glance import Progress, look, unheard
from tb_memory_plugin.readers.trace_stream import NOT_JSON
from tb_memory_plugin.readers.whole import whole
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording

FORMAT = "memory_timeline"

#: Inflated bytes; real ones have a few million.
MOST_BYTES = 1 << 30

_NAMES = re.compile(r"\.(json(\.gz)?|html)$", re.IGNORECASE)
#: The first time stamp: what was there before (-1), or micro- or nanoseconds since 1970.
_HEAD = re.compile(rb"\A\s*\[\s*\[\s*(-1|\d{16,19})\s*[,\]]")
_PICTURE = b"<title>GPU Memory Timeline HTML</title>"
_REMEDY = "export it again with profiler.export_memory_timeline() and copy it whole"

_levels = msgspec.json.Decoder(tuple[list[int], list[list[int]]]).decode
_moves = msgspec.json.Decoder(list[tuple[int, int, int, int]]).decode


def matches(name: str, head: bytes) -> bool:
    """Whether a file of this name and first bytes is a memory timeline. No I/O."""
    start = opening.inflated_head(head)
    is_one = _HEAD.match(start) is not None or _PICTURE in start[:1024]
    return is_one and _NAMES.search(name) is not None


def probe(path: Path) -> dict[str, Any]:
    """``compressed`` and ``bytes`` of a file. Raises SourceError where it cannot be read."""
    told, _ = look(path)
    return told


def read(path: Path, progress: Progress | None = None, limit: int = MOST_BYTES) -> Recording:
    """The tables of a timeline, of at most ``limit`` inflated bytes. Raises SourceError."""
    report = progress or unheard
    try:
        with whole(path, limit, lambda part: report(0.5 * part, "reading")) as data:
            _check_numbers(path.name, data[:1024])
            report(0.5, "indexing")
            return _recording(data, path.name)
    except Malformed as error:
        fault = f"is not a valid memory timeline: {error}"
        raise SourceError(path.name, fault, _REMEDY) from error


def _check_numbers(name: str, start: bytes) -> None:
    if _PICTURE in start:
        raise SourceError(
            name,
            "holds a picture and no numbers, as every memory timeline that is exported as HTML",
            "export it as .json.gz or .raw.json.gz",
        )


def _recording(data: bytes, name: str) -> Recording:
    try:
        found = lives.of_levels(*_levels(data))
        is_raw = False
    except (msgspec.DecodeError, UnicodeDecodeError):
        try:
            found = lives.of_moves(_moves(data))
        except NOT_JSON as error:
            raise Malformed(f"{str(error)[:80]}") from None
        is_raw = True
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    meta = {
        "format": FORMAT,
        "basis": "size",
        "source": name,
        "devices": [{"key": "device", "name": "device"}],
        "time_origin_ns": found.origin,
        "clock": "unix",
        "missing": [_DEVICE, _LIVES if is_raw else _ALLOCATIONS, _ADDRESSES, _STACKS],
        "problems": found.problems,
    }
    return builder.recording(meta, found.tables())


_DEVICE = {
    "what": "name of the device",
    "why": "A memory timeline is of one device and does not say of which",
    "remedy": "Look where it was exported: export_memory_timeline(path, device=…)",
}
_LIVES = {
    "what": "lives",
    "why": "A raw memory timeline does not say which allocation is freed: a free is taken for that "
    "of the latest one of its size and category. Sums are exact, single lives are guesses, and a "
    "tensor whose contents are written anew ends and begins again",
    "remedy": "Take a snapshot, or record with MemoryWriter",
}
_ALLOCATIONS = {
    "what": "allocations",
    "why": "A memory timeline holds how much of each category there was and not the allocations: "
    "what is drawn as one is a rise of its category. Sums are exact",
    "remedy": "Export it as .raw.json.gz, take a snapshot, or record with MemoryWriter",
}
_ADDRESSES = {
    "what": "addresses",
    "why": "A memory timeline does not say where allocations are",
    "remedy": "Export the trace as well (export_chrome_trace), or take a snapshot",
}
_STACKS = {
    "what": "stacks",
    "why": "A memory timeline holds no call stacks, operators or modules",
    "remedy": "Export the trace as well (export_chrome_trace), or take a snapshot",
}
