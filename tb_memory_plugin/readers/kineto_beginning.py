"""The first bytes of a Kineto trace, made into what they say of its rank and of when it began."""

from __future__ import annotations

import re
from typing import Any

from tb_memory_plugin.recording.schema import EARLIEST_UNIX

_DISTRIBUTED = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]*')
_NUMBERS = re.compile(rb'"(rank|world_size)"\s*:\s*(\d{1,9})\b')
_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d{1,19})\b')
_EVENTS = re.compile(rb'"traceEvents"\s*:')
_TIME = re.compile(rb'"ts"\s*:\s*(\d{1,16})(?:\.(\d{1,3}))?')


def beginning(start: bytes) -> dict[str, Any]:
    """``rank`` and ``world_size``, and of a clock since 1970 ``clock`` and ``time_origin_ns``.

    What ``start`` does not say is left out. Kineto writes what it knows of the job before the
    events, whose times are microseconds.
    """
    found: dict[str, Any] = {}
    job = _DISTRIBUTED.search(start)
    for number in _NUMBERS.finditer(job[0] if job else b""):
        found[number[1].decode()] = int(number[2])
    base = _BASE.search(start)
    events = _EVENTS.search(start)
    origin = int(base[1]) if base else 0
    times = [
        origin + int(time[1]) * 1000 + int((time[2] or b"").ljust(3, b"0"))
        for time in _TIME.finditer(start, events.end() if events else 0)
    ]
    first = min((time for time in times if time >= EARLIEST_UNIX), default=None)
    if first is not None:
        found |= {"clock": "unix", "time_origin_ns": first}
    return found
