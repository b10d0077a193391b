"""A derived recording of many events whose allocations share segments, made in seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks._recordings import stack_tables
from benchmarks._slots import slots
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.recording.schema import Action

_GAP_NS = 1_400
_PLACES = 4  # pools and streams in turn
_STACKS, _DEPTH = 800, 40

#: What is told of segments and allocations, in the order of what happens at one moment.
_KINDS = (
    Action.SEGMENT_FREE,
    Action.SEGMENT_ALLOC,
    Action.ALLOC,
    Action.FREE_REQUESTED,
    Action.FREE_COMPLETED,
)


def packed(events: int, seed: int = 0) -> Recording:
    """A caching allocator's history: ``events`` entries beside those of segments.

    Lives are short, of a step, or of the whole recording; all have a stack. Each takes the lowest
    free slot of its class of sizes; slots lie in segments that are mapped when their first slot is
    taken and given back, those that are empty all at once, now and then.
    """
    random = np.random.default_rng(seed)
    births = events // 3 + 1
    born = np.sort(random.random(births)) * births
    lengths = random.choice([20.0, births / 200, 10.0 * births], births, p=[0.7, 0.28, 0.02])
    died = born + random.exponential(lengths)
    size = (2 ** random.uniform(9, 26, births)).astype(np.int64)
    address, segment, mapped = slots(born.tolist(), died.tolist(), size)
    given = np.flatnonzero(mapped.closer >= 0)
    stack = random.integers(0, _STACKS, births)

    # Of each kind in turn: the moment, the life that it happens for, and the segment.
    life = np.arange(births)
    moments = [born[mapped.closer[given]], born[mapped.opener], born, died, died]
    lives = [mapped.closer[given], mapped.opener, life, life, life]
    segments = [given, np.arange(len(mapped.begin)), segment, segment, segment]
    rank = np.repeat(np.arange(len(_KINDS)), [len(each) for each in moments])
    moment, of, whose = (np.concatenate(each) for each in (moments, lives, segments))
    inside = np.flatnonzero(moment < births)
    order = inside[np.lexsort((rank[inside], moment[inside]))]
    rank, of, whose = rank[order], of[order], whose[order]
    is_segment = rank < 2
    place = whose % _PLACES
    count = len(order)
    zeros = np.zeros(count, dtype=np.int16)
    live = np.flatnonzero(died >= births)
    live = live[np.argsort(address[live])]
    left = np.flatnonzero(mapped.closer < 0)
    left = left[np.argsort(mapped.begin[left])]
    row_of = np.zeros(len(mapped.begin), dtype=np.int64)
    row_of[left] = np.arange(len(left))
    tables = {
        "events": builder.table(
            "events",
            {
                "device": zeros,
                "time": np.arange(count) * _GAP_NS,
                "action": np.array(_KINDS)[rank],
                "address": np.where(is_segment, mapped.begin[whose], address[of]).astype(np.uint64),
                "size": np.where(is_segment, mapped.size[whose], size[of]),
                "stream": place % 2,
                "pool": place // 2,
                "stack": stack[of],
            },
        ),
        "blocks": builder.table(
            "blocks",
            {
                "device": zeros[: len(live)],
                "segment": row_of[segment[live]],
                "address": address[live],
                "size": (size[live] + 511) // 512 * 512,
                "requested": size[live],
                "state": zeros[: len(live)],
            },
        ),
        "segments": builder.table(
            "segments",
            {
                "device": zeros[: len(left)],
                "address": mapped.begin[left],
                "size": mapped.size[left],
                "pool": left % _PLACES // 2,
                "stream": left % _PLACES % 2,
            },
        ),
        **stack_tables(_STACKS, _DEPTH),
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
