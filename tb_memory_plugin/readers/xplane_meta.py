"""What an XPlane says of itself, what it leaves out, and what is odd about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tb_memory_plugin.readers import xplane_tables as made
from tb_memory_plugin.readers.checked import INT64_MAX
from tb_memory_plugin.readers.xplane_memory import UNNAMED, Memory
from tb_memory_plugin.readers.xplane_planes import Planes
from tb_memory_plugin.readers.xplane_steps import incomplete
from tb_memory_plugin.readers.xplane_untraced import untraced
from tb_memory_plugin.readers.xplane_wire import Plane
from tb_memory_plugin.readers.xplane_words import word
from tb_memory_plugin.recording.schema import EARLIEST_UNIX

Missing = dict[str, str]

_FILE = re.compile(r"(.+)\.xplane\.pb(\.gz)?", re.IGNORECASE)
_VERSION = re.compile(r"[a-z_]+_version")
_NUMBERED = re.compile(r"(?P<kind>GPU)_(?P<number>\d{1,9})_bfc|(?P<index>\d{1,9})")


def meta(
    found: Sequence[Plane],
    planes: Planes,
    memory: Memory,
    tables: Mapping[str, pa.Table],
    origin: int,
) -> dict[str, Any]:
    """Devices, clock, host, versions, ``missing`` and ``problems`` of a recording."""
    said = dict(_said(found))
    start = said.get("profile_start_time")
    start = start if type(start) is int and 0 <= start <= INT64_MAX - abs(origin) else 0
    # Times count from the start of the profile, or are since 1970 themselves.
    whole = origin if origin >= EARLIEST_UNIX else origin + start
    process = said.get("process_id")
    return {
        "devices": _devices(planes, memory),
        "time_origin_ns": whole,
        "clock": "unix" if whole >= EARLIEST_UNIX else "monotonic",
        "pid": process if type(process) is int and 0 < process < 1 << 31 else None,
        "versions": {
            key: value
            for key, value in said.items()
            if _VERSION.fullmatch(key) and type(value) is str
        },
        "missing": list(_missing(planes, memory, tables)),
        "problems": list(_problems(planes, memory)),
    }


def host_of(name: str) -> str | None:
    """The host that a file is called after: ``<host>.xplane.pb``."""
    found = _FILE.fullmatch(name)
    return found[1] if found else None


def session_of(path: Path) -> str | None:
    """The session that the folder of a file is called after: ``plugins/profile/<session>/``."""
    above = path.absolute().parent
    return above.name if above.parent.parts[-2:] == ("plugins", "profile") else None


def _said(found: Sequence[Plane]) -> Iterator[tuple[str, int | str]]:
    """The stats of the planes themselves: the machine, versions, when it began."""
    for plane in found:
        for name, value in plane.said().items():
            yield word(name), word(value) if isinstance(value, bytes) else value


def _devices(planes: Planes, memory: Memory) -> list[dict[str, Any]]:
    found = []
    capacities, peaks = made.capacities(memory), made.lifetime_peaks(memory)
    for key, capacity, peak in zip(memory.keys, capacities, peaks, strict=True):
        entry: dict[str, Any] = {"key": key, "name": key}
        if planes.driver.is_driver(key):
            found.append({**entry, **planes.driver.about(key)})
            continue
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


def _missing(planes: Planes, memory: Memory, tables: Mapping[str, pa.Table]) -> Iterator[Missing]:
    if not len(tables["stacks"]):
        yield _missed(
            "stacks",
            "No call of Python was traced around an allocation: look at operators",
            "Profile with a python_tracer_level of 1; it knows calls of the threads of Python only",
        )
    if any(memory.rest):
        yield _missed(
            "allocations before the window",
            "Of what was alive before the profile began and was never freed in it the file "
            "has the sum only, and not how many blocks it is",
            "Begin to profile before the model is built",
        )
    if not planes.program.has_steps and not planes.steps() and not planes.has_groups:
        yield _missed(
            "steps",
            "No step is marked in the profile",
            "Put every step in a jax.profiler.StepTraceAnnotation or a "
            "tf.profiler.experimental.Trace with step_num",
        )
    if all(planes.driver.is_driver(key) for key in memory.keys):
        why = untraced(planes, ())
        yield _missed("allocators", f"The profile {why.fault}", why.remedy.capitalize())
    if planes.work.left_out:
        yield _missed(
            "the shortest kernels",
            f"Of what ran on devices the {planes.work.left_out} shortest are left out",
            "Profile for a shorter time",
        )
    if planes.links_left_out:
        yield _missed(
            "some arrows",
            f"{planes.links_left_out} links between what launched and what ran are left out",
            "Profile for a shorter time",
        )
    if planes.details.left_out:
        yield _missed(
            "arguments of some operations",
            f"What {planes.details.left_out} operations say beyond their names is left out: the "
            "file says too much that is different each time",
            "Give annotations fewer arguments, or profile for a shorter time",
        )
    made, size, freed = planes.driver.calls
    if made and not planes.driver.devices:
        yield _missed(
            "memory of the driver",
            f"The driver was asked for memory {made} times ({size} bytes) and freed some {freed} "
            "times, but the file does not say which",
            "",
        )
    if planes.driver.bandwidth:
        yield _missed(
            "HBM counters",
            f"{planes.driver.bandwidth} counters of HBM are of its bandwidth, not of bytes in use",
            "",
        )


def _missed(what: str, why: str, remedy: str) -> Missing:
    return {"what": what, "why": why, "remedy": remedy}


def _problems(planes: Planes, memory: Memory) -> Iterator[str]:
    for key, breaks in zip(memory.keys, memory.breaks, strict=True):
        if breaks:
            yield (
                f"{key}: {breaks} times what the allocator has allocated moves by other than the "
                "event says: events are missing from the file, and the curve goes by those that "
                "are there."
            )
    if UNNAMED in memory.keys:
        yield "Some events do not say which allocator they are of: they are shown apart."
    if planes.driver.strange:
        yield f"{planes.driver.strange} events of the driver's memory make no sense: left out."
    if planes.program.left_out:
        yield f"The {planes.program.left_out} shortest operations of the host are left out."
    if (steps := incomplete(planes, memory)) is not None:
        yield steps
    if memory.unsized:
        yield f"{memory.unsized} events say no size and nothing else does: they count as 0 bytes."
