"""Histories of a simulated caching allocator, with its whole state noted after every call."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass, field
from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers.torch_structure import from_structure
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.allocator import MIB, ROUNDING, SMALL_LIMIT, Allocator, Block, OutOfMemory


class Splitting(Allocator):
    """Splits blocks exactly as c10's ``should_split`` does."""

    def _split(self, block: Block, size: int) -> None:
        rest = block.size - size
        fine = block.segment.kind == "small" or self._expandable
        if rest >= ROUNDING if fine else rest > SMALL_LIMIT:
            super()._split(block, size)
            if block.size == size + rest:  # its own rule is coarser
                tail = self._new_block(block.address + size, rest, block.segment, block)
                block.size = size
                free = self._free_list(block.segment)
                free.append((tail.size, tail.address))
                free.sort()


@dataclass
class State:
    """Segments by address: size, pool, and blocks as (offset, size, requested, state)."""

    event: int
    segments: dict[int, tuple[int, tuple[int, int], list[tuple[int, int, int, str]]]]


@dataclass
class Simulated:
    """A recording whose window begins at ``start``, and states after some of its events."""

    recording: Recording
    states: list[State] = field(default_factory=list)


def simulated(seed: int, *, expandable: bool, calls: int = 120, start: float = 0.0) -> Simulated:
    """``calls`` random calls; the recorded window leaves out the share ``start`` of the events."""
    chance = random.Random(seed)
    allocator = Splitting(expandable=expandable, capacity=chance.choice([256 * MIB, 1 << 40]))
    held: list[Block] = []
    pending: list[Block] = []
    states: list[State] = []
    for _ in range(calls):
        what = chance.random()
        if what < 0.5 or not held:
            size = int(2 ** chance.uniform(0, 26))
            with contextlib.suppress(OutOfMemory):
                held.append(allocator.allocate(size, chance.choice([(0, 0), (0, 0), (0, 1)])))
        elif what < 0.8:
            block = held.pop(chance.randrange(len(held)))
            allocator.request_free(block)
            allocator.complete_free(block)
        elif what < 0.9:
            block = held.pop(chance.randrange(len(held)))
            allocator.request_free(block)
            pending.append(block)
        elif what < 0.95 and pending:
            allocator.complete_free(pending.pop(0))
        elif what < 0.97:
            allocator.empty_cache()
        states.append(_state(allocator))
    first = int(len(allocator.history) * start)
    structure = {
        "segments": [_segment(segment, expandable) for segment in _segments(allocator)],
        "device_traces": [
            [{**event, "time_us": place} for place, event in enumerate(allocator.history)][first:]
        ],
    }
    found = derive(from_structure(structure, "simulated.pickle"))
    shifted = [State(state.event - first, state.segments) for state in states]
    return Simulated(found, [state for state in shifted if state.event >= -1])


def _segments(allocator: Allocator) -> list[Any]:
    return [segment for _, segment in sorted(allocator.segments.items()) if segment.size]


def _state(allocator: Allocator) -> State:
    segments = {
        segment.address: (
            segment.size,
            segment.pool,
            [
                (block.address - segment.address, block.size, block.requested, block.state)
                for block in segment.blocks()
            ],
        )
        for segment in _segments(allocator)
    }
    return State(len(allocator.history) - 1, segments)


def _segment(segment: Any, expandable: bool) -> dict[str, Any]:
    return {
        "device": 0,
        "address": segment.address,
        "total_size": segment.size,
        "stream": 0,
        "segment_type": segment.kind,
        "segment_pool_id": segment.pool,
        "is_expandable": expandable,
        "frames": [],
        "blocks": [
            {
                "address": block.address,
                "size": block.size,
                "requested_size": block.requested,
                "state": block.state,
                "frames": [],
            }
            for block in segment.blocks()
        ],
    }
