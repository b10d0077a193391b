"""What an export of Nsight Systems says of itself: devices, clock, host, what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tb_memory_plugin.readers.checked import INT64_MAX, text
from tb_memory_plugin.readers.nsys_calls import Calls
from tb_memory_plugin.readers.nsys_database import Database
from tb_memory_plugin.readers.nsys_events import GROUPS, Driver, Place
from tb_memory_plugin.readers.nsys_ranges import STEP, Ranges, pid_of_process
from tb_memory_plugin.readers.nsys_work import Work

_NAMES = {
    "managed": "managed memory",
    "pinned": "pinned memory",
    "pageable": "pageable memory",
    "unknown": "unknown memory",
}
_VERSIONS = {"EXPORT_PRODUCT_VERSION": "nsight_systems", "EXPORT_SCHEMA_VERSION": "export_schema"}
_MOST_ROWS = 4_096  # of tables that hold a few


def meta(
    database: Database,
    driver: Driver,
    calls: Calls,
    ranges: Ranges | None,
    work: Work | None,
    origin: int,
) -> dict[str, Any]:
    """Devices, clock, host, versions, ``missing`` and ``problems`` of a recording."""
    start = _session_start(database)
    timed = driver.time is not None
    unix = start > 0 and 0 <= origin + start <= INT64_MAX
    pids = sorted({pid_of_process(place.process) for place in driver.places})
    return {
        "devices": [_device(database, place, several=len(pids) > 1) for place in driver.places],
        "time_origin_ns": (origin + start if unix else origin) if timed else None,
        "clock": ("unix" if unix else "monotonic") if timed else None,
        "host": _named(database, "TARGET_INFO_SYSTEM_ENV").get("Hostname"),
        "pid": pids[0] if len(pids) == 1 and pids[0] else None,
        "versions": {
            _VERSIONS[name]: value
            for name, value in _named(database, "META_DATA_EXPORT").items()
            if name in _VERSIONS
        },
        "missing": [*_missing(driver, calls, ranges), *_left_out(work)],
        "problems": list(_problems(driver)),
    }


def _device(database: Database, place: Place, *, several: bool) -> dict[str, Any]:
    group = GROUPS[place.group]
    pid = pid_of_process(place.process)
    name = _NAMES.get(group, f"cuda:{place.ordinal} driver")
    key = f"{group}:{place.ordinal}" if group == "device" else group
    entry: dict[str, Any] = {"type": "cuda" if group == "device" else "host"}
    if several:
        key, name = f"{key}@{pid}", f"{pid}: {name}"
        entry["pid"] = pid
    if group == "device":
        entry["ordinal"] = place.ordinal
        entry |= _gpu(database, place.ordinal, pid)
    elif group in ("managed", "unknown"):
        entry["type"] = group
    return {"key": key, "name": name, **entry}


def _gpu(database: Database, ordinal: int, pid: int) -> dict[str, Any]:
    """Capacity and model of the GPU that a process calls by this ordinal."""
    number = ordinal
    for cuda, gpu, process in _few(database, "TARGET_INFO_CUDA_DEVICE", "cudaId", "gpuId", "pid"):
        if cuda == ordinal and process == pid and type(gpu) is int:
            number = gpu  # CUDA_VISIBLE_DEVICES gives processes ordinals of their own
    for table in ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"):
        for known, size, name in _few(database, table, "id", "totalMemory", "name"):
            if known == number:
                found = {"capacity": size} if type(size) is int and 0 < size <= INT64_MAX else {}
                return {**found, **({"model": text(name)} if type(name) is str else {})}
    return {}


def _session_start(database: Database) -> int:
    """Nanoseconds since 1970 when the session began, 0 where that is not said."""
    for (start,) in _few(database, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"):
        if type(start) is int and 0 < start < INT64_MAX:
            return start
    return 0


def _named(database: Database, table: str) -> dict[str, str]:
    return {
        text(name): text(value)
        for name, value in _few(database, table, "name", "value")
        if type(name) is str and type(value) is str
    }


def _few(database: Database, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """The first rows of a small table; none where it is not there or has not these columns."""
    if not database.has(table, *columns):
        return []
    return [row for batch in database.rows(table, columns, f"LIMIT {_MOST_ROWS}") for row in batch]


def _missing(driver: Driver, calls: Calls, ranges: Ranges | None) -> Iterator[dict[str, str]]:
    if driver.time is None:
        yield {
            "what": "time",
            "why": "The export has no time stamps of memory events: they are in the order of the "
            "file",
            "remedy": "Profile with another version of Nsight Systems",
        }
    if not calls.chains:
        yield {
            "what": "call stacks",
            "why": "No call stacks of CUDA calls were recorded: stacks are of the call and the "
            "NVTX ranges it was made in",
            "remedy": "Profile with --cudabacktrace=memory",
        }
    if ranges is None or not (ranges.kind == STEP).any():
        yield {
            "what": "steps",
            "why": "No NVTX range is called a step (step 12, iteration 12)",
            "remedy": 'Push one around every step: torch.cuda.nvtx.range_push(f"step {number}")',
        }
    yield {
        "what": "the rest of the GPU's memory",
        "why": "The driver was asked for what is shown. CUDA's contexts, the code of kernels, what "
        "the driver rounds up, and other processes take more",
        "remedy": "Compare with nvidia-smi",
    }


def _left_out(work: Work | None) -> Iterator[dict[str, str]]:
    if work is None:
        return
    for what, count in work.left_out.items():
        if count:
            yield {
                "what": f"the shortest {what}",
                "why": f"Of the {what} the {count} shortest are left out",
                "remedy": "Profile for a shorter time",
            }
    if work.unsaid:
        yield {
            "what": "arguments of some kernels",
            "why": f"What {work.unsaid} kernels, copies and calls say beyond their names is left "
            "out: it is too much that is different each time",
            "remedy": "Profile for a shorter time",
        }


def _problems(driver: Driver) -> Iterator[str]:
    if driver.left_out:
        yield (
            f"{driver.left_out} memory events neither allocate nor free as far as is known here; "
            "they were left out."
        )
    if driver.unsized:
        yield (
            f"{driver.unsized} frees have no size and no allocation in the export: what they freed "
            "counts with 0 bytes."
        )
