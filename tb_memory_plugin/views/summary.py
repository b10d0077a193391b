"""A recording, made into what the page needs to know before it draws anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tb_memory_plugin.analysis import exact, reported
from tb_memory_plugin.analysis.alive import (
    alive_rows,
    bytes_of,
    peak_row,
    reserved_known,
    segments_known,
    sums_only,
)
from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.facts import device_facts, out_of_memory
from tb_memory_plugin.analysis.grouping import FIRST, GROUPINGS, group_ids
from tb_memory_plugin.analysis.hlo_modules import hlo_modules
from tb_memory_plugin.analysis.instants import event_time, event_times, of_row, step_at
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.plan_reading import all_plans
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.plan_overview import listed, unplanned
from tb_memory_plugin.views.tile.extents import placed

_SAID_ELSEWHERE = ("problems", "missing", "devices", "pools", "time_origin_ns", "format", "basis")
#: Out-of-memory errors that are told one by one, the last.
_MOST_FAILURES = 500

_FACTS = (
    "allocs",
    "frees",
    "reserved_start",
    "reserved_end",
    "reserved_peak",
    "blocks_before_window",
)


def summary(
    recording: Recording,
    *,
    version: str,
    run: str,
    name: str,
    live: bool = False,
    devices: Sequence[Device] | None = None,
) -> dict[str, Any]:
    """The answer of ``GET summary``; what only the store knows comes as arguments.

    ``devices`` are those that are told of, all of them where that is None.
    """
    meta = recording.meta
    devices = recording.devices if devices is None else devices
    timed = any(event_times(recording, device) is not None for device in devices)
    return {
        "version": version,
        "format": meta["format"],
        "basis": meta["basis"],
        "run": run,
        "name": name,
        "time_origin_ns": meta["time_origin_ns"],
        "live": live,
        "problems": list(meta["problems"]),
        "missing": list(meta["missing"]),
        "groupings": [
            {"key": by, "label": label} for by, label in GROUPINGS.items() if _tells(recording, by)
        ],
        "axes": ["time", "event"] if timed else ["event"],
        "meta": {key: value for key, value in meta.items() if key not in _SAID_ELSEWHERE},
        "devices": [_device(recording, device) for device in devices],
        "plans": listed(recording),
        "unplanned": unplanned(recording),
    }


def brief(recording: Recording) -> dict[str, Any]:
    """What lists of recordings say of one.

    ``events``, ``steps``, ``devices``, ``modules`` (of HLO) and ``peak_bytes``: the highest peak of
    a device, which is ``peak_device`` and has ``capacity`` bytes, if that is known. Without devices
    it is the highest that is planned for a module, None where no module has a plan.
    """
    found: list[tuple[int, str | None, int | None]] = [
        (
            int(recording.values("usage", "allocated", device)[peak_row(recording, device)]),
            device.name,
            device.capacity,
        )
        for device in recording.devices
    ]
    planned = [
        (plan.numbers["peak"], f"{plan.module_name} · {plan.space_name}", None)
        for plan in all_plans(recording)
    ]
    modules = len(recording.table("modules"))
    nothing = (None if modules else 0, None, None)
    told = found or planned
    peak, name, capacity = max(told, key=lambda each: each[0]) if told else nothing
    return {
        "events": len(recording.table("events")),
        "steps": max((_steps(recording, device) for device in recording.devices), default=0),
        "devices": len(recording.devices),
        "modules": modules,
        "peak_bytes": peak,
        "peak_device": name,
        "capacity": capacity,
    }


def default_grouping(recording: Recording, device: Device) -> str:
    """Category where over half of the peak's bytes have one, else stack.

    Where no allocation at the peak has a stack but some have an op, op.
    """
    event = int(recording.values("usage", "event", device)[peak_row(recording, device)])
    rows = alive_rows(recording, device, event)
    amount = bytes_of(recording, device)[rows]
    known = {
        by: exact.total(amount[group_ids(recording, device, by).ids[rows] >= FIRST])
        for by in ("category", "stack", "op")
    }
    if 2 * known["category"] > exact.total(amount):
        return "category"
    return "op" if known["op"] and not known["stack"] else "stack"


def _tells(recording: Recording, by: str) -> bool:
    """Whether grouping ``by`` can tell anything apart in this recording."""
    if by in ("stack", "size", "pattern"):
        return True
    if by == "rounding":  # of an allocator's the numbers say enough
        return bool(recording.meta.get("is_plan"))
    if by in ("lifetime", "age"):
        return len(recording.table("events")) > 0
    columns = {"dtype_shape": ("dtype", "shape")}.get(by, (by,))
    table = recording.table("allocations")
    return any(table.column(name).null_count < len(table) for name in columns)


def _device(recording: Recording, device: Device) -> dict[str, Any]:
    key = ("summary", device.index)
    facts = memo(recording, key, lambda: device_facts(recording, device))
    peak = of_row(recording, device, peak_row(recording, device))
    times = event_times(recording, device)
    reserved = recording.values("usage", "reserved", device)[peak.row]
    # Also where a trace has no totals: then above what it does not know of, as the curve is.
    allocated = recording.values("usage", "allocated", device)
    begun = int(allocated[0])
    failures = out_of_memory(recording, device)
    return {
        "key": device.key,
        "name": device.name,
        "capacity": device.capacity,
        "events": facts["events"],
        "begin_time": None if times is None else int(times[0]),
        "end_time": None if times is None else int(times[-1]),
        "default_grouping": default_grouping(recording, device),
        **{name: facts[name] for name in _FACTS},
        "allocated_start": begun,
        "allocated_end": int(allocated[-1]),
        "allocated_peak": int(allocated[peak.row]),
        "peak_event": peak.event,
        "peak_time": peak.time,
        "peak_step": step_at(recording, device, peak.time),
        "reserved_at_peak": int(reserved) if reserved_known(recording, device) else None,
        "bytes_before_window": begun,
        "sums_before_window": len(sums_only(recording, device)),
        "allocator": _allocator(recording, device, facts.get("allocator")),
        "areas": list(reported.areas(recording, device)),
        "addresses": placed(recording, device),
        "segments": segments_known(recording, device),
        "lifetime_peak": recording.meta["devices"][device.index].get("lifetime_peak"),
        "oom": [
            {
                "event": failure["event"],
                "time": event_time(recording, device, failure["event"]),
                "requested": failure["requested"],
                "device_free": failure["device_free"],
            }
            for failure in failures[-_MOST_FAILURES:]
        ],
        "oom_count": len(failures),
        "steps": _steps(recording, device),
        "modules": len(hlo_modules(recording, device)[0].rows),
    }


def _allocator(
    recording: Recording, device: Device, said: dict[str, Any] | None
) -> dict[str, Any] | None:
    """What the allocator said of its peak, with its moment and step; None where it says nothing."""
    if said is None:
        return None
    time = event_time(recording, device, said["event"])
    return {**said, "time": time, "step": step_at(recording, device, time)}


def _steps(recording: Recording, device: Device) -> int:
    spans = spans_of_kind(recording, "step", device)
    return len(arrays.distinct(spans.begin))
