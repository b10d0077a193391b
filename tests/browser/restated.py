"""The segments of a snapshot after any of its events, as its last state would have them."""

from __future__ import annotations

import math
from typing import Any

from tests.browser.filed import File, Filed
from tests.browser.replaying import Range, total_of

#: Bytes that blocks of the caching allocator are multiples of.
ROUNDING = 512
#: Bytes that are never split off in segments larger than these.
LEFT, SMALL = 1 << 20, 2 << 20


def segments_after(file: File, event: int) -> list[dict[str, Any]]:
    """What is mapped after an event, as ``snapshot["segments"]``, with a ``life`` in every block.

    Expandable ranges that touch are one. What nothing names the pool of is of none, which is the
    last. Blocks that are gone by the end are as large as rounding and what is not split off makes
    them.
    """
    alive = sorted(file.alive(event), key=lambda life: life.address)
    return [
        {
            "segment_pool_id": file.pool_of(held) or (math.inf, math.inf),
            "stream": held.stream,
            "address": held.address,
            "total_size": held.size,
            "blocks": _blocks(file, held, event, alive),
        }
        for held in _joined(file, file.replay.after(event))
    ]


def most_reserved(file: File) -> int:
    """Bytes that are mapped at most."""
    return max(map(total_of, file.replay.states(0, len(file.trace))))


def _joined(file: File, ranges: list[Range]) -> list[Range]:
    """Ranges by address, those of an expandable segment as one where they touch."""
    found: list[Range] = []
    for each in sorted(ranges, key=lambda held: held.address):
        if file.is_expandable and found and found[-1].end == each.address:
            last = found[-1]
            found[-1] = Range(last.address, last.size + each.size, last.stream, last.since)
        else:
            found.append(each)
    return found


def _blocks(file: File, held: Range, event: int, alive: list[Filed]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    at = held.address
    least = 0 if file.is_expandable or held.size <= SMALL else LEFT

    def free(to: int) -> None:
        if blocks and to - at <= least:
            blocks[-1]["size"] += to - at
        elif to > at:
            blocks.append({"size": to - at, "state": "inactive"})

    for life in alive:
        if not held.address <= life.address < held.end:
            continue
        free(life.address)
        size = life.size or -(-life.bytes // ROUNDING) * ROUNDING
        state = "active_pending_free" if file.is_waiting(life, event) else "active_allocated"
        blocks.append({"size": size, "requested_size": life.bytes, "state": state, "life": life})
        at = life.address + size
    free(held.end)
    return blocks
