"""A derived recording of many events whose allocations share segments, made in seconds."""

from __future__ import annotations

from heapq import heappop, heappush
from pathlib import Path

import numpy as np

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.recording.schema import Action

_GAP_NS = 1_400
_BASE = 0x7F << 40
_SEGMENT = 32 << 20
_PLACES = 4  # pools and streams in turn


def packed(events: int, seed: int = 0) -> Recording:
    """A caching allocator's history: ``events`` entries beside those of segments.

    Lives are short, of a step, or of the whole recording. Each takes the lowest free slot of its
    class of sizes; slots lie in segments that are mapped when their first slot is taken.
    """
    random = np.random.default_rng(seed)
    births = events // 3 + 1
    born = np.sort(random.random(births)) * births
    lengths = random.choice([20.0, births / 200, 10.0 * births], births, p=[0.7, 0.28, 0.02])
    died = born + random.exponential(lengths)
    size = (2 ** random.uniform(9, 26, births)).astype(np.int64)
    address, segment, mapped = _slots(born.tolist(), died.tolist(), size)
    begin, extent, opener = (np.array(column) for column in zip(*mapped, strict=True))
    place = np.arange(len(mapped)) % _PLACES

    moments = np.concatenate([born[opener], born, died, died])
    kinds = np.repeat(
        [Action.SEGMENT_ALLOC, Action.ALLOC, Action.FREE_REQUESTED, Action.FREE_COMPLETED],
        [len(mapped), births, births, births],
    )
    rank = np.repeat([0, 1, 2, 3], [len(mapped), births, births, births])
    addresses = np.concatenate([begin, address, address, address]).astype(np.uint64)
    sizes = np.concatenate([extent, size, size, size])
    places = np.concatenate([place, place[segment], place[segment], place[segment]])
    inside = np.flatnonzero(moments < births)
    order = inside[np.lexsort((rank[inside], moments[inside]))]
    count = len(order)
    live = np.flatnonzero(died >= births)
    live = live[np.argsort(address[live])]
    zeros = np.zeros(count, dtype=np.int16)
    whole = np.argsort(begin)
    tables = {
        "events": builder.table(
            "events",
            {
                "device": zeros,
                "time": np.arange(count) * _GAP_NS,
                "action": kinds[order],
                "address": addresses[order],
                "size": sizes[order],
                "stream": places[order] % 2,
                "pool": places[order] // 2,
            },
        ),
        "blocks": builder.table(
            "blocks",
            {
                "device": zeros[: len(live)],
                "segment": segment[live],
                "address": address[live],
                "size": (size[live] + 511) // 512 * 512,
                "requested": size[live],
                "state": zeros[: len(live)],
            },
        ),
        "segments": builder.table(
            "segments",
            {
                "device": zeros[: len(mapped)],
                "address": begin[whole],
                "size": extent[whole],
                "pool": place[whole] // 2,
                "stream": place[whole] % 2,
            },
        ),
    }
    meta = {
        "format": "made by code",
        "basis": "requested",
        "devices": [{"key": "0", "name": "cuda:0"}],
        "pools": [[0, 0], [0, 1]],
        "time_origin_ns": 0,
    }
    return builder.recording(meta, tables)


def write(events: int, path: Path) -> Path:
    """The recording of :func:`packed`, derived, in a file as the cache keeps it."""
    save(derive(packed(events)), path)
    return path


def _slots(
    born: list[float], died: list[float], size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int, int]]]:
    """Address and segment of every life; of every segment its address, size and first life."""
    power = np.frexp(size.astype(np.float64))[1].tolist()
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[float, int]]] = {}
    address, owner = [], []
    segments: list[tuple[int, int, int]] = []
    of_address: dict[int, int] = {}
    for life, (birth, death, wide) in enumerate(zip(born, died, power, strict=True)):
        taken, open_ = busy.setdefault(wide, []), free.setdefault(wide, [])
        while taken and taken[0][0] < birth:
            heappush(open_, heappop(taken)[1])
        if not open_:
            slot = 1 << wide
            extent = max(_SEGMENT, slot)
            begin = _BASE + len(segments) * (1 << 30)
            for offset in range(0, extent, slot):
                heappush(open_, begin + offset)
                of_address[begin + offset] = len(segments)
            segments.append((begin, extent, life))
        place = heappop(open_)
        heappush(taken, (death, place))
        address.append(place)
        owner.append(of_address[place])
    return np.array(address), np.array(owner), segments
