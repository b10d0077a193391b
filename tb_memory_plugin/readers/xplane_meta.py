"""What an XPlane says of itself, what it leaves out, and what is odd about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tb_memory_plugin.readers import xplane_tables as made
from tb_memory_plugin.readers.checked import INT64_MAX
from tb_memory_plugin.readers.xplane_memory import UNNAMED, Memory
from tb_memory_plugin.readers.xplane_planes import Planes, word

#: In the year 2001: an earlier time stamp is not one since 1970.
_UNIX = 10**18
_VERSION = re.compile(r"[a-z_]+_version")
_NUMBERED = re.compile(r"(?P<kind>GPU)_(?P<number>\d{1,9})_bfc|(?P<index>\d{1,9})")


def meta(space: Any, planes: Planes, memory: Memory, origin: int) -> dict[str, Any]:
    """Devices, clock, host, versions, ``missing`` and ``problems`` of a recording."""
    said = dict(_said(space))
    start = said.get("profile_start_time")
    start = start if type(start) is int and 0 <= start <= INT64_MAX - abs(origin) else 0
    # Times count from the start of the profile, or are since 1970 themselves.
    whole = origin if origin >= _UNIX else origin + start
    process = said.get("process_id")
    return {
        "devices": _devices(planes, memory),
        "time_origin_ns": whole,
        "clock": "unix" if whole >= _UNIX else "monotonic",
        "host": next((word(name) for name in space.hostnames if name), None),
        "pid": process if type(process) is int and 0 < process < 1 << 31 else None,
        "versions": {
            key: value
            for key, value in said.items()
            if _VERSION.fullmatch(key) and type(value) is str
        },
        "missing": list(_missing(planes, memory)),
        "problems": list(_problems(memory)),
    }


def _said(space: Any) -> Iterator[tuple[str, int | str]]:
    """The stats of the planes themselves: the machine, versions, when it began."""
    for plane in space.planes:
        names = {entry.key: entry.value.name for entry in plane.stat_metadata}
        for stat in plane.stats:
            name = names.get(stat.metadata_id)
            if name:
                yield word(name), word(stat.str_value) or stat.int64_value or stat.uint64_value


def _devices(planes: Planes, memory: Memory) -> list[dict[str, Any]]:
    found = []
    capacities, peaks = made.capacities(memory), made.lifetime_peaks(memory)
    for key, capacity, peak in zip(memory.keys, capacities, peaks, strict=True):
        entry: dict[str, Any] = {"key": key, "name": key}
        numbered = _NUMBERED.fullmatch(key)
        if numbered is not None:
            number = int(numbered["number"] or numbered["index"])
            # A bare number is the index of a device, whose plane says what it is one of.
            kind = numbered["kind"] or ("TPU" if f"TPU:{number}" in planes.devices else "")
            if numbered["index"]:
                entry["name"] = f"{kind}:{number}" if kind else f"device {number}"
            entry["ordinal"] = number
            if kind:
                entry["type"] = kind.lower()
        if capacity is not None:
            entry["capacity"] = capacity
        if peak is not None:
            entry["lifetime_peak"] = peak
        found.append(entry)
    return found


def _missing(planes: Planes, memory: Memory) -> Iterator[dict[str, str]]:
    yield {
        "what": "stacks",
        "why": "An XPlane does not say from which calls an allocation came: look at operators",
        "remedy": "",
    }
    if any(memory.rest):
        yield {
            "what": "allocations before the window",
            "why": "Of what was alive before the profile began and was never freed in it the file "
            "has the sum only: it is one block",
            "remedy": "Begin to profile before the model is built",
        }
    if not any(span.kind == "step" for span in planes.spans) and not (
        memory.events.seen("group").any()
    ):
        yield {
            "what": "steps",
            "why": "No step is marked in the profile",
            "remedy": "Put every step in a jax.profiler.StepTraceAnnotation or a "
            "tf.profiler.experimental.Trace with step_num",
        }


def _problems(memory: Memory) -> Iterator[str]:
    for key, breaks in zip(memory.keys, memory.breaks, strict=True):
        if breaks:
            yield (
                f"{key}: {breaks} times what the allocator has allocated moves by other than the "
                "event says: events are missing from the file, and the curve goes by those that "
                "are there."
            )
    if UNNAMED in memory.keys:
        yield "Some events do not say which allocator they are of: they are shown apart."
    if memory.unsized:
        yield f"{memory.unsized} events say no size and nothing else does: they count as 0 bytes."
