"""The state and the history of allocators as ``torch.cuda.memory._snapshot()`` returns them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .blocks import Block
from .caching import CachingAllocator


def snapshot(
    allocators: Sequence[CachingAllocator], annotations: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
    """The structure of a snapshot; ``allocators`` are those of devices 0, 1, ….

    ``annotations`` are dictionaries of ``stage`` (START or END), ``name``, ``device`` and
    ``time_us``. As in PyTorch, every allocator's history gets an entry for the snapshot, which is
    in the next one only.
    """
    made = {
        "segments": [
            segment
            for device, allocator in enumerate(allocators)
            for segment in segments(allocator, device)
        ],
        "device_traces": [list(allocator.history.entries) for allocator in allocators],
        "allocator_settings": allocators[0].settings.as_recorded() if allocators else {},
        "external_annotations": list(annotations),
    }
    for allocator in allocators:
        allocator.mark_snapshot()
    return made


def segments(allocator: CachingAllocator, device: int = 0) -> list[dict[str, Any]]:
    """The mapped ranges of a device, by address, with their blocks."""
    heads = [block for block in allocator.blocks() if _first(block)]
    heads.sort(key=lambda block: block.address)
    return [_segment(head, device) for head in heads]


def _first(block: Block) -> bool:
    return block.previous is None or not block.previous.mapped


def _segment(head: Block, device: int) -> dict[str, Any]:
    blocks: list[Block] = []
    block: Block | None = head
    while block is not None and block.mapped:
        blocks.append(block)
        block = block.next
    return {
        "device": device,
        "address": head.address,
        "total_size": sum(block.size for block in blocks),
        "allocated_size": sum(block.size for block in blocks if block.allocated),
        "active_size": sum(block.size for block in blocks if block.active),
        "requested_size": sum(block.requested for block in blocks if block.active),
        "stream": head.stream,
        "segment_type": "small" if head.pool.small else "large",
        "segment_pool_id": head.pool.identity,
        "is_expandable": head.reservation is not None,
        "frames": head.segment_frames or [],
        "blocks": [_block(block) for block in blocks],
    }


def _block(block: Block) -> dict[str, Any]:
    state = "active_pending_free" if block.active else "inactive"
    return {
        "address": block.address,
        "size": block.size,
        "requested_size": block.requested,
        "state": "active_allocated" if block.allocated else state,
        "frames": block.frames or [],
    }
