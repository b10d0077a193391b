"""What CUDA's driver allocated and freed, by device and in order, as Nsight Systems exports it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.nsys_database import Database, Rows, combinations, enumeration
from tb_memory_plugin.recording.arrays import IntArray

EVENTS = "CUDA_GPU_MEMORY_USAGE_EVENTS"
_NEEDED = ("start", "deviceId", "address", "memKind", "memoryOperationType")
_ALSO = (
    "bytes",
    "globalPid",
    "correlationId",
    "streamId",
    "localMemoryPoolAddress",
    "localMemoryPoolSize",
    "localMemoryPoolUtilizedSize",
)

#: Kinds of memory as exports number them, for those without a table of their names.
KINDS = {
    0: "pageable",
    1: "pinned",
    2: "device",
    3: "array",
    4: "managed",
    5: "device static",
    6: "managed static",
    7: "unknown",
}
#: What fills up together; the order of devices.
GROUPS = ("device", "managed", "pinned", "pageable", "unknown")
_GROUP_OF = {
    "device": "device",
    "array": "device",
    "device static": "device",
    "managed": "managed",
    "managed static": "managed",
    "pinned": "pinned",
    "pageable": "pageable",
}
_OPERATIONS = {0: "allocation", 1: "deallocation"}
#: What CUPTI calls a stream where there is none.
_NO_STREAM = 0xFFFF_FFFF
_LATEST = 1 << 62
#: Of a global thread id the bits that are the thread's own.
TID_BITS = 24


@dataclass(frozen=True, order=True)
class Place:
    """One memory that fills up: ``group`` is a place in GROUPS, ``ordinal`` CUDA's, -1 for none."""

    group: int
    ordinal: int
    process: int  # a global process id without its thread's part


@dataclass(frozen=True)
class Driver:
    """Events by device, in order of time and of the file. All columns have a value an event.

    ``pool`` is a place in ``pools`` (addresses), -1 outside of pools; ``pool_size`` is what the
    event says of its pool's size, -1 for nothing. ``kind`` and ``name`` are codes of ``kinds`` and
    ``names``.
    """

    places: list[Place]
    device: IntArray
    time: IntArray | None  # ns of the session; None where the file has no time stamps
    born: IntArray
    address: IntArray
    bytes: IntArray
    unsized: int  # frees of which nothing tells the size
    kind: IntArray
    kinds: list[str]
    process: IntArray
    correlation: IntArray
    stream: IntArray  # -1 for none
    pool: IntArray
    pools: list[int]
    pool_size: IntArray
    name: IntArray
    names: list[str]
    left_out: int  # events that neither allocate nor free

    def ordinals(self) -> IntArray:
        """Of every event its place on its device."""
        starts = np.searchsorted(self.device, np.arange(len(self.places)))
        return np.arange(len(self.device)) - starts[self.device]


def driver_events(database: Database) -> Driver:
    """All memory events. Raises Malformed; the table is there."""
    lacks = database.lacks(EVENTS, _NEEDED)
    if lacks:
        raise Malformed(f"has a table {EVENTS} without a column {lacks[0]}")
    rows = database.columns(EVENTS, _NEEDED, _ALSO, ["name"])
    operation = enumeration(database, "ENUM_CUDA_DEV_MEM_EVENT_OPER", "label", _OPERATIONS)
    numbers, code = _coded(rows, "memoryOperationType")
    does = np.array([operation.get(each, "") for each in numbers], dtype=str)[code]
    chosen = np.flatnonzero((does == "allocation") | (does == "deallocation"))
    return _ordered(database, rows, chosen, does[chosen] == "allocation")


def _ordered(database: Database, rows: Rows, chosen: IntArray, born: IntArray) -> Driver:
    time = rows["start"][chosen]
    if len(time) and max(abs(int(time.min())), abs(int(time.max()))) > _LATEST:
        raise Malformed("has time stamps that are none")
    kinds = enumeration(database, "ENUM_CUDA_MEM_KIND", "label", KINDS)
    numbers, kind = _coded(rows, "memKind")
    words, kind = [kinds.get(each, f"kind {each}") for each in numbers], kind[chosen]
    group = np.array([GROUPS.index(_GROUP_OF.get(word, "unknown")) for word in words], np.int64)
    group = group[kind]
    ordinal = np.where(group == 0, rows["deviceId"][chosen], -1)
    process = rows["globalPid"][chosen] >> TID_BITS
    address = rows["address"][chosen].view(np.uint64)
    pools, pool = np.unique(rows["localMemoryPoolAddress"][chosen], return_inverse=True)
    pool = np.where(np.isin(rows["localMemoryPoolAddress"][chosen], (-1, 0)), -1, pool)
    timed = bool(time.any())
    order = np.argsort(time, kind="stable") if timed else np.arange(len(time))
    columns = [group, ordinal, process, address, pool, born, rows["bytes"][chosen]]
    group, ordinal, process, address, pool, born, size = (each[order] for each in columns)
    birth = _births(process, address, born)
    freed = np.flatnonzero(birth >= 0)
    for column in (group, ordinal, pool):  # a free is where its allocation is
        column[freed] = column[birth[freed]]
    size, unsized = _sizes(size, born, birth)
    distinct, device = combinations(group, ordinal, process)
    if len(distinct) > np.iinfo(np.int16).max:
        raise Malformed(f"has {len(distinct)} devices")
    last = np.argsort(device, kind="stable")
    taken = chosen[order][last]
    stream = rows["streamId"][taken]
    whole = np.maximum(rows["localMemoryPoolSize"], rows["localMemoryPoolUtilizedSize"])
    return Driver(
        places=[Place(*each) for each in distinct.tolist()],
        device=device[last],
        time=time[order][last] if timed else None,
        born=born[last],
        address=address[last],
        bytes=size[last],
        unsized=unsized,
        kind=kind[order][last],
        kinds=words,
        process=process[last],
        correlation=rows["correlationId"][taken],
        stream=np.where((stream < 0) | (stream == _NO_STREAM), -1, stream),
        pool=pool[last],
        pools=pools.tolist(),
        pool_size=whole[taken],
        name=rows.codes["name"][taken],
        names=rows.words["name"],
        left_out=len(rows["start"]) - len(chosen),
    )


def _births(process: IntArray, address: IntArray, born: IntArray) -> IntArray:
    """Of every free the event that allocated what it frees, -1 for none and for allocations.

    Addresses are those of a process: two may have the same.
    """
    found = np.full(len(born), -1, dtype=np.int64)
    order = np.lexsort((np.arange(len(born)), address, process))
    before, here = order[:-1], order[1:]
    same = (address[before] == address[here]) & (process[before] == process[here])
    freed = same & born[before] & ~born[here]
    found[here[freed]] = before[freed]
    return found


def _sizes(size: IntArray, born: IntArray, birth: IntArray) -> tuple[IntArray, int]:
    """Sizes that are known of all events, frees being as large as their allocation says."""
    if (size < -1).any() or (size[born] < 0).any():
        raise Malformed("has an allocation of less than nothing, or one without a size")
    without = np.flatnonzero(~born & (size <= 0))
    known = without[birth[without] >= 0]
    found = np.maximum(size, 0)
    found[known] = found[birth[known]]
    return found, len(without) - len(known)


def _coded(rows: Rows, name: str) -> tuple[list[int], IntArray]:
    """The distinct numbers in a column, and the place among them of every row's."""
    numbers, code = np.unique(rows[name], return_inverse=True)
    return numbers.tolist(), code.reshape(-1)
